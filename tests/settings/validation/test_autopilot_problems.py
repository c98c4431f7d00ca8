"""What does not go with Autopilot, which makes its own nodes and takes them away."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.autopilot import autopilot, cluster, slices
from tests.support.platforms import TUTORIAL, changed
from tests.support.problems import each, is_the_only_problem, only_problem, problems_in

pytestmark = pytest.mark.unit


def complete(changes: dict[str, Any]) -> dict[str, Any]:
    """The tutorial on Autopilot with these top-level keys changed."""
    return autopilot(**changes)


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("a zone", {"location": "us-west4-a"}, "location", "Autopilot clusters are regional", "write us-west4"),
    ("too old", {"cluster": cluster(version="1.28")}, "cluster.version", "1.29.2-gke.1521000", "1.29.2-gke.1521000"),
    (
        "a default pool",
        {"cluster": cluster(defaultPool={"nodes": 3})},
        "cluster.defaultPool",
        "provides the nodes",
        "remove",
    ),
    (
        "pools",
        {"slices": slices(count=None, pools=["a", "b", "c"])},
        "slices[0].pools",
        "creates and names pools",
        "`count: 3`",
    ),
    (
        "pools and a count",
        {"slices": slices(pools=["a"]), "workloads": []},
        "slices[0].pools",
        "creates and names pools",
        "remove the key",
    ),
    ("no count", {"slices": slices(count=None)}, "slices[0].count", "the number of slices", "add `count`"),
    ("a count of nothing", {"slices": slices(count=0)}, "slices[0].count", "from 1 to 256", "write 1 or more"),
    (
        "bounds",
        {"slices": slices(autoscaling={"min": 0})},
        "slices[0].autoscaling",
        "removes it afterwards",
        "remove the key",
    ),
    (
        "queued",
        {"slices": slices(capacity="queued"), "workloads": []},
        "slices[0].capacity",
        "node pools",
        "write flex-start",
    ),
    (
        "a longest run",
        {"slices": slices(maxRunDuration="2h")},
        "slices[0].maxRunDuration",
        "flex-start",
        "remove the key",
    ),
    (
        "too large a quota",
        {"slices": slices(quota=32)},
        "slices[0].quota",
        "at most 24 chips, all that 3 slices have",
        "write 24",
    ),
    (
        "a privileged job",
        {"workloads": [{"name": "j", "slices": 1, "privileged": True}]},
        "workloads[0].privileged",
        "privileged containers",
        "remove the key",
    ),
    (
        "too many slices",
        {"workloads": [{"name": "j", "slices": 4}]},
        "workloads[0].slices",
        "at most 3: slices[0] counts 3",
        "write 3, or raise slices[0].count to 4",
    ),
    (
        "an unknown mode",
        {"cluster": cluster(mode="autopilots")},
        "cluster.mode",
        "one of standard, autopilot",
        "write autopilot",
    ),
    ("open cores", {"queues": [{"cpu": {}}]}, "queues[0].cpu", "without a limit", "add `cpu` (cores) and `memory`"),
]


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(complete(values), path, expected, fix)


def test_a_standard_cluster_has_no_count() -> None:
    problem = only_problem(changed(slices=[{**TUTORIAL["slices"][0], "count": 3}]))
    assert (problem.path, problem.fix) == ("slices[0].count", "remove the key, or write cluster.mode: autopilot")
    problem = only_problem(changed(slices=slices()))
    assert problem.path == "slices[0].count"
    assert "list one name for each in `pools`" in problem.fix


@pytest.mark.parametrize("pools", [None, []])
def test_a_standard_cluster_has_pools(pools: list[str] | None) -> None:
    problem = only_problem(changed(slices=slices(count=None, pools=pools)))
    assert problem.path == "slices[0].pools"


def test_all_that_does_not_go_with_autopilot_is_said_at_once() -> None:
    job = {"name": "j", "slices": 1, "privileged": True}
    values = changed(cluster=cluster(defaultPool={}), location="us-west4-a", workloads=[job])
    assert [problem.path for problem in problems_in(values)] == [
        "location", "cluster.defaultPool", "slices[0].pools", "workloads[0].privileged",
    ]  # fmt: skip
