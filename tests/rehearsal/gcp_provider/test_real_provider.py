"""The calls of the real `pulumi-resource-gcp`, as its source makes them, against the rehearsal's server.

Sources: terraform-provider-google-beta 7 and 8, which pulumi-gcp wraps: google-beta/transport, google-beta/services/container
(`resourceContainerClusterCreate`, the `expand...` functions), .../compute (mmv1), .../resourcemanager and .../serviceusage.
"""

from __future__ import annotations

import inspect
import re
import time
from dataclasses import dataclass
from typing import Any

import pulumi_gcp
import pytest
import requests

from rehearsal.gcp.services import custom_endpoints
from tests.rehearsal.gcp_provider.conftest import PROJECT, Engine
from tests.support.platforms import plan_with, run_platform
from tests.support.recording import Recording, record

pytestmark = pytest.mark.unit
CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
LOCATION = f"projects/{PROJECT}/locations/us-west4"
NETWORK = f"projects/{PROJECT}/global/networks/multislice-cluster-network"
SUBNET = f"projects/{PROJECT}/regions/us-west4/subnetworks/multislice-cluster-subnet"
EMAIL = f"multislice-cluster-nodes@{PROJECT}.iam.gserviceaccount.com"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Client:
    """Speaks from the addresses in the environment, composed as the real provider composes them."""

    google: str

    def sdk(self, verb: str, product: str, path: str, body: Any = None, query: str = "") -> Any:
        """By Google's Go client of an API, which adds the version: `RemoveBasePathVersion` leaves an `http` address as it is."""
        base = re.sub(r"(http[s]://.*)(/[^/]+?/$)", r"\1/", self._base(product))
        return self._call(verb, f"{base}{path}?alt=json&prettyPrint=false{query}", body)

    def raw(self, verb: str, product: str, path: str, body: Any = None) -> Any:
        """By the provider's own `SendRequest`, which appends to the address."""
        return self._call(verb, f"{self._base(product)}{path}?alt=json", body)

    def _base(self, product: str) -> str:
        return custom_endpoints(self.google)[f"GOOGLE_{product}_CUSTOM_ENDPOINT"]

    def _call(self, verb: str, address: str, body: Any) -> Any:
        answer = requests.request(verb, address, json=body, timeout=PATIENCE_S)
        assert answer.status_code == 200, f"{verb} {address}: {answer.text}"
        return answer.json()

    # -- waiting, with each API's own waiter ---------------------------------------------------------------------------

    def container(self, verb: str, path: str, body: Any = None) -> None:
        operation = self.sdk(verb, "CONTAINER", f"v1beta1/{path}", body)
        polled = f"v1beta1/{LOCATION}/operations/{operation['name']}"
        _until(lambda: self.sdk("GET", "CONTAINER", polled)["status"] == "DONE")
        assert "error" not in self.sdk("GET", "CONTAINER", polled)

    def compute(self, verb: str, scope: str, path: str, body: Any = None) -> None:
        """The operation by the Go client, whose paths are below the address: this client has no version of its own."""
        operation = self.raw(verb, "COMPUTE", f"projects/{PROJECT}/{scope}/{path}", body)
        polled = f"projects/{PROJECT}/{scope}/operations/{operation['name']}"
        _until(lambda: self.sdk("GET", "COMPUTE", polled)["status"] == "DONE")
        assert "error" not in self.sdk("GET", "COMPUTE", polled)

    def enable(self, *apis: str) -> None:
        ids = {"serviceIds": [f"{api}.googleapis.com" for api in apis]}
        operation = self.sdk("POST", "SERVICE_USAGE", f"v1/projects/{PROJECT}/services:batchEnable", ids)
        _until(lambda: self.raw("GET", "SERVICE_USAGE", operation["name"]).get("done", False))


def _until(ready: Any) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def client(google: str) -> Client:
    return Client(google)


