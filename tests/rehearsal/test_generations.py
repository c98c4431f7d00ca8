"""A slice of 7x and one of v5p by our program, the real engine and the stand-in for GKE: placed as GKE demands it of each
generation, with nodes that a job finds, and still when they are there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from settings.accelerators import ACCELERATOR_LABEL, NODEPOOL_LABEL, TOPOLOGY_LABEL, TPU_RESOURCE
from tests.rehearsal.conftest import Checkout

pytestmark = pytest.mark.rehearsal

PLACE = "/v1/projects/rehearsal-project/locations/us-central1/clusters/tpu-cluster"
POLICIES = "/compute/v1/projects/rehearsal-project/regions/us-central1/resourcePolicies"


def two_generations(config: dict[str, Any]) -> None:
    """A job on each of them, and nothing of the tutorials."""
    config["tpu-platform:slices"] = [
        {
            "flavor": "ironwood",
            "machineType": "tpu7x-standard-4t",
            "topology": "2x2x2",
            "zone": "us-central1-c",
            "pools": ["ironwood-1"],
        },
        {
            "flavor": "v5p",
            "machineType": "ct5p-hightpu-4t",
            "topology": "2x2x2",
            "zone": "us-central1-a",
            "pools": ["v5p-1"],
        },
    ]
    config["tpu-platform:queues"] = [{"clusterQueue": "all", "localQueue": "everybody"}]
    config["tpu-platform:workloads"] = [
        {"name": "on-ironwood", "slices": 1, "flavor": "ironwood"},
        {"name": "on-v5p", "slices": 1, "flavor": "v5p"},
    ]
    del config["tpu-platform:ray"]


@pytest.fixture(scope="module")
def platform(fresh: Callable[..., Checkout]) -> Checkout:
    checkout = fresh("generations")
    checkout.config(two_generations)
    checkout.make("up")
    return checkout


def test_each_generation_is_placed_as_gke_demands_it(platform: Checkout) -> None:
    pools = {pool["name"]: pool for pool in platform.google(PLACE)["nodePools"]}
    policy = platform.google(f"{POLICIES}/tpu-cluster-ironwood-1")
    assert policy["workloadPolicy"] == {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "2x2x2"}
    assert pools["ironwood-1"]["placementPolicy"] == {"policyName": policy["name"], "tpuTopology": "2x2x2"}
    assert pools["v5p-1"]["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "2x2x2"}


@pytest.mark.parametrize(
    ("pool", "accelerator", "cpus", "policy"),
    [("ironwood-1", "tpu7x", "224", "tpu-cluster-ironwood-1"), ("v5p-1", "tpu-v5p-slice", "208", None)],
)
def test_the_hosts_of_a_slice_are_what_google_lists(
    platform: Checkout, pool: str, accelerator: str, cpus: str, policy: str | None
) -> None:
    nodes = platform.cluster().list("/api/v1/nodes", labelSelector=f"{NODEPOOL_LABEL}={pool}")
    assert len(nodes) == 2
    for node in nodes:
        labels = node["metadata"]["labels"]
        assert (labels[ACCELERATOR_LABEL], labels[TOPOLOGY_LABEL]) == (accelerator, "2x2x2")
        assert labels.get("cloud.google.com/placement-policy-name") == policy
        assert {"key": TPU_RESOURCE, "value": "present", "effect": "NoSchedule"} in node["spec"]["taints"]
        assert (node["status"]["capacity"][TPU_RESOURCE], node["status"]["capacity"]["cpu"]) == ("4", cpus)


def test_jobs_ran_on_the_generation_that_they_name(platform: Checkout) -> None:
    lines = platform.lines()
    assert {name: line.succeeded for name, line in lines.items()} == {"on-ironwood": True, "on-v5p": True}
    assert {name: line.pools for name, line in lines.items()} == {"on-ironwood": ["ironwood-1"], "on-v5p": ["v5p-1"]}


def test_a_second_preview_replaces_nothing(platform: Checkout) -> None:
    """What GKE fills in of the placement of 7x, its topology, would replace the pool if the provider took it for a difference."""
    assert platform.changes() == {}
