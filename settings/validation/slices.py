"""Slices: each a row of the catalogue in a shape that it makes, with a quota that can be used, under names of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.catalogue.accelerators import MACHINE_TYPES, SliceShape, nearest_topology
from settings.plan.queues import DEFAULT_POOL
from settings.plan.slices import count_of, machine_of, shape_of
from settings.schema.stack import Settings, SliceSection
from settings.validation.lists import distinct, places
from settings.validation.problem import Problem, Unsound, did_you_mean, listed, nearest, rule


@rule
def check(settings: Settings) -> Iterator[Problem]:
    entries = distinct(settings.slices)
    for index, section in entries:
        path = f"slices[{index}]"
        yield from _quota(path, section)
    yield from _alike(entries)
    yield from _pool_names(entries)


def shapes(settings: Settings) -> Iterator[Problem]:
    for index, section in distinct(settings.slices):
        yield from _machine(f"slices[{index}]", section)
        yield from _topology(f"slices[{index}]", section)


@rule
def _machine(path: str, section: SliceSection) -> Iterator[Problem]:
    if machine_of(section) is None:
        expected = f"a TPU machine type of the catalogue: {', '.join(MACHINE_TYPES)}"
        yield Problem(f"{path}.machineType", section.machine_type, expected, _machine_remedy(section))


def _machine_remedy(section: SliceSection) -> str:
    """A machine type of the written family that makes the written topology, first one that does so of several hosts: a
    slice of one host is another thing than the written name, which may be as near."""
    families = dict.fromkeys(machine.family for machine in MACHINE_TYPES.values())
    family = nearest(section.machine_type.split("-", 1)[0], families)
    relatives = [machine for machine in MACHINE_TYPES.values() if machine.family == family]
    try:
        shapes = [SliceShape(m, section.topology) for m in relatives if section.topology in m.topologies()]
    except Unsound:
        shapes = []
    if not shapes:
        names = [machine.name for machine in relatives]
        others = f"write one of {', '.join(names if names else MACHINE_TYPES)}"
        return did_you_mean(section.machine_type, names, others)
    shapes.sort(key=lambda shape: -shape.hosts)
    hosts = [f"{s.machine.name} ({s.topology} on {s.hosts} host{'s' if s.hosts > 1 else ''})" for s in shapes]
    return f"write {', or '.join(hosts)}"


@rule
def _topology(path: str, section: SliceSection) -> Iterator[Problem]:
    machine = machine_of(section)
    if machine is None or section.topology in machine.topologies():
        return
    fix = f"write {nearest_topology(machine, _as_topology(section.topology))}"
    makers = _makers(section.topology, machine.family)
    if makers:
        fix += f", or keep the topology with machine type {' or '.join(makers)}"
    expected = f"a topology that {machine.name} makes: {listed(machine.topologies())}"
    yield Problem(f"{path}.topology", section.topology, expected, fix)


def _makers(topology: str, family: str) -> list[str]:
    return [m.name for m in MACHINE_TYPES.values() if m.family == family and topology in m.topologies()]


def _as_topology(text: str) -> str:
    """`2X4`, `2 * 4` -> 2x4."""
    return re.sub(r"[^0-9]+", "x", text.strip())


@rule
def _quota(path: str, section: SliceSection) -> Iterator[Problem]:
    shape, machine, quota = shape_of(section), machine_of(section), section.quota
    if quota is None or machine is None:
        return
    if shape is None:
        if quota < machine.chips:
            expected = f"at least one slice, which has {machine.chips} chips or more"
            yield Problem(
                f"{path}.quota", quota, expected, "leave the key out for all chips, or write those of whole slices"
            )
        return
    if quota < shape.chips:
        expected = f"at least one slice, {shape.chips} chips: below it no job is ever admitted"
        yield Problem(f"{path}.quota", quota, expected, f"write {shape.chips}, or leave the key out for all chips")
        return
    slices = count_of(section)
    capacity = shape.chips * slices
    if quota > capacity:
        holders = "pools" if section.pools else "slices"
        expected = f"at most what {slices} {holders} have, {capacity} chips: jobs above it wait for nodes for ever"
        yield Problem(f"{path}.quota", quota, expected, f"write {capacity}, or leave the key out")
    elif quota % shape.chips != 0:
        less = quota // shape.chips * shape.chips
        expected = f"whole slices, multiples of {shape.chips} chips"
        yield Problem(f"{path}.quota", quota, expected, f"write {less} or {less + shape.chips}")


def _alike(entries: list[tuple[int, SliceSection]]) -> Iterator[Problem]:
    seen: dict[tuple[SliceShape, str, str, str | None], int] = {}
    for index, section in entries:
        yield from _alike_one(index, section, seen)


@rule
def _alike_one(
    index: int, section: SliceSection, seen: dict[tuple[SliceShape, str, str, str | None], int]
) -> Iterator[Problem]:
    shape = shape_of(section)
    if shape is None:
        return
    key = (shape, section.capacity, section.zone, section.reservation)
    if key in seen:
        yield Problem(
            f"slices[{index}].topology",
            section.topology,
            f"another shape, capacity or zone than slices[{seen[key]}]: alike, they are one flavor with more pools",
            f"move these pools into slices[{seen[key]}].pools" if section.pools else f"raise slices[{seen[key]}].count",
        )
    seen.setdefault(key, index)


def _pool_names(entries: list[tuple[int, SliceSection]]) -> Iterator[Problem]:
    seen = {DEFAULT_POOL: "the pool for system pods"}
    for path, pools in places("slices[{}].pools", entries, "pools"):
        for j, name in enumerate(pools):
            if name in seen:
                expected = f"a pool name of its own: it is also {seen[name]}"
                yield Problem(f"{path}[{j}]", name, expected, "give it another name")
            seen.setdefault(name, f"{path}[{j}]")
