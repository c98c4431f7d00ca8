"""Capacity that a generation cannot be had in: refused with who says so, and with the kind that comes nearest."""

from __future__ import annotations

from typing import Any

import pytest

from settings.catalogue.accelerators import MACHINE_TYPES
from settings.catalogue.availability import OFFERS
from settings.catalogue.capacity import CAPACITIES
from settings.load import plan_from
from tests.support.generations import slices_of
from tests.support.platforms import AUTOPILOT, TUTORIAL, as_config, changed
from tests.support.problems import NOWHERE, each, is_the_only_problem, problems_in

pytestmark = pytest.mark.unit

MADE = {
    "v3": ("ct3p-hightpu-4t", "4x4", "us-east1-d"),
    "v4": ("ct4p-hightpu-4t", "2x2x2", "us-central2-b"),
    "v5e": ("ct5lp-hightpu-4t", "2x4", "us-west4-a"),
    "v5p": ("ct5p-hightpu-4t", "2x2x2", "us-east5-a"),
    "v6e": ("ct6e-standard-4t", "2x4", "us-east5-b"),
    "7x": ("tpu7x-standard-4t", "2x2x2", "us-central1-c"),
}
"""A slice of two hosts of each generation, and where it can be had."""


def values(generation: str, kind: str, **more: Any) -> dict[str, Any]:
    machine, topology, zone = MADE[generation]
    section = slices_of("tpu", machine, topology, zone, capacity=kind)
    reservation = {"reservation": "mine"} if kind == "reservation" else {}
    return {
        **changed(location=zone[:-2], slices=[{**section, **reservation}], workloads=[]),
        "tpuZones": {machine.split("-")[0]: [zone]},
        **more,
    }


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("flex-start of v4", values("v4", "flex-start"), "slices[0].capacity", "one of on-demand, reservation, spot: TPU v4 is not offered as flex-start (Google's page on flex-start lends v5e and v6e", "write on-demand; if Google has added it, state `tpuCapacity: {v4: [flex-start]}`"),
    ("flex-start of v5p", values("v5p", "flex-start"), "slices[0].capacity", "TPU v5p is not offered as flex-start", "write on-demand"),
    ("queued v5p", values("v5p", "queued"), "slices[0].capacity", "queued provisioning lends flex-start capacity", "write on-demand"),
    ("queued v4", values("v4", "queued"), "slices[0].capacity", "TPU v4 is not offered as queued", "write on-demand"),
    ("queued v5e", values("v5e", "queued"), "slices[0].capacity", "TPU v5e is nowhere said to be offered as queued (no page names v5e", "write flex-start; if Google has added it, state `tpuCapacity: {v5e: [queued]}`"),
    ("queued v3", values("v3", "queued"), "slices[0].capacity", "TPU v3 is not offered as queued", "write on-demand"),
    ("queued on Autopilot, of a generation that has none", {**TUTORIAL, **AUTOPILOT, "slices": [{**AUTOPILOT["slices"][0], "capacity": "queued"}], "workloads": []}, "slices[0].capacity", "node pools, which Autopilot manages itself", "write flex-start"),
    ("capacity added to no generation", changed(tpuCapacity={"v6": ["spot"]}), "tpuCapacity.v6", "a generation of chips: v3, v4, v5e, v5p, v6e, 7x", "write v6e"),
    ("no such capacity added", changed(tpuCapacity={"v5p": ["dws"]}), "tpuCapacity.v5p[0]", "one of on-demand, reservation, spot, flex-start, queued", "write"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


@pytest.mark.parametrize(("generation", "kind"), [(g, kind) for g in MADE for kind in CAPACITIES])
def test_every_generation_has_a_word_about_every_kind_and_is_planned_or_refused_by_it(generation, kind) -> None:
    offer = OFFERS[generation][kind]
    assert len(offer.source) > 20
    if offer.there:
        assert plan_from(as_config(values(generation, kind)), NOWHERE).pools[0].capacity.kind == kind
    else:
        assert [problem.path for problem in problems_in(values(generation, kind))] == ["slices[0].capacity"]
        added = values(generation, kind, tpuCapacity={generation: [kind]})
        assert plan_from(as_config(added), NOWHERE).pools[0].capacity.kind == kind


def test_no_generation_of_the_catalogue_is_left_out() -> None:
    assert set(OFFERS) == {machine.generation for machine in MACHINE_TYPES.values()}
