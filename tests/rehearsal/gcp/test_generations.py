"""Slices of the generations that the tutorials do not use: what GKE makes of their pools, and what it refuses of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from rehearsal.gcp.nodes import shapes
from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit


@dataclass(frozen=True)
class Generation:
    """A slice of several hosts: where it is, and what its nodes are by Google's lists."""

    machine: str
    zone: str
    topology: str
    hosts: int
    accelerator: str
    cpus: int
    memory_gb: int


V4 = Generation("ct4p-hightpu-4t", "us-central2-b", "2x2x2", 2, "tpu-v4-podslice", 240, 407)
V5P = Generation("ct5p-hightpu-4t", "us-east5-a", "2x2x4", 4, "tpu-v5p-slice", 208, 448)
SEVEN = Generation("tpu7x-standard-4t", "us-central1-c", "2x2x2", 2, "tpu7x", 224, 960)
EACH = pytest.mark.parametrize("generation", [V4, V5P, SEVEN], ids=["v4", "v5p", "7x"])


class Place:
    """A cluster where a generation is, and its pools."""

    def __init__(self, gcp: Gcp, generation: Generation) -> None:
        self.gcp, self.generation = gcp, generation
        base = f"/v1beta1/projects/{PROJECT}/locations/{generation.zone}/clusters"
        gcp.run("POST", base, {"cluster": {"name": "demo", "initialNodeCount": 1}})
        self.pools = f"{base}/demo/nodePools"

    def policy(self, topology: str) -> str:
        region = self.generation.zone.rsplit("-", 1)[0]
        workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": topology}
        body = {"name": "slice", "workloadPolicy": workload}
        self.gcp.run("POST", f"/compute/v1/projects/{PROJECT}/regions/{region}/resourcePolicies", body)
        return "slice"

    def pool(self, name: str = "slice", size: int | None = None, **more: Any) -> dict[str, Any]:
        """A pool's body, with its placement as our program states it if nothing else is said."""
        seven = self.generation is SEVEN
        topology = self.generation.topology
        placed = {"policyName": "slice"} if seven else {"type": "COMPACT", "tpuTopology": topology}
        count = self.generation.hosts if size is None else size
        config = {"machineType": self.generation.machine}
        return {"name": name, "initialNodeCount": count, "placementPolicy": placed, "config": config, **more}

    def makes(self, pool: dict[str, Any]) -> dict[str, Any]:
        self.gcp.run("POST", self.pools, {"nodePool": pool})
        found: dict[str, Any] = self.gcp.ok("GET", f"{self.pools}/{pool['name']}")
        return found

    def refuses(self, pool: dict[str, Any]) -> str:
        return self.gcp.refused(400, "POST", self.pools, {"nodePool": pool})


@EACH
def test_a_slice_of_several_hosts_is_placed_and_its_nodes_are_what_jobs_select(
    gcp: Gcp, generation: Generation
) -> None:
    place = Place(gcp, generation)
    if generation is SEVEN:
        place.policy(generation.topology)
    found = place.makes(place.pool())
    wanted = {"policyName": "slice"} if generation is SEVEN else {"type": "COMPACT"}
    assert found["placementPolicy"] == {**wanted, "tpuTopology": generation.topology}
    stored = {**found, "_name": place.pools[1:], "_cluster": "projects/p/clusters/demo", "_size": generation.hosts}
    nodes = shapes.node_names(stored)
    assert len(nodes) == generation.hosts
    labels = shapes.labels(stored, *nodes[0])
    assert labels["cloud.google.com/gke-tpu-accelerator"] == generation.accelerator
    assert labels["cloud.google.com/gke-tpu-topology"] == generation.topology
    assert labels["cloud.google.com/gke-accelerator-count"] == "4"
    assert labels.get("cloud.google.com/placement-policy-name") == wanted.get("policyName")
    assert shapes.taints(stored) == [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]
    whole, left = shapes.capacity(stored)
    assert (whole["cpu"], whole["memory"]) == (str(generation.cpus), f"{generation.memory_gb * 1024 * 1024}Ki")
    assert left["google.com/tpu"] == "4"


@EACH
def test_a_slice_is_whole_and_of_a_topology_that_its_machines_make(gcp: Gcp, generation: Generation) -> None:
    place = Place(gcp, generation)
    if generation is SEVEN:
        place.policy(generation.topology)
    assert "Initial node count 1 is not a valid size of TPU pod slice" in place.refuses(place.pool(size=1))
    flat = {"type": "COMPACT", "tpuTopology": "4x4"}
    assert 'TPU topology "4x4" is not supported' in place.refuses(place.pool(placementPolicy=flat))
    single = {"type": "COMPACT", "tpuTopology": "2x2x1"}
    message = place.refuses(place.pool(size=1, placementPolicy=single))
    assert message.startswith("TPU topology can't be specified with single-host TPU slice pool")


@EACH
def test_one_host_has_no_placement_and_its_own_topology(gcp: Gcp, generation: Generation) -> None:
    place = Place(gcp, generation)
    found = place.makes({key: value for key, value in place.pool(size=1).items() if key != "placementPolicy"})
    stored = {**found, "_name": place.pools[1:], "_cluster": "projects/p/clusters/demo", "_size": 1}
    ((node, zone),) = shapes.node_names(stored)
    assert shapes.labels(stored, node, zone)["cloud.google.com/gke-tpu-topology"] == "2x2x1"


def test_compact_placement_without_a_workload_policy_makes_no_7x_slice(gcp: Gcp) -> None:
    """GKE takes the pool, and fails when its machines are to be made; other generations are placed by COMPACT."""
    place = Place(gcp, SEVEN)
    compact = place.pool(placementPolicy={"type": "COMPACT", "tpuTopology": "2x2x2"})
    operation = gcp.done(gcp.ok("POST", place.pools, {"nodePool": compact}))
    assert operation["error"]["message"] == (
        "Creation of a managed instance group with tpu7x-standard-4t machine type with placement policy is not supported. "
        "Use workload policy instead."
    )
    assert gcp.ok("GET", f"{place.pools}/slice")["status"] == "ERROR"


def test_a_workload_policy_of_another_topology_is_refused(gcp: Gcp) -> None:
    place = Place(gcp, SEVEN)
    place.policy("2x2x4")
    both = place.pool(placementPolicy={"policyName": "slice", "tpuTopology": "2x2x2"})
    assert 'does not match the topology "2x2x4"' in place.refuses(both)
    assert "Initial node count 2 is not a valid size" in place.refuses(place.pool())


def test_7x_needs_a_cluster_that_knows_it(gcp: Gcp) -> None:
    place = Place(gcp, SEVEN)
    place.policy("2x2x2")
    message = place.refuses(place.pool(version="1.33.5-gke.1201000"))
    assert message == 'Machine type "tpu7x-standard-4t" requires GKE version 1.34.0-gke.2201000 or later.'


def test_a_node_says_which_reservation_it_is_of(gcp: Gcp) -> None:
    place = Place(gcp, V5P)
    affinity = {
        "consumeReservationType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": ["training-2026"],
    }
    body = place.pool()
    found = place.makes({**body, "config": {**body["config"], "reservationAffinity": affinity}})
    stored = {**found, "_name": place.pools[1:], "_cluster": "projects/p/clusters/demo", "_size": 4}
    labels = shapes.labels(stored, *shapes.node_names(stored)[0])
    assert labels["cloud.google.com/reservation-name"] == "training-2026"
