"""The catalogue as a document: what each machine type makes, where and from which version, and in which kinds of capacity."""

from __future__ import annotations

from typing import get_args

from settings.catalogue.accelerators import MACHINE_TYPES, ZONES, MachineType, minimum_gke
from settings.catalogue.availability import OFFERS, Offer
from settings.catalogue.capacity import CapacityKind

_INTRODUCTION = """What the program knows of TPUs on GKE, as of November 2026. `~` marks what no primary source was found for. Zones
change and capacity is added: state them in `tpuZones` and `tpuCapacity`, which are described in `Pulumi.yaml`."""


def catalogue() -> str:
    rows = [_machine(machine) for machine in MACHINE_TYPES.values()]
    kinds = get_args(CapacityKind)
    return "\n".join([
        "# The catalogue", "", "<!-- Made by `make docs`. Do not edit. -->", "", _INTRODUCTION, "",
        "## Machine types", "",
        "| machine type | TPU | chips | vCPU | GB | one host | several hosts | GKE from |", "|---|---|---|---|---|---|---|---|", *rows, "",
        "Larger slices in three dimensions have sides that are multiples of 4 and do not fall, up to so many cubes of 4x4x4.", "",
        "## Zones", "", "| family | zones |", "|---|---|", *(f"| {family} | {', '.join(zones)} |" for family, zones in ZONES.items()), "",
        "## Kinds of capacity", "",
        f"| TPU | {' | '.join(kinds)} |", f"|---|{'---|' * len(kinds)}",
        *(f"| {generation} | {' | '.join(_word(offers[kind]) for kind in kinds)} |" for generation, offers in OFFERS.items()), "",
        *_sources(), "",
    ])  # fmt: skip


def _machine(machine: MachineType) -> str:
    several = [*machine.multi_host, *([f"up to {machine.max_cubes} cubes"] if machine.max_cubes else [])]
    cells = (
        machine.name, machine.generation, machine.chips, f"{machine.vcpus}{_mark(machine, 'vcpus')}",
        f"{machine.memory_gb}{_mark(machine, 'memory_gb')}", ", ".join(machine.single_host),
        f"{', '.join(several)}{_mark(machine, 'topologies')}", _versions(machine),
    )  # fmt: skip
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _versions(machine: MachineType) -> str:
    """The version that most of its shapes need, and others by shape."""
    usual = minimum_gke(machine, machine.topologies()[-1])
    later = {shape: floor for shape in machine.topologies() if (floor := minimum_gke(machine, shape)) != usual}
    return "; ".join([usual, *(f"{shape} {floor}" for shape, floor in later.items())])


def _mark(machine: MachineType, number: str) -> str:
    return " ~" if number in machine.unverified else ""


def _word(offer: Offer) -> str:
    return {True: "yes", False: "no", None: "no ~"}[offer.there]


def _sources() -> list[str]:
    """What each entry rests on, once."""
    found: dict[str, list[str]] = {}
    for generation, offers in OFFERS.items():
        for kind, offer in offers.items():
            found.setdefault(f"{_word(offer)}: {offer.source}", []).append(f"{generation} {kind}")
    return [f"- {source} ({', '.join(of)})." for source, of in found.items()]
