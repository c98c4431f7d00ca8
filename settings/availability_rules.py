"""Kinds of capacity that a generation of TPUs can be had in, and what a stack adds to them."""

from __future__ import annotations

from collections.abc import Iterator

from settings.availability import OFFERS, kinds_of, nearest_kind
from settings.capacity import CAPACITIES
from settings.copies import distinct
from settings.faults import Fault, did_you_mean, rule
from settings.model import Settings, SliceSection
from settings.shapes import is_autopilot, sound_shape


@rule
def check(settings: Settings) -> Iterator[Fault]:
    for index, section in distinct(settings.slices):
        yield from _offered(f"slices[{index}].capacity", section, settings)
    for generation in settings.tpu_capacity:
        if generation not in OFFERS:
            wanted = f"a generation of chips: {', '.join(OFFERS)}"
            yield Fault(
                f"tpuCapacity.{generation}", generation, wanted, did_you_mean(generation, OFFERS, "remove the key")
            )


@rule
def _offered(path: str, section: SliceSection, settings: Settings) -> Iterator[Fault]:
    kind, generation = section.capacity, sound_shape(section).machine.generation
    there = kinds_of(generation, settings.tpu_capacity)
    if kind in there or (CAPACITIES[kind].queued and is_autopilot(settings)):  # queued is no kind of Autopilot's at all
        return
    offer = OFFERS[generation][kind]
    known = "is not offered as" if offer.there is False else "is nowhere said to be offered as"
    near = nearest_kind(kind, there)
    wanted = f"one of {', '.join(there)}: TPU {generation} {known} {kind} ({offer.source})"
    added = f"if Google has added it, state `tpuCapacity: {{{generation}: [{kind}]}}`"
    yield Fault(path, kind, wanted, f"write {near}; {added}")
