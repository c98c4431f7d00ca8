"""The nodes for system pods: controllers, and Ray's heads, must fit on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.catalogue.accelerators import MACHINE_TYPES
from settings.plan.slices import is_autopilot, system_zones
from settings.plan.system_nodes import MANAGERS, machine_room, managers_on, sizes_instead
from settings.plan.system_quota import job_resources, nodes_carry_controllers
from settings.schema.field_types import mebibytes
from settings.schema.stack import QueueSection, Settings
from settings.schema.teams import TeamSection
from settings.validation.problem import Problem, did_you_mean

_TPU_FAMILIES = frozenset(machine.family for machine in MACHINE_TYPES.values())
_PATH = "cluster.defaultPool.machineType"


def check(settings: Settings) -> Iterator[Problem]:
    if is_autopilot(settings):
        return
    yield from _tpu(settings)
    yield from _controllers(settings)
    yield from _given_out(settings)


def _tpu(settings: Settings) -> Iterator[Problem]:
    name = settings.cluster.default_pool.machine_type
    if name.split("-", 1)[0] in _TPU_FAMILIES:
        expected = (
            "a machine type without TPUs: GKE keeps other pods off TPU nodes, so the controllers would never start"
        )
        yield Problem(_PATH, name, expected, "write e2-standard-4; TPUs belong in `slices`")


def _controllers(settings: Settings) -> Iterator[Problem]:
    pool = settings.cluster.default_pool
    there = sizes_instead(pool.machine_type)
    if there:
        expected = f"an existing machine type: {', '.join(there)}"
        yield Problem(_PATH, pool.machine_type, expected, did_you_mean(pool.machine_type, there, f"write {there[0]}"))
        return
    machine = machine_room(pool.machine_type)
    if machine is None:
        return
    on_one = managers_on(machine)
    if on_one == 0:
        expected = (
            "a machine with room for Kueue's and JobSet's managers (0.5 CPU and 512 MiB each) beside GKE's own pods"
        )
        yield Problem(_PATH, pool.machine_type, expected, "write e2-standard-4")
        return
    zones = len(system_zones(settings))
    if on_one * pool.nodes * zones < MANAGERS:
        expected = f"room for {MANAGERS} managers, Kueue's and JobSet's: {pool.nodes * zones} of these nodes has room for {on_one}"
        yield Problem(_PATH, pool.machine_type, expected, "write e2-standard-4, or raise cluster.defaultPool.nodes")


def _given_out(settings: Settings) -> Iterator[Problem]:
    """Stated amounts must fit: Kueue would admit heads for which no node has room. One problem each for cpu and memory, at
    the last key that states it."""
    room = job_resources(settings)
    if room is None or not nodes_carry_controllers(settings):
        return
    owners: dict[str, Sequence[QueueSection | TeamSection]] = {"queues": settings.queues, "teams": settings.teams}
    parts = [
        (f"{key}[{index}].cpu", owner.cpu)
        for key, entries in owners.items()
        for index, owner in enumerate(entries)
        if owner.cpu is not None
    ]
    cores = [(f"{path}.cpu", part.cpu, part.cpu * 1000) for path, part in parts if part.cpu is not None]
    memory = [
        (f"{path}.memory", part.memory, mebibytes(part.memory)) for path, part in parts if part.memory is not None
    ]
    yield from _at_most(cores, room.millicores, f"{room.millicores // 1000} cores")
    yield from _at_most(memory, room.mib, f"{room.mib // 1024}Gi")


def _at_most(stated: Sequence[tuple[str, object, int]], there: int, shown: str) -> Iterator[Problem]:
    if stated and sum(amount for _, _, amount in stated) > there:
        path, got, _ = stated[-1]
        among = f", and {len(stated)} queues and teams together state more" if len(stated) > 1 else ""
        expected = f"at most {shown}, what cluster.defaultPool has left after GKE's pods and the controllers{among}"
        yield Problem(path, got, expected, "write less, or leave the key out for an equal part")
