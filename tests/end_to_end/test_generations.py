"""Slices of 7x, v5p and v4 by our program, the real engine and the stand-in for GKE: placed as GKE demands it of each generation,
with nodes that a job finds, and still when they are there. A Ray job takes its generation out of a queue that has two."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from settings.catalogue.labels import ACCELERATOR_LABEL, NODEPOOL_LABEL, TOPOLOGY_LABEL, TPU_RESOURCE
from tests.end_to_end.conftest import Checkout

pytestmark = pytest.mark.rehearsal

TOPOLOGY = "2x2x2"
COMPACT = {"type": "COMPACT", "tpuTopology": TOPOLOGY}


@dataclass(frozen=True)
class Slice:
    """One slice of two hosts, and what Google makes of it."""

    flavor: str
    machine: str
    zone: str
    accelerator: str
    cpus: str
    placement: dict[str, str]
    policy: str | None = None
    """The workload policy that a generation needs, by name."""

    @property
    def pool(self) -> str:
        return f"{self.flavor}-1"

    def section(self) -> dict[str, Any]:
        own = {"flavor": self.flavor, "machineType": self.machine, "zone": self.zone}
        return {**own, "topology": TOPOLOGY, "pools": [self.pool]}


POLICY = "tpu-cluster-ironwood-1"
IRONWOOD = Slice(
    "ironwood",
    "tpu7x-standard-4t",
    "us-central1-c",
    "tpu7x",
    "224",
    {"policyName": POLICY, "tpuTopology": TOPOLOGY},
    POLICY,
)
V5P = Slice("v5p", "ct5p-hightpu-4t", "us-central1-a", "tpu-v5p-slice", "208", COMPACT)
V4 = Slice("v4", "ct4p-hightpu-4t", "us-central2-b", "tpu-v4-podslice", "240", COMPACT)
SLICES = {"us-central1": (IRONWOOD, V5P), "us-central2": (V4,)}
"""By region: v4 is in one where nothing else is."""
RAY_JOBS = {"us-central1": {"ray-on-v5p": V5P}, "us-central2": {}}


@dataclass(frozen=True)
class Platform:
    checkout: Checkout
    region: str

    @property
    def slices(self) -> tuple[Slice, ...]:
        return SLICES[self.region]

    def configure(self, config: dict[str, Any]) -> None:
        """A job on each slice, and nothing of the tutorials."""
        config["tpu-platform:location"] = self.region
        config["tpu-platform:slices"] = [each.section() for each in self.slices]
        config["tpu-platform:queues"] = [{"clusterQueue": "all", "localQueue": "everybody", "cpu": {}}]
        config["tpu-platform:workloads"] = [
            {"name": f"on-{each.flavor}", "slices": 1, "flavor": each.flavor} for each in self.slices
        ]
        jobs = [{"name": name, "flavor": on.flavor} for name, on in RAY_JOBS[self.region].items()]
        config["tpu-platform:ray"] = {"operator": "addon", "jobs": jobs} if jobs else {}

    def pools(self) -> dict[str, dict[str, Any]]:
        place = f"/v1/projects/rehearsal-project/locations/{self.region}/clusters/tpu-cluster"
        return {pool["name"]: pool for pool in self.checkout.google(place)["nodePools"]}

    def policy(self, name: str) -> dict[str, Any]:
        regions = "/compute/v1/projects/rehearsal-project/regions"
        found: dict[str, Any] = self.checkout.google(f"{regions}/{self.region}/resourcePolicies/{name}")
        return found


@pytest.fixture(scope="module", params=SLICES)
def platform(request: pytest.FixtureRequest, fresh: Callable[..., Checkout]) -> Platform:
    made = Platform(fresh(f"generations-{request.param}"), request.param)
    made.checkout.config(made.configure)
    made.checkout.make("up")
    return made


def test_each_generation_is_placed_as_gke_demands_it(platform: Platform) -> None:
    pools = platform.pools()
    for each in platform.slices:
        assert pools[each.pool]["placementPolicy"] == each.placement
        if each.policy is not None:
            wanted = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": TOPOLOGY}
            assert platform.policy(each.policy)["workloadPolicy"] == wanted


def test_the_hosts_of_a_slice_are_what_google_lists(platform: Platform) -> None:
    for each in platform.slices:
        nodes = platform.checkout.cluster().list("/api/v1/nodes", labelSelector=f"{NODEPOOL_LABEL}={each.pool}")
        assert len(nodes) == 2
        for node in nodes:
            labels, capacity = node["metadata"]["labels"], node["status"]["capacity"]
            assert (labels[ACCELERATOR_LABEL], labels[TOPOLOGY_LABEL]) == (each.accelerator, TOPOLOGY)
            assert labels.get("cloud.google.com/placement-policy-name") == each.policy
            assert {"key": TPU_RESOURCE, "value": "present", "effect": "NoSchedule"} in node["spec"]["taints"]
            assert (capacity[TPU_RESOURCE], capacity["cpu"]) == ("4", each.cpus)


def test_jobs_ran_on_the_generation_that_they_name(platform: Platform) -> None:
    wanted = {**{f"on-{each.flavor}": each for each in platform.slices}, **RAY_JOBS[platform.region]}
    lines = platform.checkout.lines()
    assert {name: line.succeeded for name, line in lines.items()} == dict.fromkeys(wanted, True)
    assert {name: line.pools for name, line in lines.items()} == {name: [on.pool] for name, on in wanted.items()}
    assert {name: line.flavors for name, line in lines.items()} == {name: {on.flavor} for name, on in wanted.items()}


def test_a_second_preview_replaces_nothing(platform: Platform) -> None:
    """What GKE fills in of the placement of 7x, its topology, would replace the pool if the provider took it for a difference."""
    assert platform.checkout.changes() == {}
