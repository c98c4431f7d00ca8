"""Clusters and node pools: what GKE does, refuses and reads back."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tests.rehearsal.gcp.conftest import CLUSTER, LOCATION, PROJECT, Gcp

pytestmark = pytest.mark.unit

SLICE: dict[str, Any] = {
    "name": "nodepool1",
    "config": {"machineType": "ct5lp-hightpu-4t"},
    "initialNodeCount": 2,
    "locations": ["us-west4-a"],
    "placementPolicy": {"tpuTopology": "2x4"},
}


OF_TPU = {"key": "google.com/tpu", "value": "present", "effect": "NO_SCHEDULE"}


def changed(**fields: Any) -> dict[str, Any]:
    """The slice pool with fields changed; `config__x` goes into its node config, None takes a field away."""
    pool = copy.deepcopy(SLICE)
    for key, value in fields.items():
        target, name = (pool["config"], key[8:]) if key.startswith("config__") else (pool, key)
        if value is None:
            target.pop(name, None)
        else:
            target[name] = value
    return pool


def test_a_slice_pool_is_created_and_reads_back_with_gke_s_defaults(cluster: Gcp) -> None:
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    pool = cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")
    assert pool["status"] == "RUNNING"
    assert pool["initialNodeCount"] == 2
    assert pool["placementPolicy"] == {"tpuTopology": "2x4", "type": "COMPACT"}
    assert pool["config"]["serviceAccount"] == "default"
    assert pool["management"] == {"autoUpgrade": True, "autoRepair": True}
    assert pool["version"] == cluster.ok("GET", CLUSTER)["currentMasterVersion"]


def test_without_the_api_nothing_is_created(bare: Gcp) -> None:
    message = bare.refused(403, "POST", f"{LOCATION}/clusters", {"cluster": {"name": "demo", "initialNodeCount": 1}})
    assert message.startswith("Kubernetes Engine API has not been used in project")


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        (changed(config__machineType="ct5lp-hightpu-3t"), 'Invalid machine type "ct5lp-hightpu-3t"'),
        (changed(placementPolicy={"tpuTopology": "3x4"}), 'TPU topology "3x4" is not supported'),
        (changed(config__machineType="ct5lp-hightpu-8t"), "can't be specified with single-host TPU slice pool"),
        (changed(initialNodeCount=3), "Initial node count 3 is not a valid size of TPU pod slice"),
        (changed(locations=["us-west4-b"]), 'in zone "us-west4-b": GCE_NOT_FOUND'),
        (changed(locations=["us-west4-a", "us-west4-b"], config__machineType="e2-standard-4"), "no TPU"),
        (changed(name="Pool"), "Must be a match of regex"),
        (changed(name="p" * 41), "Must be a match of regex"),
        (changed(config__flexStart=True), "Flex start node pools require autoscaling enabled."),
        (
            changed(config__flexStart=True, autoscaling={"enabled": True, "maxNodeCount": 2}),
            "initial node count to be set to 0",
        ),
        (changed(queuedProvisioning={"enabled": True}), "Queued_provisioning doesn't support TPUs."),
        (changed(autoscaling={"enabled": True, "maxNodeCount": 2, "totalMaxNodeCount": 2}), "both per-zone and total"),
        (
            changed(config__taints=[{**OF_TPU, "value": "other"}]),
            "Found more than one taint with key google.com/tpu and effect NO_SCHEDULE.",
        ),
        (
            changed(config__taints=[{**OF_TPU, "key": "a"}, {**OF_TPU, "key": "a"}]),
            "Found more than one taint with key a and effect NO_SCHEDULE.",
        ),
        (changed(config__taints=[{"key": "a", "value": "b"}]), "must have a key, and NO_SCHEDULE"),
        (
            changed(config__spot=True, config__reservationAffinity={"consumeReservationType": "ANY_RESERVATION"}),
            "NO_RESERVATION",
        ),
    ],
)
def test_a_pool_that_cannot_be_is_refused_at_once(cluster: Gcp, pool: dict[str, Any], words: str) -> None:
    assert words in cluster.refused(400, "POST", f"{CLUSTER}/nodePools", {"nodePool": pool})
    assert [p["name"] for p in cluster.ok("GET", f"{CLUSTER}/nodePools")["nodePools"]] == ["default-pool"]


def test_a_pool_may_state_the_taint_that_gke_adds(cluster: Gcp) -> None:
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": changed(config__taints=[OF_TPU])})
    assert cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")["config"]["taints"] == [OF_TPU]
    other = {"taints": {"taints": [OF_TPU, {**OF_TPU, "effect": "NO_EXECUTE"}]}}
    cluster.run("PUT", f"{CLUSTER}/nodePools/nodepool1", other)


def test_what_google_does_not_know_is_refused_in_its_words(cluster: Gcp) -> None:
    body = {"nodePool": {**SLICE, "config": {"machineType": "ct5lp-hightpu-4t", "foo": 1}}}
    message = cluster.refused(400, "POST", f"{CLUSTER}/nodePools", body)
    assert message == "Invalid JSON payload received. Unknown name \"foo\" at 'node_pool.config': Cannot find field."
    message = cluster.refused(400, "POST", f"{CLUSTER}/nodePools", {"nodePool": {**SLICE, "initialNodeCount": "two"}})
    assert message == "Invalid value at 'node_pool.initial_node_count' (TYPE_INT32), \"two\""


def test_names_are_taken_once(cluster: Gcp) -> None:
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    message = cluster.refused(409, "POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    assert message == f"Already exists: projects/{PROJECT}/locations/us-west4/clusters/demo/nodePools/nodepool1."
    cluster.refused(409, "POST", f"{LOCATION}/clusters", {"cluster": {"name": "demo", "initialNodeCount": 1}})


def test_a_busy_cluster_takes_pools_side_by_side_and_nothing_else(cluster: Gcp) -> None:
    cluster.ok("PUT", "/_rehearsal/faults", [{"match": {}, "fault": "slow", "factor": 40, "times": 2}])
    first = cluster.ok("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    second = cluster.ok("POST", f"{CLUSTER}/nodePools", {"nodePool": changed(name="nodepool2")})
    body = {"update": {"desiredReleaseChannel": {"channel": "RAPID"}}}
    message = cluster.refused(400, "PUT", CLUSTER, body)
    assert message in [f"Cluster is running incompatible operation {o['name']}." for o in (first, second)]
    for operation in (first, second):
        assert "error" not in cluster.done(operation)
    cluster.run("PUT", CLUSTER, body)


def test_a_stock_out_leaves_the_pool_in_error_and_says_so(cluster: Gcp) -> None:
    cluster.ok("PUT", "/_rehearsal/faults", [{"match": {"name": "nodepool1"}, "fault": "stockout", "times": 1}])
    operation = cluster.done(cluster.ok("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE}))
    assert "GCE_STOCKOUT" in operation["error"]["message"]
    assert cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")["status"] == "ERROR"
    cluster.run("DELETE", f"{CLUSTER}/nodePools/nodepool1")
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})


def test_unavailability_passes(cluster: Gcp) -> None:
    cluster.ok(
        "PUT",
        "/_rehearsal/faults",
        [{"match": {"method": "container.projects.locations.clusters.get"}, "fault": "unavailable", "times": 2}],
    )
    assert [cluster.call("GET", CLUSTER)[0] for _ in range(3)] == [503, 503, 200]


def test_labels_of_nodes_change_in_place(cluster: Gcp) -> None:
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    cluster.run("PUT", f"{CLUSTER}/nodePools/nodepool1", {"labels": {"labels": {"team": "a"}}})
    assert cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")["config"]["labels"] == {"team": "a"}


def test_a_deleted_cluster_leaves_nothing(cluster: Gcp) -> None:
    cluster.run("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    cluster.run("DELETE", CLUSTER)
    cluster.refused(404, "GET", CLUSTER)
    assert not any(cluster.ok("GET", "/_rehearsal/leftovers").values())


def test_a_killed_server_takes_its_operations_up_again(cluster: Gcp) -> None:
    cluster.ok("PUT", "/_rehearsal/faults", [{"match": {}, "fault": "slow", "factor": 100, "times": 1}])
    operation = cluster.ok("POST", f"{CLUSTER}/nodePools", {"nodePool": SLICE})
    cluster.kill()
    cluster.start()
    assert cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")["status"] == "PROVISIONING"
    assert "error" not in cluster.done(operation)
    assert cluster.ok("GET", f"{CLUSTER}/nodePools/nodepool1")["status"] == "RUNNING"


def test_every_call_is_in_the_audit_log(cluster: Gcp) -> None:
    cluster.refused(404, "GET", f"{CLUSTER}/nodePools/absent")
    last = cluster.ok("GET", "/_rehearsal/audit?method=nodePools.get")[-1]
    assert (last["status"], last["method"]) == (404, "container.projects.locations.clusters.nodePools.get")


def gcloud_bodies() -> list[Any]:
    """What Google's own gcloud sends for the tutorials' commands (recorded; see the file)."""
    return json.loads((Path(__file__).parent / "gcloud_bodies.json").read_text())


@pytest.mark.parametrize("case", gcloud_bodies(), ids=lambda case: case["name"])
def test_what_gcloud_sends_is_taken(gcp: Gcp, case: dict[str, Any]) -> None:
    location = case["path"].split("/locations/")[1].split("/")[0]
    base = f"/v1beta1/projects/{PROJECT}/locations/{location}/clusters"
    if "nodePool" in case["body"]:
        name = case["path"].split("/clusters/")[1].split("/")[0]
        gcp.run("POST", base, {"cluster": {"name": name, "initialNodeCount": 1}})
        gcp.run("POST", f"{base}/{name}/nodePools", {"nodePool": case["body"]["nodePool"]})
    else:
        gcp.run("POST", base, {"cluster": case["body"]["cluster"]})
