"""Autopilot clusters by REST: what they read back, and what of them is not the user's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.gcp.conftest import PROJECT, Gcp

WHERE = f"/v1beta1/projects/{PROJECT}/locations/us-west4"
CLUSTERS = f"{WHERE}/clusters"
POOLS = f"{CLUSTERS}/auto/nodePools"
HIDDEN = "Autopilot node pools cannot be accessed or modified."

pytestmark = pytest.mark.unit


def body(**fields: Any) -> dict[str, Any]:
    return {"cluster": {"name": "auto", "autopilot": {"enabled": True}, **fields}}


@pytest.fixture
def auto(gcp: Gcp) -> Gcp:
    """A server with an Autopilot cluster whose nodes have an account of their own."""
    account = {"serviceAccount": "nodes@tests-project.iam.gserviceaccount.com", "diskSizeGb": 77}
    stated = body(
        autoscaling={"autoprovisioningNodePoolDefaults": account}, nodeConfig={"serviceAccount": "ignored@x.y"}
    )
    gcp.run("POST", CLUSTERS, stated)
    return gcp


def test_what_autopilot_sets_is_read_back(auto: Gcp) -> None:
    found = auto.ok("GET", f"{CLUSTERS}/auto")
    assert found["status"] == "RUNNING"
    assert found["autopilot"] == {"enabled": True}
    assert found["releaseChannel"] == {"channel": "REGULAR"}
    assert found["workloadIdentityConfig"] == {"workloadPool": f"{PROJECT}.svc.id.goog"}
    assert found["verticalPodAutoscaling"] == found["shieldedNodes"] == {"enabled": True}
    assert found["networkConfig"]["datapathProvider"] == "ADVANCED_DATAPATH"
    assert found["networkConfig"]["dnsConfig"]["clusterDns"] == "CLOUD_DNS"
    assert found["nodePoolDefaults"]["nodeConfigDefaults"]["gcfsConfig"] == {"enabled": True}
    assert found["ipAllocationPolicy"]["useIpAliases"]
    assert "nodePools" not in found and "nodeConfig" not in found


def test_nodes_get_the_account_of_auto_provisioning_and_no_other_wish_counts(auto: Gcp) -> None:
    scaling = auto.ok("GET", f"{CLUSTERS}/auto")["autoscaling"]
    assert (scaling["enableNodeAutoprovisioning"], scaling["autoscalingProfile"]) == (True, "OPTIMIZE_UTILIZATION")
    nodes = scaling["autoprovisioningNodePoolDefaults"]
    assert nodes["serviceAccount"] == "nodes@tests-project.iam.gserviceaccount.com"
    assert "diskSizeGb" not in nodes


def test_counts_are_ignored_and_gcloud_s_one_pool_names_the_account(gcp: Gcp) -> None:
    pool = {"name": "default-pool", "initialNodeCount": 1, "config": {"serviceAccount": "x@y.z", "oauthScopes": ["s"]}}
    gcp.run("POST", CLUSTERS, body(nodePools=[pool], initialNodeCount=3))
    found = gcp.ok("GET", f"{CLUSTERS}/auto")
    nodes = found["autoscaling"]["autoprovisioningNodePoolDefaults"]
    assert (nodes["serviceAccount"], nodes["oauthScopes"]) == ("x@y.z", ["s"])
    assert "nodePools" not in found


def test_a_stated_channel_and_private_nodes_stand(gcp: Gcp) -> None:
    private = {"enablePrivateNodes": True, "masterIpv4CidrBlock": "172.16.0.0/28"}
    gcp.run("POST", CLUSTERS, body(releaseChannel={"channel": "RAPID"}, privateClusterConfig=private))
    found = gcp.ok("GET", f"{CLUSTERS}/auto")
    assert found["releaseChannel"] == {"channel": "RAPID"}
    assert found["networkConfig"]["defaultEnablePrivateNodes"]


@pytest.mark.parametrize(
    ("where", "fields", "text"),
    [
        (f"{WHERE}-a/clusters", {}, "Autopilot clusters must be regional clusters."),
        (
            CLUSTERS,
            {"nodePools": [{"name": "p", "initialNodeCount": 1}]},
            "do not accept node pools",
        ),
        (CLUSTERS, {"releaseChannel": {"channel": "UNSPECIFIED"}}, "must be enrolled in a release channel"),
        (CLUSTERS, {"initialClusterVersion": "1.29.1"}, 'Master version "1.29.1" is unsupported.'),
    ],
)
def test_refused_clusters(gcp: Gcp, where: str, fields: dict[str, Any], text: str) -> None:
    assert text in gcp.refused(400, "POST", where, body(**fields))
    assert gcp.ok("GET", where) == {}


@pytest.mark.parametrize(
    ("verb", "path", "sent"),
    [
        ("GET", POOLS, None),
        ("GET", f"{POOLS}/default-pool", None),
        ("POST", POOLS, {"nodePool": {"name": "mine", "initialNodeCount": 1}}),
        ("PUT", f"{POOLS}/default-pool", {"imageType": "COS_CONTAINERD"}),
        ("POST", f"{POOLS}/default-pool:setSize", {"nodeCount": 3}),
        ("POST", f"{POOLS}/default-pool:setAutoscaling", {"autoscaling": {"enabled": True, "maxNodeCount": 3}}),
        ("POST", f"{POOLS}/default-pool:setManagement", {"management": {"autoUpgrade": True}}),
        ("DELETE", f"{POOLS}/default-pool", None),
        ("PUT", f"{CLUSTERS}/auto", {"update": {"desiredNodePoolId": "-", "desiredImageType": "COS_CONTAINERD"}}),
    ],
)
def test_pools_are_not_the_users(auto: Gcp, verb: str, path: str, sent: Any) -> None:
    assert auto.refused(400, verb, path, sent) == HIDDEN


def test_an_autopilot_cluster_is_changed_and_deleted_as_any_other(auto: Gcp) -> None:
    auto.run("PUT", f"{CLUSTERS}/auto", {"update": {"desiredReleaseChannel": {"channel": "STABLE"}}})
    assert auto.ok("GET", f"{CLUSTERS}/auto")["releaseChannel"] == {"channel": "STABLE"}
    auto.run("DELETE", f"{CLUSTERS}/auto")
    assert auto.ok("GET", CLUSTERS) == {}