@pytest.fixture
def network(client: Client) -> Client:
    """With the network of the program."""
    client.enable("compute", "container", "iam")
    body = {
        "autoCreateSubnetworks": False, "name": "multislice-cluster-network", "routingConfig": {"routingMode": "REGIONAL"},
        "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
    }  # fmt: skip
    client.compute("POST", "global", "networks", body)
    subnet = {
        "ipCidrRange": "10.128.0.0/16", "logConfig": {"enable": False}, "name": "multislice-cluster-subnet", "network": NETWORK,
        "privateIpGoogleAccess": True, "region": f"projects/{PROJECT}/global/regions/us-west4",
        "secondaryIpRanges": [
            {"ipCidrRange": "10.64.0.0/16", "rangeName": "pods"}, {"ipCidrRange": "10.32.0.0/20", "rangeName": "services"},
        ],
    }  # fmt: skip
    client.compute("POST", "regions/us-west4", "subnetworks", subnet)
    return client


@pytest.fixture(scope="module")
def program() -> Recording:
    return record(lambda: run_platform(plan_with(project=PROJECT)))


def test_every_endpoint_is_one_of_the_installed_package() -> None:
    known = inspect.signature(pulumi_gcp.Provider._internal_init).parameters
    for variable in custom_endpoints(""):
        product = re.fullmatch(r"GOOGLE_([A-Z0-9_]+)_CUSTOM_ENDPOINT", variable)
        assert product is not None
        assert f"{product[1].lower()}_custom_endpoint" in known


def test_services(client: Client) -> None:
    query = "&fields=services%2Fname%2CnextPageToken&filter=state%3AENABLED&pageSize=200"
    listed = f"v1/projects/{PROJECT}/services"

    def enabled() -> set[str]:
        rows = client.sdk("GET", "SERVICE_USAGE", listed, query=query)["services"]
        return {row["name"].rsplit("/", 1)[-1] for row in rows}

    assert "container.googleapis.com" not in enabled()
    client.enable("container", "compute")
    assert {"container.googleapis.com", "compute.googleapis.com"} <= enabled()
    project = client.sdk("GET", "RESOURCE_MANAGER", f"v1/projects/{PROJECT}")
    assert (project["projectId"], project["lifecycleState"]) == (PROJECT, "ACTIVE")


def test_an_account_and_its_roles(client: Client) -> None:
    client.enable("iam")
    body = {"accountId": "multislice-cluster-nodes", "serviceAccount": {"displayName": "Nodes of multislice-cluster"}}
    made = client.sdk("POST", "IAM", f"v1/projects/{PROJECT}/serviceAccounts", body)
    assert made["name"] == f"projects/{PROJECT}/serviceAccounts/{EMAIL}"
    assert client.sdk("GET", "IAM", f"v1/{made['name']}") == made
    asked = {"options": {"requestedPolicyVersion": 3}}
    policy = client.sdk("POST", "RESOURCE_MANAGER", f"v1/projects/{PROJECT}:getIamPolicy", asked)
    policy["bindings"] = [{"members": [f"serviceAccount:{EMAIL}"], "role": "roles/logging.logWriter"}]
    written = {"policy": {**policy, "version": 3}, "updateMask": "bindings,etag,auditConfigs"}
    client.sdk("POST", "RESOURCE_MANAGER", f"v1/projects/{PROJECT}:setIamPolicy", written)
    again = client.sdk("POST", "RESOURCE_MANAGER", f"v1/projects/{PROJECT}:getIamPolicy", asked)
    assert again["bindings"] == policy["bindings"]
    on_account = "v1/" + made["name"] + ":getIamPolicy"
    assert client.sdk("POST", "IAM", on_account, query="&options.requestedPolicyVersion=3")["etag"]


