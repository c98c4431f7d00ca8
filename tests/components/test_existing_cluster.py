"""A cluster that somebody else keeps: what is added to it, and that nothing of it is made, changed or deleted."""

from __future__ import annotations

import json

import pytest

from tests.support.platforms import BOTH, TUTORIAL, both, plan_with, run_platform
from tests.support.recording import Recording, record

pytestmark = pytest.mark.unit

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
EXISTING = both(cluster={**BOTH["cluster"], "existing": True})


@pytest.fixture(scope="module")
def existing() -> Recording:
    return record(lambda: run_platform(plan_with(**EXISTING)))


def test_the_cluster_is_read_by_its_name_and_place(existing) -> None:
    assert existing.read == ["projects/some-project/locations/us-central1/clusters/tpu-cluster"]
    assert not existing.of_type(CLUSTER)


def test_neither_a_network_nor_system_nodes_are_made(existing) -> None:
    assert not [r for r in existing.resources if r.type.startswith("gcp:compute/")]
    assert "default-pool" not in {r.inputs["name"] for r in existing.of_type(POOL)}


def test_everything_else_is_what_a_cluster_of_our_own_gets(existing, both_tutorials) -> None:
    def added(recording) -> dict:
        owners = ("gcp:compute/", CLUSTER, "pulumi:")
        ours = [r for r in recording.resources if not r.type.startswith(owners) and r.name != "cluster-default-pool"]
        return {(r.type, r.name): r.inputs for r in ours}

    assert added(existing) == added(both_tutorials)


def test_charts_and_queues_go_to_the_cluster_that_was_read(existing) -> None:
    secret = existing.of_type("pulumi:providers:kubernetes")[0].inputs["kubeconfig"]
    config = json.loads(secret["value"] if isinstance(secret, dict) else secret)
    assert config["current-context"] == "tpu-cluster"
    assert config["clusters"][0]["cluster"]["server"] == "https://172.16.0.2"


def test_an_existing_autopilot_cluster_gets_no_pools_and_the_same_queues() -> None:
    section = {key: value for key, value in TUTORIAL["slices"][0].items() if key != "pools"}
    changes = {
        "slices": [{**section, "count": 3}],
        "cluster": {"name": "theirs", "existing": True, "mode": "autopilot"},
    }
    plan = plan_with(**changes)
    recording = record(lambda: run_platform(plan))
    assert recording.read == ["projects/some-project/locations/us-west4/clusters/theirs"]
    assert not recording.of_type(POOL)
    queue = recording.of_type("kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue")[0].inputs["spec"]
    assert queue["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] == "24"
