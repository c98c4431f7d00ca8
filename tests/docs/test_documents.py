"""The documents made from the program are current, and say what the issue of a change is: no other pool is touched."""

from __future__ import annotations

import pytest

from tests.support.documents import CHANGES, DOCUMENTS, ROOT, Change, steps_of

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_document_is_what_the_program_gives(path: str) -> None:
    assert (ROOT / path).read_text() == DOCUMENTS[path](), "run `make docs`"


def test_a_hundred_mistakes_and_more_are_in_the_table() -> None:
    rows = [line for line in (ROOT / "docs/bad-inputs.md").read_text().splitlines() if line.startswith("| ")]
    headings = sum(line == "| mistake | key | got | wanted | fix |" for line in rows)
    assert len(rows) - headings >= 100


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.title)
def test_a_change_of_a_few_lines_replaces_and_removes_nothing(change: Change) -> None:
    before, after = change.before.splitlines(), change.after.splitlines()
    assert len([line for line in after if line not in before]) <= 5
    steps = steps_of(change)
    assert {step.operation for step in steps} <= {"create", "update"}
    kept = ("gcp:container/nodePool:NodePool", "gcp:container/cluster:Cluster")
    assert {step.operation for step in steps if step.type in kept} <= {"create"}


def test_a_replacement_is_told_from_an_update() -> None:
    """The machine type is what the program itself says to replace a pool for."""
    steps = steps_of(Change("", "", "topology: 2x4\n", "topology: 4x4\n"))
    pools = {step.name: step.operation for step in steps if step.type.endswith(":NodePool")}
    assert pools == {f"nodepool{n}-pool": "replace" for n in (1, 2, 3)}
