"""The changes of docs/changes.md, made to a stack that is up: the engine's own preview says what the document says."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.conftest import HERE, Checkout

sys.path.append(str(HERE / "tests" / "unit"))

from tests.support.documents import CHANGES, DEV, Change, Step, steps_of

pytestmark = pytest.mark.rehearsal

STACK = "Pulumi.local.yaml"


@pytest.fixture(scope="module")
def platform(fresh: Callable[..., Checkout]) -> Checkout:
    """The local stack without its jobs, which no change here is about, up and still."""
    checkout = fresh("changes")
    path = checkout.folder / STACK
    path.write_text(without_jobs(path.read_text()))
    checkout.make("rehearsal")
    checkout.make("pulumi", "ARGS=stack init", check=False)
    checkout.pulumi("up", "--yes", "--skip-preview")
    return checkout


def without_jobs(content: str) -> str:
    head, rest = content.split("  tpu-platform:workloads:\n")
    return f"{head}  tpu-platform:charts:\n{rest.split('  tpu-platform:charts:', 1)[1].lstrip(chr(10))}"


def previewed(checkout: Checkout) -> list[Step]:
    return sorted(
        Step(step["op"], step["newState"]["type"], step["urn"].split("::", 3)[3])
        for step in checkout.steps()
        if step["op"] != "same"
    )


def test_the_stack_is_still(platform: Checkout) -> None:
    assert previewed(platform) == []


@pytest.mark.parametrize("change", [c for c in CHANGES if c.file == DEV], ids=lambda change: change.title)
def test_the_engine_previews_what_the_document_says(platform: Checkout, change: Change) -> None:
    path: Path = platform.folder / STACK
    before = path.read_text()
    documented = steps_of(change)
    path.write_text(change.of(before))
    try:
        assert previewed(platform) == documented
    finally:
        path.write_text(before)
