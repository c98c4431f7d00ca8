"""Clusters: what is read back, what is refused, and what their operations do."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from rehearsal.gcp.container import clusters
from rehearsal.gcp.core.state import CloudState, ServerSettings
from rehearsal.gcp.core.store import Store
from tests.rehearsal.gcp.conftest import PROJECT, Gcp

WHERE = f"/v1beta1/projects/{PROJECT}/locations/us-west4"
CLUSTERS = f"{WHERE}/clusters"

pytestmark = pytest.mark.unit


def cluster(**fields: Any) -> dict[str, Any]:
    return {"cluster": {"name": "c", "initialNodeCount": 1, **fields}}


def test_a_new_cluster_reads_back_what_google_fills_in(gcp: Gcp) -> None:
    gcp.run("POST", CLUSTERS, cluster(resourceLabels={"team": "tpu"}, locations=["us-west4-a"]))
    found = gcp.ok("GET", f"{CLUSTERS}/c")
    assert found["status"] == "RUNNING"
    assert (found["location"], found["locations"]) == ("us-west4", ["us-west4-a"])
    assert (found["network"], found["subnetwork"]) == ("default", "default")
    assert found["selfLink"] == f"https://container.googleapis.com{CLUSTERS}/c"
    assert found["currentMasterVersion"] == found["currentNodeVersion"] == found["initialClusterVersion"]
    assert found["resourceLabels"] == {"team": "tpu"}
    assert found["legacyAbac"] == {}
    assert not [key for key in found if key.startswith("_")]
    (pool,) = found["nodePools"]
    assert (pool["name"], pool["status"], pool["initialNodeCount"]) == ("default-pool", "RUNNING", 1)
    assert pool["config"]["diskType"] == "pd-balanced"


def test_an_unstated_flag_of_a_stated_message_is_false(gcp: Gcp) -> None:
    """Google's Go client leaves false out, so `managedPrometheusConfig: {}` means that it is off."""
    gcp.run("POST", CLUSTERS, cluster(monitoringConfig={"managedPrometheusConfig": {}}))
    found = gcp.ok("GET", f"{CLUSTERS}/c")["monitoringConfig"]
    assert not found["managedPrometheusConfig"].get("enabled", False)
    assert "SYSTEM_COMPONENTS" in found["componentConfig"]["enableComponents"]


def test_what_only_google_sets_is_ignored_in_a_request(gcp: Gcp) -> None:
    gcp.run("POST", CLUSTERS, cluster(status="ERROR", endpoint="9.9.9.9", current_master_version="0"))
    found = gcp.ok("GET", f"{CLUSTERS}/c")
    assert found["status"] == "RUNNING"
    assert found["endpoint"] != "9.9.9.9"


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"name": "Bad_Name"}, 'Invalid value for field "cluster.name"'),
        ({"initialClusterVersion": "1.12"}, 'Master version "1.12" is unsupported.'),
        ({"initialNodeCount": 0}, "Cluster.initial_node_count must be greater than zero."),
        ({"locations": ["us-east5-a"]}, 'zone "us-east5-a" is not in region "us-west4"'),
        ({"network": f"projects/{PROJECT}/global/networks/none"}, "networks/none' was not found"),
    ],
)
def test_refused_clusters(gcp: Gcp, fields: dict[str, Any], text: str) -> None:
    assert text in gcp.refused(400, "POST", CLUSTERS, cluster(**fields))
    assert gcp.ok("GET", CLUSTERS) == {}


@pytest.mark.parametrize("version", ["", "-", "latest", "1.34", "1.35"])
def test_versions_that_users_state_are_taken(gcp: Gcp, version: str) -> None:
    gcp.run("POST", CLUSTERS, cluster(initialClusterVersion=version))
    offered = gcp.ok("GET", f"{WHERE}/serverConfig")["defaultClusterVersion"]
    assert gcp.ok("GET", f"{CLUSTERS}/c")["currentMasterVersion"] == offered


