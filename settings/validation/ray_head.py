"""The heads of Ray jobs: each is one pod on one of the nodes for system pods, and is counted by its queue together with
the submitter and Ray's autoscaler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from settings.plan.ray_jobs import side_room
from settings.plan.ray_queue import RayHome
from settings.plan.slices import system_zones
from settings.plan.system_nodes import Room, machine_room, node_room, pool_room
from settings.schema.field_types import mebibytes
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings
from settings.validation.lists import distinct
from settings.validation.problem import Problem, Unsound, listed, rule
from settings.validation.ray import home_of
from settings.validation.system_nodes import room_for_jobs

_POOL = "cluster.defaultPool.machineType"
_LARGER = tuple(f"e2-standard-{vcpus}" for vcpus in (2, 4, 8, 16, 32))


@dataclass(frozen=True)
class _Job:
    path: str
    section: RayJobSection
    home: RayHome

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
def check(settings: Settings) -> Iterator[Problem]:
    jobs = list(_jobs(settings))
    for home in dict.fromkeys(job.home.path for job in jobs):
        yield from _stated([job for job in jobs if job.home.path == home], settings)
    yield from _on_nodes(jobs, settings)


def _jobs(settings: Settings) -> Iterator[_Job]:
    """The jobs whose queue and head are sound."""
    for index, section in distinct(settings.ray.jobs):
        try:
            job = _Job(f"ray.jobs[{index}]", section, home_of(section, settings))
            side_room(section)
        except Unsound:
            continue
        if "name" in vars(section):
            yield job


@rule
def _stated(jobs: list[_Job], settings: Settings) -> Iterator[Problem]:
    """What a queue or a team says that it has must, with what it may borrow, be enough for the job of the largest needs."""
    home = jobs[0].home
    reach, path = home.reach(settings), f"{home.path}.cpu"
    most = max(jobs, key=lambda job: side_room(job.section).millicores)
    need = side_room(most.section).millicores
    if home.cpu.cpu is not None and need > reach.millicores:
        expected = f"at least {need / 1000:g} cores, for the {most.parts} of {most.section.name}"
        yield Problem(f"{path}.cpu", home.cpu.cpu, expected, f"write {-(-need // 1000)} or more")
    most = max(jobs, key=lambda job: side_room(job.section).mib)
    need = side_room(most.section).mib
    if home.cpu.memory is not None and need > reach.mib:
        expected = f"at least {need}Mi, for the {most.parts} of {most.section.name}"
        yield Problem(f"{path}.memory", home.cpu.memory, expected, f"write {-(-need // 1024)}Gi or more")


@rule
def _on_nodes(jobs: list[_Job], settings: Settings) -> Iterator[Problem]:
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
    expected = f"nodes with room for Ray's head and submitter, {_shown(need)} ({names}); one has {_shown(node)}{left}"
    yield Problem(_POOL, pool.machine_type, expected, _larger(poor, settings))


def _fits(job: _Job, node: Room, settings: Settings) -> bool:
    return node.fits(job.head) and _quota(job, settings).fits(side_room(job.section))


def _quota(job: _Job, settings: Settings) -> Room:
    """What the queue gives out where that is computed; what is stated has its own rule and is no limit here."""
    reach, part, endless = job.home.reach(settings), job.home.cpu, side_room(job.section)
    return Room(
        reach.millicores if part.cpu is None else endless.millicores,
        reach.mib if part.memory is None else endless.mib,
    )


def _own_head(job: _Job, node: Room, machine: str, settings: Settings) -> Iterator[Problem]:
    """On the node first: what does not fit there cannot fit the queue either."""
    head, quota, need = job.section.head, _quota(job, settings), side_room(job.section)
    on_node = f"what a node of {machine} has left beside GKE's own pods"
    fix = "make the head smaller, or cluster.defaultPool larger"
    if head.cpu * 1000 > node.millicores:
        yield Problem(f"{job.path}.head.cpu", head.cpu, f"at most {node.millicores // 1000}, {on_node}", fix)
    elif need.millicores > quota.millicores:
        expected = (
            f"less: {job.parts} need {need.millicores / 1000:g} cores, and the nodes have {quota.millicores / 1000:g}"
        )
        yield Problem(f"{job.path}.head.cpu", head.cpu, expected, fix)
    if mebibytes(head.memory) > node.mib:
        yield Problem(f"{job.path}.head.memory", head.memory, f"at most {node.mib}Mi, {on_node}", fix)
    elif need.mib > quota.mib:
        expected = f"less: {job.parts} need {need.mib} MiB, and the nodes have {quota.mib} MiB"
        yield Problem(f"{job.path}.head.memory", head.memory, expected, fix)


def _larger(jobs: list[_Job], settings: Settings) -> str:
    """The smallest common machine on whose nodes all the heads fit."""
    pool = settings.cluster.default_pool
    for name in _LARGER:
        machine = machine_room(name)
        with_it = settings.cluster.model_copy(update={"default_pool": pool.model_copy(update={"machine_type": name})})
        larger = settings.model_copy(update={"cluster": with_it})
        if machine is not None and all(_fits(job, node_room(machine), larger) for job in jobs):
            return f"write {name}, or make the heads smaller (`head` of the jobs)"
    return "make the heads smaller (`head` of the jobs)"


def _shown(room: Room) -> str:
    return f"{room.millicores / 1000:g} cores and {room.mib} MiB"
