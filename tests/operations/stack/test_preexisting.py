"""What was there before the stack is told from what the stack left."""

from __future__ import annotations

import pytest

from operations.stack.down import report
from operations.stack.preexisting import beyond

pytestmark = pytest.mark.unit

GIVEN = {"networks": ["theirs"], "clusters": []}
FOUND = {"networks": ["theirs", "ours"], "clusters": ["c"], "routers": []}


def test_what_was_given_is_not_left() -> None:
    assert beyond(FOUND, GIVEN) == {"networks": ["ours"], "clusters": ["c"], "routers": []}
    assert beyond(FOUND, {}) == FOUND


def test_only_what_the_stack_left_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert report({"networks": []}, [], {"networks": ["theirs"]}) == 0
    assert "theirs" in capsys.readouterr().out
    assert report({"networks": ["ours"]}, [], {"networks": []}) == 1
