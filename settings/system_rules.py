"""The nodes for system pods: controllers, and Ray's heads, must fit on them."""

from __future__ import annotations

from collections.abc import Iterator

from settings.accelerators import MACHINE_TYPES
from settings.faults import Fault, Unsound, rule
from settings.model import Settings
from settings.shapes import is_autopilot, system_zones
from settings.system_pool import MANAGERS, Room, machine_room, managers_on, pool_room

_TPU_FAMILIES = frozenset(machine.family for machine in MACHINE_TYPES.values())
_PATH = "cluster.defaultPool.machineType"


@rule
def check(settings: Settings) -> Iterator[Fault]:
    if is_autopilot(settings):
        return
    yield from _tpu(settings)
    yield from _controllers(settings)


def room_for_jobs(settings: Settings) -> Room | None:
    """What all these nodes have left for jobs' pods, None where that is not known: for a machine whose size is not, and on
    Autopilot. Raises Unsound for nodes that have a fault of their own."""
    if any(check(settings)):
        raise Unsound("machine_type")
    if is_autopilot(settings):
        return None
    return pool_room(settings.cluster.default_pool, len(system_zones(settings)))


@rule
def _tpu(settings: Settings) -> Iterator[Fault]:
    name = settings.cluster.default_pool.machine_type
    if name.split("-", 1)[0] in _TPU_FAMILIES:
        wanted = "a machine type without TPUs: GKE keeps pods without chips off nodes that have some, so controllers would wait"
        yield Fault(_PATH, name, wanted, "write e2-standard-4; TPUs belong in `slices`")


@rule
def _controllers(settings: Settings) -> Iterator[Fault]:
    pool = settings.cluster.default_pool
    machine = machine_room(pool.machine_type)
    if machine is None:
        return
    on_one = managers_on(machine)
    if on_one == 0:
        wanted = "a machine that carries Kueue's and JobSet's managers (0.5 CPU and 512 MiB each) beside GKE's own pods"
        yield Fault(_PATH, pool.machine_type, wanted, "write e2-standard-4")
        return
    zones = len(system_zones(settings))
    if on_one * pool.nodes * zones < MANAGERS:
        wanted = (
            f"room for {MANAGERS} managers, Kueue's and JobSet's: {pool.nodes * zones} of these nodes carries {on_one}"
        )
        yield Fault(_PATH, pool.machine_type, wanted, "write e2-standard-4, or raise cluster.defaultPool.nodes")