def test_a_cluster_exists_once_and_then_not(gcp: Gcp) -> None:
    gcp.run("POST", CLUSTERS, cluster())
    name = f"projects/{PROJECT}/locations/us-west4/clusters/c"
    assert gcp.refused(409, "POST", CLUSTERS, cluster()) == f"Already exists: {name}."
    gcp.run("DELETE", f"{CLUSTERS}/c")
    assert gcp.refused(404, "GET", f"{CLUSTERS}/c") == f"Not found: {name}."
    assert gcp.ok("GET", "/_rehearsal/leftovers")["pools"] == []


def test_a_busy_cluster_refuses_in_the_words_that_clients_wait_for(gcp: Gcp) -> None:
    operation = gcp.ok("POST", CLUSTERS, cluster())
    status, answer = gcp.call("DELETE", f"{CLUSTERS}/c")
    assert (status, answer["error"]["status"]) == (400, "FAILED_PRECONDITION")
    text = f"Operation {operation['name']} is currently creating cluster c. Please wait and try again once it is done."
    assert answer["error"]["message"] == text
    gcp.done(operation)
    update = gcp.ok("PUT", f"{CLUSTERS}/c", {"update": {"desiredReleaseChannel": {"channel": "RAPID"}}})
    assert gcp.refused(400, "DELETE", f"{CLUSTERS}/c") == f"Cluster is running incompatible operation {update['name']}."
    gcp.done(update)
    assert gcp.ok("GET", f"{CLUSTERS}/c")["releaseChannel"] == {"channel": "RAPID"}


