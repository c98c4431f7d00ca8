"""The loop that waits for a condition."""

from __future__ import annotations

import pytest

from rehearsal.wait import wait_until

pytestmark = pytest.mark.unit


def test_it_returns_once_the_condition_holds() -> None:
    answers = iter([False, None, "ready"])
    wait_until("a thing", 5.0, lambda: next(answers), pause=0.0)
    assert next(answers, "all used") == "all used"


def test_a_condition_that_never_holds_is_named() -> None:
    with pytest.raises(TimeoutError, match="a thing: not within 0 s"):
        wait_until("a thing", 0.0, lambda: False, pause=0.001)


def test_a_condition_that_holds_at_once_needs_no_time() -> None:
    wait_until("a thing", -1.0, lambda: True)
