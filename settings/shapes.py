"""From a section of the stack file to a row of the catalogue and a shape, where they exist."""

from __future__ import annotations

from settings.accelerators import MACHINE_TYPES, MachineType, SliceShape
from settings.model import Settings, SliceSection


def machine_of(section: SliceSection) -> MachineType | None:
    return MACHINE_TYPES.get(section.machine_type)


def shape_of(section: SliceSection) -> SliceShape | None:
    """The shape a section describes, or None when machine type and topology do not fit (a rule says so)."""
    machine = machine_of(section)
    if machine is None or section.topology not in machine.topologies():
        return None
    return SliceShape(machine, section.topology)


def certain_shape(section: SliceSection) -> SliceShape:
    """The shape of a section that has passed the rules."""
    shape = shape_of(section)
    if shape is None:
        raise AssertionError(f"{section.machine_type} {section.topology} passed the rules but has no shape")
    return shape


def system_zones(settings: Settings) -> tuple[str, ...]:
    """Where the nodes for system pods stand: where the stack says, or beside the slices."""
    stated = settings.cluster.default_pool.zones
    return tuple(stated) if stated else tuple(dict.fromkeys(section.zone for section in settings.slices))
