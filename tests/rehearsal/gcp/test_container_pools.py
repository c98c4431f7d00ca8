"""Node pools beyond the tutorials' own: flex-start, placement, changes, and what the real Google provider compares on read-back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.gcp.conftest import CLUSTER, PROJECT, Gcp

pytestmark = pytest.mark.unit

POOLS = f"{CLUSTER}/nodePools"


def make(server: Gcp, location: str, pool: dict[str, Any]) -> str:
    """Makes a cluster at a location and a pool in it; returns the pool's path."""
    base = f"/v1beta1/projects/{PROJECT}/locations/{location}/clusters"
    server.run("POST", base, {"cluster": {"name": "demo", "initialNodeCount": 1}})
    server.run("POST", f"{base}/demo/nodePools", {"nodePool": pool})
    return f"{base}/demo/nodePools/{pool['name']}"


def test_a_queued_pool_reads_back_as_the_real_provider_states_it(gcp: Gcp) -> None:
    """The provider leaves false and zero out: autoRepair must not come back as true, nor a count of nodes appear."""
    path = make(
        gcp,
        "us-east5-b",
        {
            "name": "dws",
            "queuedProvisioning": {"enabled": True},
            "management": {"autoUpgrade": True},
            "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
            "autoscaling": {"enabled": True, "maxNodeCount": 4, "locationPolicy": "ANY"},
            "config": {
                "machineType": "ct6e-standard-4t",
                "flexStart": True,
                "reservationAffinity": {"consumeReservationType": "NO_RESERVATION"},
            },
        },
    )
    found = gcp.ok("GET", path)
    assert not found["management"].get("autoRepair", False)
    assert found["autoscaling"] == {"enabled": True, "maxNodeCount": 4, "locationPolicy": "ANY"}
    assert found.get("initialNodeCount", 0) == 0
    assert found["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "4x4"}


def flex(**scaling: Any) -> dict[str, Any]:
    return {
        "name": "flex", "config": {"machineType": "ct6e-standard-4t", "flexStart": True}, "placementPolicy": {"tpuTopology": "4x4"},
        "autoscaling": {"enabled": True, **scaling},
    }  # fmt: skip


def test_total_limits_alone_leave_a_slice_no_size(gcp: Gcp) -> None:
    base = f"/v1beta1/projects/{PROJECT}/locations/us-east5-b/clusters"
    gcp.run("POST", base, {"cluster": {"name": "demo", "initialNodeCount": 1}})
    message = gcp.refused(400, "POST", f"{base}/demo/nodePools", {"nodePool": flex(totalMaxNodeCount=4)})
    assert message == 'Maximum node count 0 is not a valid size of TPU pod slice with topology "4x4"'
    long = {**flex(maxNodeCount=4), "config": {**flex()["config"], "maxRunDuration": "604801s"}}
    assert "Must be at most 604800s" in gcp.refused(400, "POST", f"{base}/demo/nodePools", {"nodePool": long})
    gcp.run("POST", f"{base}/demo/nodePools", {"nodePool": flex(maxNodeCount=4)})


SEVEN = {"name": "seven", "initialNodeCount": 2, "config": {"machineType": "tpu7x-standard-4t"}}


def test_a_7x_slice_stands_on_a_workload_policy(gcp: Gcp) -> None:
    policies = f"/compute/v1/projects/{PROJECT}/regions/us-central1/resourcePolicies"
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}
    gcp.run("POST", policies, {"name": "slice", "workloadPolicy": workload})
    found = gcp.ok("GET", make(gcp, "us-central1-c", {**SEVEN, "placementPolicy": {"policyName": "slice"}}))
    assert found["placementPolicy"] == {"policyName": "slice", "tpuTopology": "2x2x2"}
    pools = f"/v1/projects/{PROJECT}/locations/us-central1-c/clusters/demo/nodePools"
    absent = {**SEVEN, "name": "absent", "placementPolicy": {"policyName": "absent"}}
    assert "resourcePolicies/absent' was not found" in gcp.refused(400, "POST", pools, {"nodePool": absent})
    compact = {**SEVEN, "name": "compact", "placementPolicy": {"tpuTopology": "2x2x2"}}
    operation = gcp.done(gcp.ok("POST", pools, {"nodePool": compact}))
    assert operation["error"]["message"].endswith("Use workload policy instead.")
    assert gcp.ok("GET", f"{pools}/compact")["status"] == "ERROR"


def test_compact_placement_takes_one_zone(cluster: Gcp) -> None:
    spread = {"name": "p", "initialNodeCount": 1, "placementPolicy": {"type": "COMPACT"}}
    assert "exactly one zone" in cluster.refused(400, "POST", POOLS, {"nodePool": spread})


def test_a_pool_is_resized_and_changed(cluster: Gcp) -> None:
    cluster.run("POST", POOLS, {"nodePool": {"name": "cpu", "initialNodeCount": 1, "locations": ["us-west4-a"]}})
    nodes = cluster.ok("GET", CLUSTER)["currentNodeCount"]
    cluster.run("POST", f"{POOLS}/cpu:setSize", {"nodeCount": 3})
    assert cluster.ok("GET", CLUSTER)["currentNodeCount"] == nodes + 2
    scaling = {"enabled": True, "minNodeCount": 1, "maxNodeCount": 5}
    cluster.run("POST", f"{POOLS}/cpu:setAutoscaling", {"autoscaling": scaling})
    taints = [{"key": "a", "value": "b", "effect": "NO_SCHEDULE"}]
    cluster.run("PUT", f"{POOLS}/cpu", {"taints": {"taints": taints}, "machineType": "e2-standard-8"})
    found = cluster.ok("GET", f"{POOLS}/cpu")
    assert (found["autoscaling"], found["config"]["taints"]) == (scaling, taints)
    assert found["config"]["machineType"] == "e2-standard-8"
    message = cluster.refused(400, "POST", f"{POOLS}/cpu:setManagement", {"management": {"autoRepair": True}})
    assert message == "Auto_upgrade must be true when release_channel REGULAR is set."


def test_a_resize_without_machines_keeps_the_pool_as_it_was(cluster: Gcp) -> None:
    nodes = cluster.ok("GET", CLUSTER)["currentNodeCount"]
    cluster.ok("PUT", "/_rehearsal/faults", [{"match": {"name": "default-pool"}, "fault": "quota"}])
    operation = cluster.done(cluster.ok("POST", f"{POOLS}/default-pool:setSize", {"nodeCount": 2}))
    assert operation["nodepoolConditions"][0]["code"] == "GCE_QUOTA_EXCEEDED"
    assert cluster.ok("GET", f"{POOLS}/default-pool")["status"] == "RUNNING_WITH_ERROR"
    assert cluster.ok("GET", CLUSTER)["currentNodeCount"] == nodes


def test_faults_outlive_the_server_and_are_checked(cluster: Gcp) -> None:
    fault = {"match": {"method": "container.projects.locations.clusters.get"}, "fault": "unavailable", "times": 2}
    cluster.ok("PUT", "/_rehearsal/faults", [fault])
    cluster.refused(503, "GET", CLUSTER)
    cluster.kill()
    cluster.start()
    assert cluster.ok("GET", "/_rehearsal/faults") == [{**fault, "times": 1}]
    assert "each fault names one of" in cluster.refused(400, "PUT", "/_rehearsal/faults", [{"fault": "fire"}])
    wrong = [{**fault, "match": {"method": "container.clusters.fetch"}}]
    assert "has the method" in cluster.refused(400, "PUT", "/_rehearsal/faults", wrong)
