"""The nodes for system pods: controllers, and Ray's heads, must fit on them."""

from __future__ import annotations

from collections.abc import Iterator

from settings.accelerators import MACHINE_TYPES
from settings.copies import distinct, places
from settings.faults import Fault, Unsound, did_you_mean, rule
from settings.model import Settings
from settings.names import mebibytes
from settings.shapes import is_autopilot, system_zones
from settings.system_pool import MANAGERS, Room, machine_room, managers_on, pool_room, sizes_instead

_TPU_FAMILIES = frozenset(machine.family for machine in MACHINE_TYPES.values())
_PATH = "cluster.defaultPool.machineType"


@rule
def check(settings: Settings) -> Iterator[Fault]:
    if is_autopilot(settings):
        return
    yield from _tpu(settings)
    yield from _controllers(settings)
    yield from _given_out(settings)


def room_for_jobs(settings: Settings) -> Room | None:
    """What all these nodes have left for jobs' pods, None where that is not known: for a machine whose size is not, and on
    Autopilot. Raises Unsound for nodes that have a fault of their own."""
    if not is_autopilot(settings) and any((*_tpu(settings), *_controllers(settings))):
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
    there = sizes_instead(pool.machine_type)
    if there:
        wanted = f"a machine type that there is: {', '.join(there)}"
        yield Fault(_PATH, pool.machine_type, wanted, did_you_mean(pool.machine_type, there, f"write {there[0]}"))
        return
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


@rule
def _given_out(settings: Settings) -> Iterator[Fault]:
    """What is stated must be there: Kueue would admit heads that then find no node. One fault for each of cpu and memory, at
    the last that states it."""
    room = room_for_jobs(settings)
    if room is None:
        return
    owners = [
        *places("queues[{}].cpu", distinct(settings.queues), "cpu"),
        *places("teams[{}].cpu", distinct(settings.teams), "cpu"),
    ]
    parts = [(path, part) for path, part in owners if part is not None]
    cores = [(f"{path}.cpu", part.cpu, part.cpu * 1000) for path, part in parts if part.cpu is not None]
    memory = [
        (f"{path}.memory", part.memory, mebibytes(part.memory)) for path, part in parts if part.memory is not None
    ]
    yield from _at_most(cores, room.millicores, f"{room.millicores // 1000} cores")
    yield from _at_most(memory, room.mib, f"{room.mib // 1024}Gi")


def _at_most(stated: list[tuple[str, object, int]], there: int, shown: str) -> Iterator[Fault]:
    if stated and sum(amount for _, _, amount in stated) > there:
        path, got, _ = stated[-1]
        among = f", of which {len(stated)} queues and teams together state more" if len(stated) > 1 else ""
        wanted = f"at most {shown}, what cluster.defaultPool has left beside GKE's pods and the controllers{among}"
        yield Fault(path, got, wanted, "write less, or leave the key out for an equal part")
