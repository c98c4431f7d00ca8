"""When pools grow, by how much, and when their nodes go again."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.gcp.nodes import pool_nodes, shapes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler import scale_up, scheduling
from tests.rehearsal.gke.builders import ZONE, cpu_pool, pod, pool, queued_pool, worker
from tests.rehearsal.gke.test_fitting import leader

pytestmark = pytest.mark.unit


def anything(of: Any, zone: str, count: int) -> str:
    return ""


def plan(
    pods: list[Any], pools: list[Any], take: scale_up.Take = anything, resting: set[str] | None = None
) -> scale_up.Plan:
    bins = [scheduling.to_come(p, m.zone, name) for p in pools for name, m in shapes.named(p).items()]
    return scale_up.plan(scale_up.waiting(pods), bins, pools, take, resting if resting is not None else set())


def grown(found: scale_up.Plan) -> list[tuple[str, int]]:
    return [(g.pool["name"], g.count) for g in found.growths]


def test_one_pod_brings_a_whole_slice_and_the_others_ride_along() -> None:
    assert grown(plan([worker(f"w-{n}") for n in range(4)], [pool("slice")])) == [("slice", 4)]


def test_each_slice_of_a_jobset_brings_a_pool_of_its_own() -> None:
    found = plan([leader("l-1", "one"), leader("l-2", "two")], [pool("a"), pool("b"), pool("c")])
    assert grown(found) == [("a", 4), ("b", 4)]


def test_plain_pools_grow_by_what_is_needed_up_to_their_limit() -> None:
    found = plan([pod(f"p-{n}", cpu="3") for n in range(5)], [cpu_pool(most=3)])
    assert grown(found) == [("cpu", 1)] * 3
    assert [reasons for _, reasons in found.unhelped] == [{scale_up.MAX_REACHED: 1}] * 2


def test_total_limits_count_over_zones_and_zones_are_balanced() -> None:
    zones = ["us-east5-a", "us-east5-b", "us-east5-c"]
    spread = cpu_pool(locations=zones, autoscaling={"enabled": True, "totalMaxNodeCount": 4})
    found = plan([pod(f"p-{n}", cpu="3") for n in range(6)], [spread])
    assert [g.zone for g in found.growths] == [*zones, zones[0]]


def test_a_pod_that_fits_a_node_to_come_brings_nothing() -> None:
    booting = pool_nodes.grown(pool("slice"), ZONE, 4, Member(0, ZONE, ready_at=10**12))
    assert grown(plan([worker("w")], [booting])) == []


def test_a_slice_that_is_there_does_not_grow() -> None:
    full = pool_nodes.grown(pool("slice"), ZONE, 4, Member(0, ZONE))
    found = plan([worker(f"w-{n}") for n in range(5)], [full])
    assert grown(found) == []
    assert [reasons for _, reasons in found.unhelped] == [{scale_up.MAX_REACHED: 1}]


def test_a_queued_pool_never_grows_for_plain_pods() -> None:
    tolerant = worker("w", tolerations=[{"operator": "Exists"}])
    assert grown(plan([tolerant], [queued_pool()])) == []


def test_pods_of_a_provisioning_request_bring_nothing() -> None:
    waiting = worker("w", annotations={scale_up.CONSUMES: "job-1"})
    assert grown(plan([waiting], [pool("slice")])) == []


def test_without_chips_the_next_pool_is_tried_and_the_first_rests() -> None:
    def only_b(of: Any, zone: str, count: int) -> str:
        return "" if of["name"] == "b" else "GCE out of resources"

    resting: set[str] = set()
    found = plan([worker("w")], [pool("a"), pool("b")], only_b, resting)
    assert grown(found) == [("b", 4)]
    assert [(short.pool["name"], short.why_not) for short in found.short] == [("a", "GCE out of resources")]
    assert resting == {pool("a")["_name"]}


def test_a_resting_pool_says_so() -> None:
    found = plan([worker("w")], [pool("a")], resting={pool("a")["_name"]})
    assert [reasons for _, reasons in found.unhelped] == [{scale_up.BACKOFF: 1}]


@pytest.mark.parametrize(
    "change",
    [
        {"spec": {"nodeName": "n"}}, {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}, {"status": {"phase": "Running"}},
        {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]}},
    ],
)  # fmt: skip
def test_only_pods_that_the_scheduler_gave_up_on_count(change: dict[str, Any]) -> None:
    changed = pod("p")
    for key, value in change.items():
        changed[key] |= value
    assert scale_up.waiting([pod("p")]) != []
    assert scale_up.waiting([changed]) == []


# -- fewer ------------------------------------------------------------------------------------------------------------


def unneeded(of: dict[str, Any], idle: dict[str, float], now: float = 100.0) -> set[str]:
    return scale_up.unneeded(of, idle, shapes.named(of), now, 10.0)


def test_a_slice_goes_when_all_its_hosts_are_idle_long_enough() -> None:
    full = pool_nodes.grown(pool("slice"), ZONE, 4, Member(0, ZONE))
    hosts = list(shapes.named(full))
    assert unneeded(full, dict.fromkeys(hosts, 90.0)) == set(hosts)
    assert unneeded(full, {**dict.fromkeys(hosts, 90.0), hosts[0]: 91.0}) == set()
    assert unneeded(full, dict.fromkeys(hosts[1:], 0.0)) == set()


def test_a_pool_keeps_its_minimum() -> None:
    two = pool_nodes.grown(
        cpu_pool(autoscaling={"enabled": True, "minNodeCount": 1, "maxNodeCount": 3}), ZONE, 2, Member(0, ZONE)
    )
    assert len(unneeded(two, dict.fromkeys(shapes.named(two), 0.0))) == 1
    slice_with_minimum = pool("slice", autoscaling={"enabled": True, "minNodeCount": 4, "maxNodeCount": 4})
    full = pool_nodes.grown(slice_with_minimum, ZONE, 4, Member(0, ZONE))
    assert unneeded(full, dict.fromkeys(shapes.named(full), 0.0)) == set()


def test_total_minimum_over_zones() -> None:
    scaling = {"enabled": True, "totalMinNodeCount": 2, "totalMaxNodeCount": 9}
    spread = cpu_pool(locations=["us-east5-a", "us-east5-b"], autoscaling=scaling)
    for zone in spread["locations"]:
        spread = pool_nodes.grown(spread, zone, 2, Member(0, zone))
    assert len(unneeded(spread, dict.fromkeys(shapes.named(spread), 0.0))) == 2


def test_pods_of_daemonsets_do_not_hold_a_node() -> None:
    node = scheduling.to_come(cpu_pool(), ZONE, "n")
    node.put(pod("d", ownerReferences=[{"kind": "DaemonSet", "name": "d"}]))
    assert scale_up.is_idle(node)
    node.put(pod("p"))
    assert not scale_up.is_idle(node)


# -- members ----------------------------------------------------------------------------------------------------------


def test_a_node_that_went_never_comes_back_under_its_name() -> None:
    first = pool_nodes.grown(pool("slice"), ZONE, 4, Member(0, ZONE))
    empty = pool_nodes.without(first, {(m.zone, m.n) for m in pool_nodes.of(first)})
    again = pool_nodes.grown(empty, ZONE, 4, Member(0, ZONE))
    assert empty["_size"] == 0 and again["_size"] == 4
    assert not set(shapes.named(first)) & set(shapes.named(again))


def test_the_first_growth_keeps_the_nodes_that_are_there() -> None:
    one = {**cpu_pool(), "_size": 1}
    two = pool_nodes.grown(one, ZONE, 1, Member(0, ZONE, ready_at=5.0))
    assert set(shapes.named(one)) < set(shapes.named(two))
    assert [m.ready_at for m in pool_nodes.of(two)] == [0.0, 5.0]


def test_a_user_s_resize_wins() -> None:
    two = pool_nodes.grown(cpu_pool(), ZONE, 2, Member(0, ZONE, ready_at=10**12))
    assert pool_nodes.resized(two, 0)["_size"] == 0
    more = pool_nodes.resized(two, 3)
    assert [m.ready_at for m in pool_nodes.of(more)] == [10**12, 10**12, 0.0]
