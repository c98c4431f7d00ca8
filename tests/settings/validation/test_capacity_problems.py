"""Capacity that does not go with sizes, reservations and times: refused before anything is asked of Google."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.platforms import BOTH, TUTORIAL, both, plan_with, with_slice
from tests.support.problems import each, is_the_only_problem, only_problem, problems_in

pytestmark = pytest.mark.unit

ON_DEMAND, DWS = 1, 2
"""Places in the slices of `BOTH`."""


def values(index: int = DWS, cluster: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Both tutorials with one slice changed, and perhaps the cluster."""
    return {**TUTORIAL, **both(slices=with_slice(index, **changes), cluster={**BOTH["cluster"], **(cluster or {})})}


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("DWS with a reservation", values(reservation="mine"), "slices[2].reservation", "a pool of its own", "remove the key"),
    ("flex-start with a reservation", values(capacity="flex-start", reservation="mine"), "slices[2].reservation", "a pool of its own", "remove the key"),
    ("spot with a reservation", values(ON_DEMAND, capacity="spot", reservation="mine"), "slices[1].reservation", "nobody reserved", "remove the key"),
    ("on demand with a reservation", values(ON_DEMAND, reservation="mine"), "slices[1].reservation", "not reserved", "write capacity: reservation"),
    ("reservation without a name", values(ON_DEMAND, capacity="reservation"), "slices[1].reservation", "the name of the reservation", "add `reservation`"),
    ("reservation of an empty name", values(ON_DEMAND, capacity="reservation", reservation=""), "slices[1].reservation", "the name of the reservation", "add `reservation`"),
    ("DWS with spot", values(spot=True), "slices[2].spot", "a known key", "or write capacity: spot in place of queued: a pool has one kind"),
    ("two kinds in a list", values(capacity=["queued", "spot"]), "slices[2].capacity", "one of on-demand, reservation, spot", "write queued, and for spot an entry in slices of its own"),
    ("one kind in a list", values(capacity=["queued"]), "slices[2].capacity", "one of on-demand", "write queued, without brackets"),
    ("queued for a second", values(maxRunDuration="1s"), "slices[2].maxRunDuration", "at least 10m", "write 10m or more"),
    ("on demand for a second", values(ON_DEMAND, maxRunDuration="1s"), "slices[1].maxRunDuration", "at least 30s", "write 30s or more"),
    ("on demand for a thousand years", values(ON_DEMAND, maxRunDuration="9999999h"), "slices[1].maxRunDuration", "at most 2880h", "leave the key out"),
    ("spot as Google writes it", values(ON_DEMAND, spot=True), "slices[1].spot", "a known key", "write capacity: spot"),
    ("no spot as Google writes it", values(spot=False), "slices[2].spot", "a known key", "remove the key"),
    ("queued as Google writes it", values(ON_DEMAND, queuedProvisioning={"enabled": True}), "slices[1].queuedProvisioning", "a known key", "write capacity: queued: on TPUs"),
    ("queued twice", values(queuedProvisioning=True), "slices[2].queuedProvisioning", "a known key", "remove the key: capacity: queued says it"),
    ("queued with a retry as Google writes it", values(capacity=None, queued=True, retry={"limit": 1}), "slices[2].queued", "a known key", "write capacity: queued"),
    ("reservation as Google writes it", values(ON_DEMAND, reservationAffinity={"key": "x"}), "slices[1].reservationAffinity", "a known key", "write capacity: reservation and reservation: NAME"),
    ("size as Google writes it", values(ON_DEMAND, nodeCount=4), "slices[1].nodeCount", "a known key", "`nodes` may repeat it"),
    ("bounds as Google writes them", values(ON_DEMAND, autoscaling=None, maxNodeCount=4), "slices[1].maxNodeCount", "a known key", "autoscaling: {min: 0}"),
    (
        "a multislice job on queued capacity",
        {**values(pools=["dws-1", "dws-2"]), "workloads": [{"name": "wide", "slices": 2, "flavor": "dws"}]},
        "workloads[0].slices",
        "one pool only, which is one slice",
        "capacity: flex-start",
    ),
    (
        "a Ray job of two slices where only the queued flavor has two",
        {**values(pools=["dws-1", "dws-2"]), "ray": {"operator": "addon", "jobs": [{"name": "wide", "slices": 2}]}},
        "ray.jobs[0].slices",
        "on-demand 1, dws 1",
        "write 1",
    ),
    ("DWS of a fixed size", values(nodes=4), "slices[2].nodes", "queued pools start at 0", "remove the key"),
    ("flex-start of a fixed size", values(capacity="flex-start", nodes=4), "slices[2].nodes", "flex-start pools start at 0", "remove the key"),
    ("hosts that the topology does not have", values(ON_DEMAND, nodes=3, autoscaling=None), "slices[1].nodes", "4: a slice 4x4 of ct6e-standard-4t", "write 4"),
    ("wrong hosts beside autoscaling", values(ON_DEMAND, nodes=3), "slices[1].nodes", "4: a slice 4x4", "write 4"),
    ("a fixed size and autoscaling", values(ON_DEMAND, nodes=4), "slices[1].nodes", "not both", "remove `nodes` or `autoscaling`"),
    ("DWS that does not start empty", values(autoscaling={"min": 4}), "slices[2].autoscaling.min", "0: queued pools start empty", "write 0"),
    ("a part of a slice at least", values(ON_DEMAND, autoscaling={"min": 1}), "slices[1].autoscaling.min", "0 or 4", "write 0"),
    ("less than nothing at least", values(ON_DEMAND, autoscaling={"min": -1}), "slices[1].autoscaling.min", "0 or 4", "write 0"),
    ("more than a slice at most", values(autoscaling={"min": 0, "max": 8}), "slices[2].autoscaling.max", "4: a slice 4x4", "write 4"),
    ("a part of a slice at most", values(ON_DEMAND, autoscaling={"max": 3}), "slices[1].autoscaling.max", "one pool is one slice", "write 4"),
    ("longer than seven days", values(maxRunDuration="169h"), "slices[2].maxRunDuration", "at most 168h", "write 168h"),
    ("flex-start for longer than seven days", values(capacity="flex-start", maxRunDuration="10081m"), "slices[2].maxRunDuration", "at most 168h", "write 168h"),
    ("days", values(maxRunDuration="7d"), "slices[2].maxRunDuration", "a time like", "write 168h"),
    ("a retry of what is not queued", values(ON_DEMAND, retry={"limit": 1}), "slices[1].retry", "only queued capacity", "remove the key"),
    ("a retry of flex-start", values(capacity="flex-start", retry={}), "slices[2].retry", "only queued capacity", "write capacity: queued"),
    ("most below the first wait", values(retry={"maxSeconds": 30}), "slices[2].retry.maxSeconds", "at least baseSeconds, 60", "write 60 or more"),
    ("first wait above the default's most", values(retry={"baseSeconds": 7200}), "slices[2].retry.baseSeconds", "at most maxSeconds, 1800", "or add `maxSeconds`"),
    ("queued on GKE 1.33", values(cluster={"version": "1.33"}), "cluster.version", "1.34 or later: required for queued TPU provisioning", "write '1.34'"),
    ("queued on a version that has no v6e either", values(cluster={"version": "1.30"}), "cluster.version", "1.34 or later", "write '1.34'"),
    ("no such capacity", values(capacity="dws"), "slices[2].capacity", "one of on-demand, reservation, spot, flex-start, queued", "write"),
    ("DWS of a topology that is none", values(topology="4x5", nodes=4), "slices[2].topology", "ct6e-standard-4t makes", "write 4x4"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def test_queued_provisioning_without_flex_start_is_told_what_there_is() -> None:
    """Two keys of Google's that are none of ours, so two faults, with one and the same way out."""
    keys = {"flexStart": False, "queuedProvisioning": True}
    problems = {problem.path: problem.fix for problem in problems_in(values(capacity=None, **keys))}
    way_out = "write capacity: queued: on TPUs queued provisioning exists only together with flex-start"
    assert problems == {"slices[2].flexStart": way_out, "slices[2].queuedProvisioning": way_out}


def test_what_was_meant_decides_nothing_else() -> None:
    """`spot: true` leaves open what the capacity is, so what goes only with another kind is no fault of its own."""
    assert only_problem(values(capacity=None, spot=True, maxRunDuration="200h")).path == "slices[2].spot"


@pytest.mark.parametrize(
    ("changes", "bounds"),
    [
        ({"capacity": "spot"}, (0, 4)),
        ({"capacity": "reservation", "reservation": "mine", "nodes": 4, "autoscaling": None}, None),
        ({"autoscaling": {"min": 4, "max": 4}}, (4, 4)),
        ({"capacity": "flex-start", "autoscaling": None, "maxRunDuration": "168h", "topology": "2x4"}, (0, 2)),
        ({"maxRunDuration": "200h"}, (0, 4)),
    ],
)
def test_pairs_that_go_together_are_planned(changes, bounds) -> None:
    plan = plan_with(**both(slices=with_slice(ON_DEMAND, **changes), ray={"jobs": []}))
    assert plan.pools[3].bounds == bounds
