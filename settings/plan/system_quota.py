"""How the nodes for system pods are divided among jobs' pods that need no chips: Ray's heads and submitters."""

from __future__ import annotations

from settings.catalogue.accelerators import MACHINE_TYPES
from settings.plan.slices import is_autopilot, system_zones
from settings.plan.system_nodes import MANAGERS, Room, machine_room, managers_on, pool_room, sizes_instead
from settings.schema.field_types import mebibytes
from settings.schema.stack import CpuFlavorSection, QueueSection, Settings
from settings.schema.teams import RoomSection, TeamSection

CPU_FLAVOR = str(CpuFlavorSection.model_fields["flavor"].default)
_TPU_FAMILIES = frozenset(machine.family for machine in MACHINE_TYPES.values())


def cpu_flavor_name(settings: Settings) -> str:
    """The name of the flavor of those nodes: a queue may state it."""
    return next((queue.cpu.flavor for queue in settings.queues if queue.cpu is not None), CPU_FLAVOR)


def nodes_carry_controllers(settings: Settings) -> bool:
    """Whether the nodes for system pods are fit for the controllers. Where they are not, that is the problem, and nothing that
    follows from their size is."""
    pool = settings.cluster.default_pool
    machine = machine_room(pool.machine_type)
    if is_autopilot(settings):
        return True
    if pool.machine_type.split("-", 1)[0] in _TPU_FAMILIES or sizes_instead(pool.machine_type):
        return False
    return machine is None or managers_on(machine) * pool.nodes * len(system_zones(settings)) >= MANAGERS


def job_resources(settings: Settings) -> Room | None:
    """What those nodes have left for jobs' pods. None where it is unknown: on Autopilot, and for a machine of unknown size."""
    return None if is_autopilot(settings) else pool_room(settings.cluster.default_pool, len(system_zones(settings)))


def cpu_quota(own: RoomSection, settings: Settings) -> Room:
    """What a queue's or a team's jobs may use of those nodes: what it states, or an equal part of what is left to those
    that state nothing, in whole cores and GiB. Nothing for machines of unknown size (a rule asks for a statement)."""
    room = pool_room(settings.cluster.default_pool, len(system_zones(settings)))
    total = room if room is not None else Room(0, 0)
    owners: list[QueueSection | TeamSection] = [*settings.queues, *settings.teams]
    parts = [owner.cpu for owner in owners if owner.cpu is not None]
    millicores = own.cpu * 1000 if own.cpu is not None else _millicores_left(total, parts)
    return Room(millicores, mebibytes(own.memory) if own.memory is not None else _mib_left(total, parts))


def _millicores_left(total: Room, parts: list[RoomSection]) -> int:
    stated = [part.cpu * 1000 for part in parts if part.cpu is not None]
    return _share(total.millicores - sum(stated), len(parts) - len(stated), 1000)


def _mib_left(total: Room, parts: list[RoomSection]) -> int:
    stated = [mebibytes(part.memory) for part in parts if part.memory is not None]
    return _share(total.mib - sum(stated), len(parts) - len(stated), 1024)


def _share(left: int, among: int, unit: int) -> int:
    return max(0, left // among // unit * unit)
