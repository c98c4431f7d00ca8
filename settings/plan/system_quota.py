"""How the nodes for system pods are given out to jobs' pods that need no chips: Ray's heads and submitters."""

from __future__ import annotations

from settings.plan.slices import system_zones
from settings.plan.system_nodes import Room, pool_room
from settings.schema.field_types import mebibytes
from settings.schema.stack import CpuFlavorSection, QueueSection, Settings
from settings.schema.teams import RoomSection, TeamSection

CPU_FLAVOR = str(CpuFlavorSection.model_fields["flavor"].default)


def cpu_flavor_name(settings: Settings) -> str:
    """Of those nodes, whoever gives them out: a queue may name it."""
    return next((queue.cpu.flavor for queue in settings.queues if queue.cpu is not None), CPU_FLAVOR)


def cpu_part(own: RoomSection, settings: Settings) -> Room:
    """What a queue's or a team's jobs may use of those nodes: what it states, or an equal part of what is left to those
    who state nothing, in whole cores and GiB. Nothing of machines whose size is not known (a rule asks for a statement)."""
    room = pool_room(settings.cluster.default_pool, len(system_zones(settings)))
    there = room if room is not None else Room(0, 0)
    owners: list[QueueSection | TeamSection] = [*settings.queues, *settings.teams]
    parts = [owner.cpu for owner in owners if owner.cpu is not None]
    millicores = own.cpu * 1000 if own.cpu is not None else _millicores_left(there, parts)
    return Room(millicores, mebibytes(own.memory) if own.memory is not None else _mib_left(there, parts))


def _millicores_left(there: Room, parts: list[RoomSection]) -> int:
    stated = [part.cpu * 1000 for part in parts if part.cpu is not None]
    return _share(there.millicores - sum(stated), len(parts) - len(stated), 1000)


def _mib_left(there: Room, parts: list[RoomSection]) -> int:
    stated = [mebibytes(part.memory) for part in parts if part.memory is not None]
    return _share(there.mib - sum(stated), len(parts) - len(stated), 1024)


def _share(left: int, among: int, unit: int) -> int:
    return max(0, left // among // unit * unit)