def test_networks_are_asked_for_in_beta_and_read_back(network: Client) -> None:
    region = f"projects/{PROJECT}/regions/us-west4"
    router = {"name": "multislice-cluster-router", "network": NETWORK, "region": region}
    network.compute("POST", "regions/us-west4", "routers", router)
    nat = {
        "name": "multislice-cluster-nat", "natIpAllocateOption": "AUTO_ONLY", "logConfig": None, "minPortsPerVm": None,
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES", "autoNetworkTier": None, "type": "PUBLIC",
    }  # fmt: skip
    network.compute("PATCH", "regions/us-west4", "routers/multislice-cluster-router", {"nats": [nat]})
    firewall = {
        "allowed": [{"IPProtocol": "tcp", "ports": ["9443", "8082"]}], "description": "webhooks", "direction": "INGRESS",
        "disabled": False, "logConfig": {"enable": False}, "name": "webhooks", "network": NETWORK, "priority": 1000,
        "sourceRanges": ["172.16.0.0/28"], "targetTags": ["multislice-cluster-node"],
    }  # fmt: skip
    network.compute("POST", "global", "firewalls", firewall)
    read = network.raw("GET", "COMPUTE", f"projects/{PROJECT}/global/firewalls/webhooks")
    assert {key: read[key] for key in firewall if key != "network"} == {
        k: v for k, v in firewall.items() if k != "network"
    }
    found = network.raw("GET", "COMPUTE", f"{region}/routers/multislice-cluster-router")["nats"][0]
    assert found["sourceSubnetworkIpRangesToNat"] == "ALL_SUBNETWORKS_ALL_IP_RANGES"
    subnet = network.raw("GET", "COMPUTE", f"{region}/subnetworks/multislice-cluster-subnet")
    assert subnet["logConfig"] == {"enable": False} and subnet["network"].endswith(NETWORK)


def cluster_body(stated: dict[str, Any]) -> dict[str, Any]:
    """`resourceContainerClusterCreate`, for what the program states: most of it is not the program's."""
    return {
        "name": "multislice-cluster",
        "initialClusterVersion": stated["minMasterVersion"],
        "initialNodeCount": 1,
        # `expandClusterAddonsConfig`: the add-on that is stated, and its `enabled` also when it is false (ForceSendFields).
        "addonsConfig": {"rayOperatorConfig": {"enabled": False}},
        "maintenancePolicy": {"window": {}},
        "controlPlaneEndpointsConfig": {
            # Of three fields only the last one is sent when it is false: each overwrites ForceSendFields.
            "dnsEndpointConfig": {"enableK8sCertsViaDns": False},
            "ipEndpointsConfig": {
                "enabled": True, "enablePublicEndpoint": True, "globalAccess": False, "privateEndpointSubnetwork": "",
                "authorizedNetworksConfig": {},
            },
        },
        "legacyAbac": {"enabled": False},
        "networkPolicy": {},
        "autoscaling": {"enableNodeAutoprovisioning": False},
        "binaryAuthorization": {"enabled": False},
        "autopilot": {"enabled": False},
        "releaseChannel": {"channel": "REGULAR"},
        "networkConfig": {"defaultEnablePrivateNodes": True},
        "notificationConfig": {"pubsub": {}},
        "resourceLabels": {**stated["resourceLabels"], "goog-pulumi-provisioned": "true"},
        "shieldedNodes": {"enabled": True},
        "locations": ["us-west4-a"],
        "network": NETWORK,
        "subnetwork": SUBNET,
        "ipAllocationPolicy": {
            "useIpAliases": True, "clusterSecondaryRangeName": "pods", "servicesSecondaryRangeName": "services", "stackType": "IPV4",
        },
        "nodeConfig": {"oauthScopes": SCOPES, "serviceAccount": EMAIL},
        "nodePoolDefaults": {"nodeConfigDefaults": {"gcfsConfig": {"enabled": True}}},
        "privateClusterConfig": {"masterIpv4CidrBlock": "172.16.0.0/28", "enablePrivateNodes": True},
        "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
    }  # fmt: skip


def pool_body(name: str) -> dict[str, Any]:
    """`expandNodePool`, for a slice of the program."""
    return {
        "name": name,
        "config": {
            "gcfsConfig": {"enabled": True}, "machineType": "ct5lp-hightpu-4t", "oauthScopes": SCOPES, "serviceAccount": EMAIL,
            "tags": ["multislice-cluster-node"], "workloadMetadataConfig": {"mode": "GKE_METADATA"},
        },
        "initialNodeCount": 2,
        "locations": ["us-west4-a"],
        "management": {"autoRepair": True, "autoUpgrade": True},
        "networkConfig": {},
        "placementPolicy": {"tpuTopology": "2x4", "type": "COMPACT"},
        "upgradeSettings": {"maxSurge": 1, "strategy": "SURGE"},
    }  # fmt: skip


