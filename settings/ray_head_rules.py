"""The heads of Ray jobs: each is one pod on one of the nodes for system pods, and is counted by its queue together with
the submitter and Ray's autoscaler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from settings.copies import distinct
from settings.faults import Fault, Unsound, listed, rule
from settings.model import QueueSection, RayJobSection, Settings
from settings.names import mebibytes
from settings.queue_plan import cpu_quota
from settings.ray_plan import side_room
from settings.ray_rules import queue_for
from settings.shapes import system_zones
from settings.system_pool import Room, machine_room, node_room, pool_room
from settings.system_rules import room_for_jobs

_POOL = "cluster.defaultPool.machineType"
_LARGER = tuple(f"e2-standard-{vcpus}" for vcpus in (2, 4, 8, 16, 32))


@dataclass(frozen=True)
class _Job:
    path: str
    section: RayJobSection
    queue: QueueSection

    @property
    def head(self) -> Room:
        return Room(self.section.head.cpu * 1000, mebibytes(self.section.head.memory))

    @property
    def own(self) -> bool:
        """The stack says how large the head is, so that is what can be wrong."""
        return "head" in self.section.model_fields_set

    @property
    def parts(self) -> str:
        return "head, submitter and Ray's autoscaler" if self.section.elastic else "head and submitter"


@rule
def check(settings: Settings) -> Iterator[Fault]:
    jobs = list(_jobs(settings))
    for index, queue in enumerate(settings.queues):
        yield from _stated(f"queues[{index}].cpu", [job for job in jobs if job.queue is queue])
    yield from _on_nodes(jobs, settings)


def _jobs(settings: Settings) -> Iterator[_Job]:
    """The jobs whose queue and head are sound."""
    for index, section in distinct(settings.ray.jobs):
        try:
            job = _Job(f"ray.jobs[{index}]", section, queue_for(section, settings))
            side_room(section)
        except Unsound:
            continue
        if "name" in vars(section):
            yield job


@rule
def _stated(path: str, jobs: list[_Job]) -> Iterator[Fault]:
    """What a queue says that it gives out must be enough for the job with the largest needs."""
    if not jobs or jobs[0].queue.cpu is None:
        return
    quota = vars(jobs[0].queue.cpu)
    most = max(jobs, key=lambda job: side_room(job.section).millicores)
    need = side_room(most.section).millicores
    if quota.get("cpu") is not None and need > quota["cpu"] * 1000:
        wanted = f"at least {need / 1000:g} cores, for the {most.parts} of {most.section.name}"
        yield Fault(f"{path}.cpu", quota["cpu"], wanted, f"write {-(-need // 1000)} or more")
    most = max(jobs, key=lambda job: side_room(job.section).mib)
    need = side_room(most.section).mib
    if quota.get("memory") is not None and need > mebibytes(quota["memory"]):
        wanted = f"at least {need}Mi, for the {most.parts} of {most.section.name}"
        yield Fault(f"{path}.memory", quota["memory"], wanted, f"write {-(-need // 1024)}Gi or more")


@rule
def _on_nodes(jobs: list[_Job], settings: Settings) -> Iterator[Fault]:
    """Heads that the stack states are faults of their own; one that is too large as it comes is a fault of the nodes."""
    pool = settings.cluster.default_pool
    machine = machine_room(pool.machine_type)
    if room_for_jobs(settings) is None or machine is None:
        return
    node = node_room(machine)
    for job in jobs:
        if job.own:
            yield from _own_head(job, node, pool.machine_type, settings)
    poor = [job for job in jobs if not job.own and not _fits(job, node, settings)]
    if not poor:
        return
    need = side_room(max(poor, key=lambda job: side_room(job.section).millicores).section)
    names = listed([job.section.name for job in poor])
    room = pool_room(pool, len(system_zones(settings)))
    left = f", all of them {_shown(room)} beside the controllers" if room is not None else ""
    wanted = f"nodes with room for Ray's head and submitter, {_shown(need)} ({names}); one has {_shown(node)}{left}"
    yield Fault(_POOL, pool.machine_type, wanted, _larger(poor, settings))


def _fits(job: _Job, node: Room, settings: Settings) -> bool:
    return node.fits(job.head) and _quota(job, settings).fits(side_room(job.section))


def _quota(job: _Job, settings: Settings) -> Room:
    """What the queue gives out where that is computed; what is stated has its own rule and is no limit here."""
    if job.queue.cpu is None:
        raise Unsound("cpu")
    computed = Room(*cpu_quota(job.queue.cpu, settings))
    endless = side_room(job.section)
    return Room(
        computed.millicores if job.queue.cpu.cpu is None else endless.millicores,
        computed.mib if job.queue.cpu.memory is None else endless.mib,
    )


def _own_head(job: _Job, node: Room, machine: str, settings: Settings) -> Iterator[Fault]:
    """On the node first: what does not fit there cannot fit the queue either."""
    head, quota, need = job.section.head, _quota(job, settings), side_room(job.section)
    on_node = f"what a node of {machine} has left beside GKE's own pods"
    remedy = "make the head smaller, or cluster.defaultPool larger"
    if head.cpu * 1000 > node.millicores:
        yield Fault(f"{job.path}.head.cpu", head.cpu, f"at most {node.millicores // 1000}, {on_node}", remedy)
    elif need.millicores > quota.millicores:
        wanted = (
            f"less: {job.parts} need {need.millicores / 1000:g} cores, and the nodes have {quota.millicores / 1000:g}"
        )
        yield Fault(f"{job.path}.head.cpu", head.cpu, wanted, remedy)
    if mebibytes(head.memory) > node.mib:
        yield Fault(f"{job.path}.head.memory", head.memory, f"at most {node.mib}Mi, {on_node}", remedy)
    elif need.mib > quota.mib:
        wanted = f"less: {job.parts} need {need.mib} MiB, and the nodes have {quota.mib} MiB"
        yield Fault(f"{job.path}.head.memory", head.memory, wanted, remedy)


def _larger(jobs: list[_Job], settings: Settings) -> str:
    """The smallest common machine on whose nodes all the heads fit."""
    pool, zones = settings.cluster.default_pool, len(system_zones(settings))
    for name in _LARGER:
        machine = machine_room(name)
        room = pool_room(pool.model_copy(update={"machine_type": name}), zones) if machine is not None else None
        if machine is None or room is None:
            continue
        whole = Room(room.millicores // 1000 * 1000, room.mib // 1024 * 1024)
        if all(node_room(machine).fits(job.head) and whole.fits(side_room(job.section)) for job in jobs):
            return f"write {name}, or make the heads smaller (`head` of the jobs)"
    return "make the heads smaller (`head` of the jobs)"


def _shown(room: Room) -> str:
    return f"{room.millicores / 1000:g} cores and {room.mib} MiB"
