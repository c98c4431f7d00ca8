"""What a preview says on a pull request, as files beside this one; and that nothing in it can grow or break out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.preview.comment import LONGEST, comment
from operations.preview.comparison import Comparison, ResourceChange
from policies.check import Report, Violation

pytestmark = pytest.mark.golden

POOL, CLUSTER, QUEUE = (
    "gcp:container/nodePool:NodePool",
    "gcp:container/cluster:Cluster",
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
)
COST = [
    "                      chips  hosts  chip-hours  USD",
    "at minimum, a day        48     12        1152    -",
    "no price for v6e spot: state what your contract says in tpu-platform:prices",
]
HOLDS = Report("prod", 61, ("images-pinned", "pool-in-one-zone"), (), ())
ZONES = Violation(
    "pool-in-one-zone", "mandatory", "a-pool", "a TPU pool in 2 zones (a, b)", "state one zone in nodeLocations"
)
LABELS = Violation("labelled-for-cost", "advisory", "cluster", "it has no label team", "add it under labels")
LATER = Violation("images-pinned", "mandatory", "job", "the image of container main is not known yet", "state it")


def step(op: str, kind: str, name: str, **further: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:prod::tpu-platform::tpu-platform:x:Part${kind}::{name}"
    state = {"urn": urn, "type": kind, "custom": not kind.startswith("tpu-platform:")}
    states = {"oldState": state} if op.startswith("delete") else {"newState": state}
    return {"op": op, "urn": urn, **states, **further}


def replacement(name: str, *reasons: str) -> list[dict[str, Any]]:
    """As the engine shows it with `--show-replacement-steps`."""
    return [
        step("delete-replaced", POOL, name),
        step("replace", POOL, name, replaceReasons=list(reasons)),
        step("create-replacement", POOL, name, detailedDiff={reason: {"kind": "update-replace"} for reason in reasons}),
    ]


def preview(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"steps": list(steps)}


NOTHING = preview(step("same", POOL, "pool-1"), step("same", "pulumi:pulumi:Stack", "tpu-platform-prod"))
EVERYTHING = preview(
    step("same", "pulumi:pulumi:Stack", "tpu-platform-prod"),
    step("create", "tpu-platform:pool:SlicePool", "pool-4"),
    step("create", "pulumi:providers:gcp", "google"),
    step("create", POOL, "pool-4-pool"),
    step("update", CLUSTER, "cluster", detailedDiff={"resourceLabels.team": {"kind": "add"}}),
    step("update", QUEUE, "queue-training"),
    *replacement("pool-1-pool", "nodeConfig.machineType", "placementPolicy"),
    step(
        "replace",
        POOL,
        "pool-2-pool",
        replaceReasons=["location"],
        detailedDiff={"location": {"kind": "update-replace"}},
    ),
    step("delete", QUEUE, "queue-evaluation"),
    step("read", CLUSTER, "somebody-elses"),
)


def test_nothing_changes(golden: Any) -> None:
    golden.check_text("comment-nothing.md", comment("prod", NOTHING, COST, HOLDS))


def test_everything_at_once(golden: Any) -> None:
    broken = replace(HOLDS, violations=(ZONES, LABELS), undecided=(LATER,))
    golden.check_text("comment-everything.md", comment("prod", EVERYTHING, COST, broken))


def test_another_revision_is_compared_with(golden: Any) -> None:
    found = (
        ResourceChange("replace", POOL, "pool-1-pool", ("nodeConfig.machineType",)),
        ResourceChange("delete", QUEUE, "queue-evaluation"),
        ResourceChange("create", POOL, "pool-4-pool"),
        ResourceChange("update", QUEUE, "queue-training", ("spec",)),
    )
    cost = ["                          chips  hosts", "at minimum, a day      48 -> 64  12 -> 16"]
    created = preview(step("create", POOL, "pool-1-pool"), step("create", QUEUE, "queue-training"))
    golden.check_text("comment-against.md", comment("prod", created, cost, HOLDS, Comparison("HEAD^1", found)))


def test_a_revision_without_the_environment_is_said_to_have_none(golden: Any) -> None:
    against = Comparison("HEAD^1", why="there is no prod yet")
    created = preview(step("create", POOL, "pool-1-pool"))
    golden.check_text("comment-first.md", comment("prod", created, COST, HOLDS, against))


def test_advice_alone_breaks_nothing(golden: Any) -> None:
    golden.check_text("comment-advice.md", comment("prod", NOTHING, COST, replace(HOLDS, violations=(LABELS,))))


def test_names_and_messages_stay_what_they_are(golden: Any) -> None:
    """A branch may name things as it likes: no mention, no link, no table, no closed fence comes of it."""
    nasty = "a|b` @everyone [x](http://example.invalid)\n```\n# heading <b>"
    steps = preview(step("create", nasty, nasty), step("delete", POOL, nasty))
    said = replace(HOLDS, violations=(replace(ZONES, resource=nasty, message=nasty),))
    golden.check_text("comment-nasty.md", comment(nasty, steps, [nasty], said))


def test_what_is_destroyed_is_said_even_where_everything_is_too_long() -> None:
    reasons = ["|" * 300 + str(i) for i in range(9)]
    steps = [
        step(op, f"{op}:{i % 300}:{'|' * 300}", f"{i}-{'|' * 300}", replaceReasons=reasons)
        for i in range(2000)
        for op in ("create", "replace", "delete")
    ]
    many = replace(HOLDS, violations=(replace(ZONES, message="m" * 1000),) * 500)
    text = comment("prod", preview(*steps), ["c" * 1000] * 1000, many)
    assert len(text) <= LONGEST
    assert "2000 to delete (destroyed):" in text
    assert "> - and 1970 more" in text
    assert "policies: 500 broken" in text.splitlines()[0]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["create", "update", "replace", "delete", "same"]), st.text(), st.text()), max_size=30
    ),
    st.lists(st.text(), max_size=20),
    st.text(),
)
def test_any_names_make_a_comment_that_github_takes(
    found: list[tuple[str, str, str]], cost: list[str], message: str
) -> None:
    steps = preview(*(step(op, kind, name) for op, kind, name in found))
    text = comment("prod", steps, cost, replace(HOLDS, violations=(replace(ZONES, message=message),)))
    assert len(text) <= LONGEST
    assert text.startswith("### `prod`: ")
