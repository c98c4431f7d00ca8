"""Kinds of capacity that a generation of TPUs can be had in, and what a stack adds to them."""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.availability import OFFERS, kinds_of, nearest_kind
from settings.catalogue.capacity import CAPACITIES
from settings.plan.slices import is_autopilot
from settings.schema.stack import Settings, SliceSection
from settings.validation.problem import Problem, did_you_mean


def check(settings: Settings) -> Iterator[Problem]:
    for index, section in enumerate(settings.slices):
        yield from _offered(f"slices[{index}].capacity", section, settings)
    for generation in settings.tpu_capacity:
        if generation not in OFFERS:
            expected = f"a generation of chips: {', '.join(OFFERS)}"
            yield Problem(
                f"tpuCapacity.{generation}", generation, expected, did_you_mean(generation, OFFERS, "remove the key")
            )


def _offered(path: str, section: SliceSection, settings: Settings) -> Iterator[Problem]:
    kind, generation = section.capacity, section.shape.machine.generation
    there = kinds_of(generation, settings.tpu_capacity)
    if kind in there or (CAPACITIES[kind].queued and is_autopilot(settings)):  # queued is no kind of Autopilot's at all
        return
    offer = OFFERS[generation][kind]
    known = "is not offered as" if offer.there is False else "is nowhere said to be offered as"
    near = nearest_kind(kind, there)
    expected = f"one of {', '.join(there)}: TPU {generation} {known} {kind} ({offer.source})"
    added = f"if Google has added it, state `tpuCapacity: {{{generation}: [{kind}]}}`"
    yield Problem(path, kind, expected, f"write {near}; {added}")