def stated_cluster(program: Recording) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the program says of its cluster, with the network's ids, and what it ignores."""
    resource = program.of_type(CLUSTER)[0]
    return {**resource.inputs, "network": NETWORK, "subnetwork": SUBNET}, tuple(resource.ignore_changes)


def test_a_cluster_and_its_slices_read_back_with_no_difference(
    network: Client, engine: Engine, program: Recording
) -> None:
    """The next preview of a real provider: a default that is not read back would be a replacement."""
    stated, ignored = stated_cluster(program)
    network.container("POST", f"{LOCATION}/clusters", {"cluster": cluster_body(stated), "parent": LOCATION})
    identity = f"{LOCATION}/clusters/multislice-cluster"
    network.container("DELETE", f"{identity}/nodePools/default-pool")
    inputs, failures = engine.check(CLUSTER, "cluster", stated)
    assert failures == []
    _, state, _ = engine.read(CLUSTER, identity, inputs, inputs)
    assert list(engine.diff(CLUSTER, identity, state, inputs, ignored).diffs) == []
    for pool in (entry.inputs for entry in program.of_type(POOL) if entry.inputs["name"] != "default-pool"):
        network.container("POST", f"{identity}/nodePools", {"nodePool": pool_body(pool["name"]), "parent": identity})
        inputs, failures = engine.check(POOL, pool["name"], pool)
        assert failures == []
        path = f"{identity}/nodePools/{pool['name']}"
        _, state, _ = engine.read(POOL, path, inputs, inputs)
        assert state["nodeCount"] == 2
        assert list(engine.diff(POOL, path, state, inputs).diffs) == []


def test_what_the_real_provider_takes_for_granted_is_there(network: Client, program: Recording) -> None:
    """Its read follows some of these without asking whether they are there."""
    network.container("POST", f"{LOCATION}/clusters", {"cluster": cluster_body(stated_cluster(program)[0])})
    cluster = network.sdk("GET", "CONTAINER", f"v1beta1/{LOCATION}/clusters/multislice-cluster")
    granted = (
        "currentMasterVersion", "endpoint", "ipAllocationPolicy", "legacyAbac", "location", "locations", "masterAuth", "networkConfig",
        "releaseChannel", "selfLink", "shieldedNodes", "status",
    )  # fmt: skip
    assert [name for name in granted if name not in cluster] == []
    assert "clusterCaCertificate" in cluster["masterAuth"]
    assert cluster["networkConfig"]["network"] == NETWORK and cluster["networkConfig"]["subnetwork"] == SUBNET
    (pool,) = network.sdk("GET", "CONTAINER", f"v1beta1/{LOCATION}/clusters/multislice-cluster/nodePools")["nodePools"]
    granted = (
        "config",
        "instanceGroupUrls",
        "locations",
        "management",
        "networkConfig",
        "selfLink",
        "status",
        "version",
    )
    assert [name for name in granted if name not in pool] == []
    group = re.search(r"projects/[^/]+/zones/[^/]+/instanceGroupManagers/[^/]+", pool["instanceGroupUrls"][0])
    assert group is not None and network.sdk("GET", "COMPUTE", group[0])["targetSize"] == 1


def test_the_rehearsal_s_provider_asks_for_the_same(network: Client, engine: Engine, program: Recording) -> None:
    stated, _ = stated_cluster(program)
    engine.create(CLUSTER, "cluster", stated)
    sent = engine.audit("clusters.create")[-1]["body"]["cluster"]
    assert sent == cluster_body(stated)
    (pool,) = [entry.inputs for entry in program.of_type(POOL) if entry.inputs["name"] == "nodepool1"]
    engine.create(POOL, "nodepool1", pool)
    assert engine.audit("nodePools.create")[-1]["body"]["nodePool"] == pool_body("nodepool1")