def test_updates_land_where_they_are_read(gcp: Gcp) -> None:
    gcp.run("POST", CLUSTERS, cluster())
    before = gcp.ok("GET", f"{CLUSTERS}/c")
    for field, value in [
        ("desiredGcfsConfig", {"enabled": True}),
        ("desiredDefaultEnablePrivateNodes", True),
        ("desiredAddonsConfig", {"rayOperatorConfig": {"enabled": True}}),
        ("desiredMasterAuthorizedNetworksConfig", {"enabled": True, "cidrBlocks": [{"cidrBlock": "10.0.0.0/8"}]}),
    ]:
        gcp.run("PUT", f"{CLUSTERS}/c", {"update": {field: value}})
    gcp.run("POST", f"{CLUSTERS}/c:setResourceLabels", {"resourceLabels": {"a": "b"}, "labelFingerprint": "x"})
    found = gcp.ok("GET", f"{CLUSTERS}/c")
    assert found["nodePoolDefaults"]["nodeConfigDefaults"]["gcfsConfig"] == {"enabled": True}
    assert found["nodePoolDefaults"]["nodeConfigDefaults"]["loggingConfig"] == {"variantConfig": {"variant": "DEFAULT"}}
    assert found["privateClusterConfig"]["enablePrivateNodes"] is True
    assert found["networkConfig"]["network"] == before["networkConfig"]["network"]
    assert found["addonsConfig"]["rayOperatorConfig"] == {"enabled": True}
    assert found["addonsConfig"]["dnsCacheConfig"] == {"enabled": True}
    endpoints = found["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]
    assert endpoints["authorizedNetworksConfig"] == found["masterAuthorizedNetworksConfig"]
    assert found["resourceLabels"] == {"a": "b"}
    gcp.run("PUT", f"{CLUSTERS}/c", {"update": {"desiredDefaultEnablePrivateNodes": False}})
    assert "enablePrivateNodes" not in gcp.ok("GET", f"{CLUSTERS}/c")["privateClusterConfig"]


def test_the_api_must_be_enabled(bare: Gcp) -> None:
    status, answer = bare.call("POST", CLUSTERS, cluster())
    assert (status, answer["error"]["status"]) == (403, "PERMISSION_DENIED")
    assert answer["error"]["details"][0]["reason"] == "SERVICE_DISABLED"


def test_a_project_may_be_named_by_its_number(gcp: Gcp) -> None:
    digits = gcp.ok("GET", f"/v1/projects/{PROJECT}")["projectNumber"]
    by_number = CLUSTERS.replace(PROJECT, digits)
    gcp.run("POST", by_number, cluster())
    assert gcp.ok("GET", f"{by_number}/c") == gcp.ok("GET", f"{CLUSTERS}/c")
    assert gcp.ok("GET", f"/compute/v1/projects/{digits}/zones/us-west4-a")["selfLink"].endswith(
        f"{PROJECT}/zones/us-west4-a"
    )
    account = gcp.ok("POST", f"/v1/projects/{digits}/serviceAccounts", {"accountId": "by-number"})
    assert gcp.ok("GET", f"/v1/projects/{digits}/serviceAccounts/{account['email']}")["projectId"] == PROJECT


def test_an_api_that_is_off_is_off_for_a_number_too(bare: Gcp) -> None:
    digits = bare.ok("GET", f"/v1/projects/{PROJECT}")["projectNumber"]
    for path in (
        CLUSTERS.replace(PROJECT, digits),
        f"/compute/v1/projects/{digits}/zones",
        f"/v1/projects/{digits}/serviceAccounts",
    ):
        assert f"has not been used in project {digits} before" in bare.refused(403, "GET", path)


@pytest.mark.parametrize("name", ["123456789012", "Bad_Name"])
def test_a_project_that_is_not_there_is_refused(gcp: Gcp, name: str) -> None:
    words = f"Project lookup error: permission denied on resource 'projects/{name}' (or it may not exist)."
    assert gcp.refused(403, "GET", CLUSTERS.replace(PROJECT, name)) == words
    assert gcp.refused(403, "POST", CLUSTERS.replace(PROJECT, name), cluster()) == words


def test_legacy_authorization_is_switched_by_either_path(gcp: Gcp) -> None:
    gcp.run("POST", CLUSTERS, cluster())
    gcp.run("POST", f"{CLUSTERS}/c:setLegacyAbac", {"enabled": True})
    assert gcp.ok("GET", f"{CLUSTERS}/c")["legacyAbac"] == {"enabled": True}
    zonal = f"/v1/projects/{PROJECT}/zones/us-west4"
    gcp.run("POST", f"{zonal}/clusters/c/legacyAbac", {"enabled": False})
    assert gcp.ok("GET", f"{CLUSTERS}/c")["legacyAbac"] == {}
    limits = {"enabled": True, "minNodeCount": 1, "maxNodeCount": 2}
    gcp.run("POST", f"{zonal}/clusters/c/nodePools/default-pool/autoscaling", {"autoscaling": limits})
    assert gcp.ok("GET", f"{CLUSTERS}/c/nodePools/default-pool")["autoscaling"] == limits


def test_older_paths_by_zone_reach_the_same_clusters(gcp: Gcp) -> None:
    zonal = f"/v1/projects/{PROJECT}/zones/us-west4-a/clusters"
    gcp.run("POST", zonal, cluster())
    assert gcp.ok("GET", f"{zonal}/c/nodePools")["nodePools"][0]["locations"] == ["us-west4-a"]
    listed = gcp.ok("GET", f"/v1/projects/{PROJECT}/locations/-/clusters")["clusters"]
    assert [c["name"] for c in listed] == ["c"]


class NoControlPlane:
    """A backend on which no cluster comes up."""

    def start(self, name: str) -> Any:
        raise RuntimeError(f"{name} has no control plane")


def test_a_cluster_that_does_not_come_up_leaves_nothing_under_way(tmp_path: Path) -> None:
    world = CloudState(Store(tmp_path), ServerSettings(backend=cast(Any, NoControlPlane())))
    name = f"projects/{PROJECT}/locations/us-west4/clusters/c"
    pool = f"{name}/nodePools/default-pool"
    world.store.put("clusters", name, {"_name": name, "name": "c", "status": "PROVISIONING"})
    world.store.put("pools", pool, {"_name": pool, "name": "default-pool", "status": "PROVISIONING"})
    with pytest.raises(RuntimeError, match="no control plane"):
        clusters.create_task(world, {"name": name, "method": "container.projects.locations.clusters.create"})
    left = [world.store.get("clusters", name), world.store.get("pools", pool)]
    assert [thing["status"] for thing in left if thing is not None] == ["ERROR", "ERROR"]
