"""From a section of the stack file to a row of the catalogue and a shape, where they exist."""

from __future__ import annotations

from settings.accelerators import MACHINE_TYPES, MachineType, SliceShape
from settings.model import SliceSection


def machine_of(section: SliceSection) -> MachineType | None:
    return MACHINE_TYPES.get(section.machine_type)


def shape_of(section: SliceSection) -> SliceShape | None:
    """The shape a section describes, or None when machine type and topology do not fit (a rule says so)."""
    machine = machine_of(section)
    if machine is None or section.topology not in machine.topologies():
        return None
    return SliceShape(machine, section.topology)
