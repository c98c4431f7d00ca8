"""How a pool gets its machines: which ways GKE refuses to combine, from the pool that tutorial B's gcloud command asks for."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rehearsal.gcp.container import provisioning
from rehearsal.gcp.core import ApiError
from rehearsal.gcp.machines import MACHINES
from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

CLUSTERS = f"/v1/projects/{PROJECT}/locations/us-east5-b/clusters"
POOLS = f"{CLUSTERS}/demo/nodePools"
ANY, NONE = {"consumeReservationType": "ANY_RESERVATION"}, {"consumeReservationType": "NO_RESERVATION"}
SPECIFIC = {
    "consumeReservationType": "SPECIFIC_RESERVATION",
    "key": "compute.googleapis.com/reservation-name",
    "values": ["mine"],
}
ABSENT = None
UPTO4 = {"enabled": True, "maxNodeCount": 4}
CPUS = {"placementPolicy": ABSENT, "config__machineType": "e2-standard-4"}
QUEUED_CPUS = {**CPUS, "config__flexStart": ABSENT}
SPOT_TPUS = {"queuedProvisioning": ABSENT, "config__flexStart": ABSENT, "config__spot": True}


def recorded() -> dict[str, Any]:
    """The flex-start pool with queued provisioning as gcloud asks for it."""
    cases = json.loads((Path(__file__).parent / "gcloud_bodies.json").read_text())
    return dict(next(case["body"]["nodePool"] for case in cases if case["name"] == "dws-pool"))


def pool(**fields: Any) -> dict[str, Any]:
    """That pool with fields changed; `config__x` is a field of its node config, None takes a field away."""
    found = copy.deepcopy(recorded())
    for path, value in fields.items():
        inner, name = (found["config"], path[8:]) if path.startswith("config__") else (found, path)
        inner[name] = value
        if value is None:
            del inner[name]
    return found


@pytest.fixture
def v6e(gcp: Gcp) -> Iterator[Gcp]:
    """With a cluster where v6e is."""
    gcp.run("POST", CLUSTERS, {"cluster": {"name": "demo", "initialNodeCount": 1}})
    yield gcp


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param(
            {"config__reservationAffinity": ANY},
            "Flex start node pools don't support reservations.",
            id="flex-start, any reservation",
        ),
        pytest.param(
            {"config__reservationAffinity": SPECIFIC},
            "Flex start node pools don't support reservations.",
            id="flex-start, a reservation",
        ),
        pytest.param(
            {"config__spot": True},
            "Flex start and queued provisioning node pools cannot use spot or preemptible VMs.",
            id="flex-start, spot",
        ),
        pytest.param(
            {"initialNodeCount": 4},
            "Flex start node pools require initial node count to be set to 0.",
            id="flex-start, nodes at once",
        ),
        pytest.param(
            {"initialNodeCount": 4, "autoscaling": ABSENT, "queuedProvisioning": ABSENT},
            "Flex start node pools require autoscaling enabled.",
            id="flex-start, a fixed count",
        ),
        pytest.param(
            {"autoscaling": {**UPTO4, "minNodeCount": 4}},
            "Queued provisioning node pools require the minimum node count to be 0.",
            id="queued, a minimum",
        ),
        pytest.param(
            {"config__flexStart": ABSENT},
            "Queued_provisioning doesn't support TPUs.",
            id="queued TPUs, not flex-start",
        ),
        pytest.param(
            {**QUEUED_CPUS, "config__reservationAffinity": NONE, "autoscaling": ABSENT},
            "Queued provisioning node pools require autoscaling enabled.",
            id="queued, not autoscaled",
        ),
        pytest.param(
            {**QUEUED_CPUS, "config__reservationAffinity": NONE, "initialNodeCount": 1},
            "Queued provisioning node pools require initial node count to be set to 0.",
            id="queued, nodes at once",
        ),
        pytest.param(
            QUEUED_CPUS,
            "Queued_provisioning requires reservation affinity to be set to none",
            id="queued, affinity not stated",
        ),
        pytest.param(
            {**QUEUED_CPUS, "config__reservationAffinity": ANY},
            "Queued_provisioning requires reservation affinity to be set to none",
            id="queued, any reservation",
        ),
        pytest.param(
            {"config__maxRunDuration": "604801s"},
            'Invalid value for field "node_pool.config.max_run_duration": "604801s". Must be at most 604800s.',
            id="longer than a week",
        ),
        pytest.param(
            {"autoscaling": {**UPTO4, "maxNodeCount": 8}},
            'Maximum node count 8 is not a valid size of TPU pod slice with topology "4x4"',
            id="more hosts than the topology has",
        ),
        pytest.param(
            {"autoscaling": {**UPTO4, "minNodeCount": 2}, "queuedProvisioning": ABSENT},
            'Minimum node count 2 is not a valid size of TPU pod slice with topology "4x4"',
            id="a part of a slice as the minimum",
        ),
        pytest.param(
            {**SPOT_TPUS, "autoscaling": ABSENT, "initialNodeCount": 3},
            'Initial node count 3 is not a valid size of TPU pod slice with topology "4x4"',
            id="a part of a slice",
        ),
        pytest.param(
            {**SPOT_TPUS, "config__reservationAffinity": SPECIFIC},
            "Reservation affinity must be NO_RESERVATION for spot node pools.",
            id="spot, a reservation",
        ),
        pytest.param(
            {**SPOT_TPUS, "config__spot": ABSENT, "config__reservationAffinity": {**SPECIFIC, "key": "name"}},
            "Reservation affinity of type SPECIFIC_RESERVATION requires the key"
            ' "compute.googleapis.com/reservation-name".',
            id="a reservation by another key",
        ),
    ],
)
def test_ways_to_get_machines_that_exclude_each_other(v6e: Gcp, changes: dict[str, Any], message: str) -> None:
    assert v6e.refused(400, "POST", POOLS, {"nodePool": pool(**changes)}) == message


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="as gcloud asks, with auto-repair"),
        pytest.param({"management": {"autoUpgrade": True}}, id="without auto-repair"),
        pytest.param({"config__maxRunDuration": "604800s"}, id="a week"),
        pytest.param({"config__reservationAffinity": NONE}, id="no reservation"),
        pytest.param({"queuedProvisioning": ABSENT}, id="flex-start alone"),
        pytest.param({**QUEUED_CPUS, "config__reservationAffinity": NONE}, id="queued alone"),
        pytest.param({**SPOT_TPUS, "autoscaling": {**UPTO4, "minNodeCount": 4}}, id="spot, one slice at least"),
        pytest.param({**SPOT_TPUS, "config__spot": ABSENT, "config__reservationAffinity": SPECIFIC}, id="reserved"),
    ],
)
def test_ways_to_get_machines_that_go_together(v6e: Gcp, changes: dict[str, Any]) -> None:
    v6e.run("POST", POOLS, {"nodePool": pool(**changes)})
    assert v6e.ok("GET", f"{POOLS}/dws-pool")["status"] == "RUNNING"


def test_older_versions_have_no_queued_tpus() -> None:
    tpus = MACHINES["ct6e-standard-4t"]
    provisioning.check({**recorded(), "version": "1.34.0-gke.1"}, tpus)
    with pytest.raises(ApiError, match=r"^Flex start node pools don't support TPUs with queued provisioning\.$"):
        provisioning.check({**recorded(), "version": "1.33.5-gke.1308000"}, tpus)


def test_a_flex_start_pool_that_has_nodes_is_changed_like_any_other(v6e: Gcp) -> None:
    """That it starts with none is a rule of its creation: the autoscaler gives it some later."""
    path = f"{POOLS}/dws-pool"
    v6e.run("POST", POOLS, {"nodePool": pool()})
    v6e.run("POST", f"{path}:setSize", {"nodeCount": 4})
    v6e.run("PUT", path, {"labels": {"labels": {"team": "one"}}})
    v6e.run("POST", f"{path}:setAutoscaling", {"autoscaling": {**UPTO4, "locationPolicy": "ANY"}})
    found = v6e.ok("GET", path)
    assert (found["config"]["labels"], found["autoscaling"]["locationPolicy"]) == ({"team": "one"}, "ANY")
    assert found.get("initialNodeCount", 0) == 0
    refusal = v6e.refused(400, "POST", f"{path}:setSize", {"nodeCount": 3})
    assert refusal == 'Initial node count 3 is not a valid size of TPU pod slice with topology "4x4"'
    assert "autoscaling enabled" in v6e.refused(400, "POST", f"{path}:setAutoscaling", {"autoscaling": {}})
