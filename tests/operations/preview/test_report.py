"""What a preview says of resources: which there are, and which differ from another revision's."""

from __future__ import annotations

import re
from typing import Any

import pytest

from operations.preview.comparison import Comparison, ResourceChange
from operations.preview.report import change_lines, comparison_lines, cost_lines, report
from policies.steps import steps_of
from settings.plan.cost import cost_of
from tests.support.platforms import TUTORIAL, plan_with

pytestmark = pytest.mark.unit

POOL = "gcp:container/nodePool:NodePool"


def words(lines: Any) -> list[str]:
    return [" ".join(line.split()) for line in lines]


def test_changes_are_counted_by_what_google_and_the_cluster_get() -> None:
    steps = [
        {"op": "create", "urn": "urn:pulumi:a::p::pulumi:pulumi:Stack::p-a"},
        {"op": "create", "urn": "urn:pulumi:a::p::tpu-platform:pool:SlicePool::one"},
        *(
            {
                "op": "create",
                "urn": f"urn:pulumi:a::p::tpu-platform:pool:SlicePool$gcp:container/nodePool:NodePool::{n}",
            }
            for n in ("e::x", "d", "c", "b", "a")
        ),
        {"op": "delete", "urn": "urn:pulumi:a::p::gcp:compute/network:Network::old"},
    ]
    lines = [" ".join(line.split()) for line in change_lines(steps_of({"steps": steps}))]
    assert lines == [
        "create: 5 resources",
        "5 gcp:container/nodePool:NodePool a, b, c, d, ...",
        "delete: 1 resources",
        "1 gcp:compute/network:Network old",
    ]


def test_the_report_says_what_it_starts_from() -> None:
    ours, theirs = plan_with(), plan_with(cluster={**TUTORIAL["cluster"], "existing": True})
    assert "of an empty project" in report("dev", ours, {"steps": []}, [])[0]
    assert "of an existing cluster" in report("dev", theirs, {"steps": []}, [])[0]


def test_what_is_destroyed_stands_first() -> None:
    found = (
        ResourceChange("replace", POOL, "other", ("nodeConfig.machineType",)),
        ResourceChange("delete", POOL, "goes"),
        ResourceChange("create", POOL, "comes"),
        ResourceChange("update", POOL, "grows", ("nodeCount",)),
    )
    assert words(comparison_lines(Comparison("main", found))) == [
        "replace gcp:container/nodePool:NodePool other: nodeConfig.machineType",
        "delete gcp:container/nodePool:NodePool goes",
        "create gcp:container/nodePool:NodePool comes",
        "update gcp:container/nodePool:NodePool grows: nodeCount",
    ]
    assert words(comparison_lines(Comparison("main"))) == ["no difference"]
    assert words(comparison_lines(Comparison("main", why="there is no prod yet"))) == ["there is no prod yet"]


def test_cost_is_told_before_and_after() -> None:
    jobs = [{"name": "stays", "slices": 1}, {"name": "goes", "slices": 2}]
    before = cost_of(plan_with(workloads=jobs))
    pools = [*TUTORIAL["slices"][0]["pools"], "nodepool4"]
    slices = [{**TUTORIAL["slices"][0], "pools": pools}]
    after = cost_of(plan_with(slices=slices, workloads=[jobs[0], {"name": "comes", "slices": 4}]))
    rows = [re.split(r" {2,}", line.strip()) for line in cost_lines(after, before)]
    assert rows[0] == ["chips", "hosts", "chip-hours", "USD"]
    assert rows[1:6] == [
        ["at minimum, a day", "24 -> 32", "6 -> 8", "576 -> 768", "-"],
        ["at full scale, a day", "24 -> 32", "6 -> 8", "576 -> 768", "-"],
        ["stays, an hour", "8", "2", "8", "-"],
        ["comes, an hour (new)", "32", "8", "32", "-"],
        ["goes, an hour (gone)", "16", "4", "16", "-"],
    ]


def test_cost_without_an_earlier_one_has_no_arrows() -> None:
    cost = cost_of(plan_with())
    assert not [line for line in cost_lines(cost) if "->" in line]
    assert list(cost_lines(cost, cost)) == list(cost_lines(cost))
