"""Slices: a machine type of the catalogue that makes the topology, a usable quota, and pool names that are unique."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.catalogue.accelerators import MACHINE_TYPES, MachineType, SliceShape, nearest_topology
from settings.catalogue.labels import DEFAULT_POOL
from settings.plan.slices import count_of
from settings.schema.stack import Settings, SliceSection
from settings.validation.problem import Problem, did_you_mean, listed, nearest


def shapes(settings: Settings) -> Iterator[Problem]:
    """Stage one: machine types that exist and make the topology. After it, every section has a `shape`."""
    for index, section in enumerate(settings.slices):
        machine = MACHINE_TYPES.get(section.machine_type)
        if machine is None:
            yield _unknown_machine(f"slices[{index}].machineType", section)
        elif section.topology not in machine.topologies():
            yield _wrong_topology(f"slices[{index}].topology", section, machine)


def check(settings: Settings) -> Iterator[Problem]:
    for index, section in enumerate(settings.slices):
        yield from _quota(f"slices[{index}].quota", section)
    yield from _alike(settings)
    yield from _pool_names(settings)


def _unknown_machine(path: str, section: SliceSection) -> Problem:
    expected = f"a TPU machine type of the catalogue: {', '.join(MACHINE_TYPES)}"
    return Problem(path, section.machine_type, expected, _machine_instead(section))


def _machine_instead(section: SliceSection) -> str:
    """The fix: a machine type of the same family that makes the topology. Multi-host shapes come first, because a
    single-host slice is rarely what a misspelt multi-host machine type meant."""
    families = dict.fromkeys(machine.family for machine in MACHINE_TYPES.values())
    family = nearest(section.machine_type.split("-", 1)[0], families)
    relatives = [machine for machine in MACHINE_TYPES.values() if machine.family == family]
    shapes = [SliceShape(m, section.topology) for m in relatives if section.topology in m.topologies()]
    if not shapes:
        names = [machine.name for machine in relatives]
        others = f"write one of {', '.join(names if names else MACHINE_TYPES)}"
        return did_you_mean(section.machine_type, names, others)
    shapes.sort(key=lambda shape: -shape.hosts)
    hosts = [f"{s.machine.name} ({s.topology} on {s.hosts} host{'s' if s.hosts > 1 else ''})" for s in shapes]
    return f"write {', or '.join(hosts)}"


def _wrong_topology(path: str, section: SliceSection, machine: MachineType) -> Problem:
    fix = f"write {nearest_topology(machine, _as_topology(section.topology))}"
    makers = _makers(section.topology, machine.family)
    if makers:
        fix += f", or keep the topology with machine type {' or '.join(makers)}"
    expected = f"a topology that {machine.name} makes: {listed(machine.topologies())}"
    return Problem(path, section.topology, expected, fix)


def _makers(topology: str, family: str) -> list[str]:
    return [m.name for m in MACHINE_TYPES.values() if m.family == family and topology in m.topologies()]


def _as_topology(text: str) -> str:
    """`2X4`, `2 * 4` -> 2x4."""
    return re.sub(r"[^0-9]+", "x", text.strip())


def _quota(path: str, section: SliceSection) -> Iterator[Problem]:
    quota, chips, slices = section.quota, section.shape.chips, count_of(section)
    if quota is None:
        return
    if quota < chips:
        expected = f"at least one slice, {chips} chips: with less, no job is ever admitted"
        yield Problem(path, quota, expected, f"write {chips}, or leave the key out for all chips")
    elif quota > chips * slices:
        holders = "pools" if section.pools else "slices"
        expected = (
            f"at most {chips * slices} chips, all that {slices} {holders} have: jobs above it would never get nodes"
        )
        yield Problem(path, quota, expected, f"write {chips * slices}, or leave the key out")
    elif quota % chips != 0:
        less = quota // chips * chips
        yield Problem(path, quota, f"whole slices, multiples of {chips} chips", f"write {less} or {less + chips}")


def _alike(settings: Settings) -> Iterator[Problem]:
    seen: dict[tuple[SliceShape, str, str, str | None], int] = {}
    for index, section in enumerate(settings.slices):
        first = seen.setdefault((section.shape, section.capacity, section.zone, section.reservation), index)
        if first != index:
            expected = (
                f"a different shape, capacity or zone than slices[{first}]: identical slices belong to one flavor"
            )
            more = f"move these pools into slices[{first}].pools" if section.pools else f"raise slices[{first}].count"
            yield Problem(f"slices[{index}].topology", section.topology, expected, more)


def _pool_names(settings: Settings) -> Iterator[Problem]:
    seen = {DEFAULT_POOL: "the pool for system pods"}
    for index, section in enumerate(settings.slices):
        for j, name in enumerate(section.pools):
            path = f"slices[{index}].pools[{j}]"
            if name in seen:
                yield Problem(path, name, f"a unique pool name: {seen[name]} has it too", "give it another name")
            seen.setdefault(name, path)
