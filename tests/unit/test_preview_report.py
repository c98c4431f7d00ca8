"""What a preview says of resources: which there are, and which differ from another revision's."""

from __future__ import annotations

from typing import Any

import pytest

from operations.preview_report import change_lines, difference_lines

pytestmark = pytest.mark.unit

POOL = "tpu-platform:pool:SlicePool$gcp:container/nodePool:NodePool"


def step(name: str, kind: str = POOL, **inputs: Any) -> dict[str, Any]:
    return {"op": "create", "urn": f"urn:pulumi:a::p::{kind}::{name}", "newState": {"inputs": inputs}}


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
    lines = [" ".join(line.split()) for line in change_lines(steps)]
    assert lines == [
        "create: 5 resources",
        "5 gcp:container/nodePool:NodePool a, b, c, d, ...",
        "delete: 1 resources",
        "1 gcp:compute/network:Network old",
    ]


def test_two_previews_differ_by_what_comes_goes_and_changes() -> None:
    before = [step("stays", a=1), step("goes"), step("other", a=1, b=2, c=3)]
    after = [step("stays", a=1), step("comes"), step("other", a=1, b=0, d=4)]
    assert words(difference_lines(before, after)) == [
        "create gcp:container/nodePool:NodePool comes",
        "change gcp:container/nodePool:NodePool other: b, c, d",
        "delete gcp:container/nodePool:NodePool goes",
    ]


def test_how_the_program_is_built_is_no_difference() -> None:
    component = step("a", "tpu-platform:pool:SlicePool")
    assert words(difference_lines([step("b")], [step("b"), component])) == ["no difference"]
