"""What was there before the stack is told from what the stack left."""

from __future__ import annotations

import pytest

from operations.stack.down import report
from operations.stack.preexisting import beyond

pytestmark = pytest.mark.unit

PREEXISTING = {"networks": ["theirs"], "clusters": []}
FOUND = {"networks": ["theirs", "ours"], "clusters": ["c"], "routers": []}


def test_preexisting_resources_are_not_leftovers() -> None:
    assert beyond(FOUND, PREEXISTING) == {"networks": ["ours"], "clusters": ["c"], "routers": []}
    assert beyond(FOUND, {}) == FOUND


def test_only_what_the_stack_left_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert report({"networks": []}, [], {"networks": ["theirs"]}) == 0
    assert "theirs" in capsys.readouterr().out
    assert report({"networks": ["ours"]}, [], {"networks": []}) == 1
