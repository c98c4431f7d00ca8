"""Prices that are none, or of nothing that there is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.platforms import changed
from tests.support.problems import only_problem

pytestmark = pytest.mark.unit


def complete(prices: dict[str, Any]) -> dict[str, Any]:
    """A whole file with these prices."""
    return changed(prices=prices)


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("price of a generation of nobody's", {"chipHour": {"v6": {"spot": 1}}}, "prices.chipHour.v6", "a generation of chips", "write v6e"),
    ("price of no kind of capacity", {"chipHour": {"v6e": {"dws": 1}}}, "prices.chipHour.v6e.dws", "a kind of capacity", "remove the key"),
    ("price below zero", {"chipHour": {"v6e": {"spot": -1}}}, "prices.chipHour.v6e.spot", "0 or more", "remove the key"),
    ("price without end", {"chipHour": {"v6e": {"spot": float("nan")}}}, "prices.chipHour.v6e.spot", "0 or more", "remove the key"),
    ("price in quotes", {"chipHour": {"v6e": {"spot": "2.70"}}}, "prices.chipHour.v6e.spot", "a number", "write 2.70, without quotes"),
    ("price that is true", {"chipHour": {"v6e": {"spot": True}}}, "prices.chipHour.v6e.spot", "a number", "write a number like"),
    ("currency by its sign", {"currency": "$"}, "prices.currency", "three letters", "like USD"),
    ("currency in small letters", {"currency": "eur"}, "prices.currency", "three letters", "write EUR"),
    ("price without its kind", {"chipHour": {"v6e": 2.7}}, "prices.chipHour.v6e", "a map of keys to values", "write keys with their values"),
]  # fmt: skip


@pytest.mark.parametrize(("prices", "path", "expected", "fix"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_a_wrong_price_is_one_fault(prices, path, expected, fix) -> None:
    problem = only_problem(complete(prices))
    assert problem.path == path
    assert expected in problem.expected
    assert fix in problem.fix
