"""Chips, chip-hours and money: what is counted, and what is not known."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from operations.preview.report import cost_lines
from settings.plan.cost import Amount, Cost, Kind, cost_of
from stack.outputs import cost_output
from tests.support.platforms import TUTORIAL, both, plan_with, with_slice

pytestmark = pytest.mark.unit

PRICES = {
    "currency": "EUR",
    "chipHour": {"v5e": {"on-demand": 1.2}, "v6e": {"on-demand": 2.7, "queued": 0.1}},
}


def cost(**changes: Any) -> Cost:
    return cost_of(plan_with(**both(**changes)))


def test_without_prices_only_chips_and_hosts_are_known() -> None:
    found = cost()
    assert found.minimum == Amount(chips=24, hosts=6, hourly=None)
    assert found.full == Amount(chips=56, hosts=14, hourly=None)
    assert [str(kind) for kind in found.unpriced] == ["v5e on-demand", "v6e on-demand", "v6e queued"]
    assert all(job.least is None and job.most is None for job in found.jobs)


def test_amounts_are_chips_times_prices_to_the_digit() -> None:
    found = cost(prices=PRICES)
    assert found.currency == "EUR"
    assert found.minimum.hourly == Decimal("28.8")
    assert found.full.hourly == Decimal("28.8") + 16 * Decimal("2.7") + 16 * Decimal("0.1")
    assert found.unpriced == ()


def test_a_pool_that_is_empty_needs_no_price_and_a_full_one_does() -> None:
    found = cost(prices={"chipHour": {"v5e": {"on-demand": 1}}})
    assert found.minimum.hourly == 24
    assert found.full.hourly is None
    assert found.unpriced == (Kind("v6e", "on-demand"), Kind("v6e", "queued"))


def test_a_price_of_nothing_is_a_price() -> None:
    found = cost(prices={"chipHour": {"v5e": {"on-demand": 0}, "v6e": {"on-demand": 0, "queued": 0}}})
    assert (found.minimum.hourly, found.full.hourly, found.unpriced) == (0, 0, ())


def test_a_job_costs_what_its_kind_costs_and_a_ray_job_what_any_of_its_queue_may() -> None:
    jobs = {job.name: job for job in cost(prices=PRICES).jobs}
    three, ray = jobs["multislice-3slice"], jobs["ray-1"]
    assert (three.chips, three.hosts, three.least, three.most) == (24, 6, Decimal("28.8"), Decimal("28.8"))
    assert (ray.chips, ray.hosts, ray.least, ray.most) == (16, 4, Decimal("1.6"), Decimal("43.2"))
    assert [str(kind) for kind in ray.kinds] == ["v6e on-demand", "v6e queued"]


def test_an_elastic_job_is_counted_at_its_most() -> None:
    slices = with_slice(1, pools=["on-demand-1", "on-demand-2"])
    ray = {"operator": "addon", "jobs": [{"name": "grows", "elastic": True, "maxSlices": 2}]}
    assert next(job for job in cost(slices=slices, ray=ray).jobs if job.name == "grows").chips == 32


def test_lent_nodes_end_a_job_and_others_do_not() -> None:
    slices = with_slice(1, capacity="flex-start", maxRunDuration="24h", autoscaling=None)
    jobs = {job.name: job for job in cost(slices=slices).jobs}
    assert jobs["ray-1"].longest_hours == 168
    assert jobs["multislice-3slice"].longest_hours is None
    assert {job.name: job for job in cost().jobs}["ray-1"].longest_hours is None


def test_the_output_has_money_only_where_it_is_known() -> None:
    bare = cost_output(cost())
    assert bare["at_minimum"] == {"chips": 24, "hosts": 6, "chip_hours_a_day": 576}
    priced = cost_output(cost(prices=PRICES))
    assert priced["at_minimum"] == {
        "chips": 24,
        "hosts": 6,
        "chip_hours_a_day": 576,
        "an_hour": "28.80",
        "a_day": "691.20",
    }
    assert priced["jobs"]["ray-1"] == {
        "chips": 16, "hosts": 4, "chip_hours_an_hour": 16, "an_hour_at_least": "1.60", "an_hour_at_most": "43.20",
    }  # fmt: skip


def test_the_table_shows_no_money_that_is_not_known() -> None:
    rows = [line.split() for line in cost_lines(cost(prices={"chipHour": {"v5e": {"on-demand": 1}}}))]
    assert rows[0] == ["chips", "hosts", "chip-hours", "USD"]
    assert rows[1][4:] == ["24", "6", "576", "576.00"]
    assert rows[2][5:] == ["56", "14", "1344", "-"]


def test_autopilot_has_nothing_while_nothing_runs_and_all_its_slices_at_full_scale() -> None:
    section = {key: value for key, value in TUTORIAL["slices"][0].items() if key != "pools"}
    cost = cost_of(plan_with(cluster={"name": "auto", "mode": "autopilot"}, slices=[{**section, "count": 3}]))
    assert (cost.minimum.chips, cost.full.chips, cost.full.hosts) == (0, 24, 6)
