"""The heads of Ray jobs: each is one pod on one of the nodes for system pods, and counts in its queue together with
the submitter and Ray's autoscaler."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from settings.plan.job_queues import JobQueue, queue_of
from settings.plan.ray_jobs import side_room
from settings.plan.system_nodes import Room, machine_room, node_room
from settings.plan.system_quota import job_resources, nodes_carry_controllers
from settings.schema.field_types import mebibytes
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings
from settings.schema.teams import RoomSection
from settings.validation.problem import Problem, listed

_POOL = "cluster.defaultPool.machineType"
_LARGER = tuple(f"e2-standard-{vcpus}" for vcpus in (2, 4, 8, 16, 32))


@dataclass(frozen=True)
class _Job:
    path: str
    section: RayJobSection
    queue: JobQueue
    cpu: RoomSection

    @property
    def head(self) -> Room:
        return Room(self.section.head.cpu * 1000, mebibytes(self.section.head.memory))

    @property
    def own(self) -> bool:
        """Whether the stack states the size of the head."""
        return "head" in self.section.model_fields_set

    @property
    def parts(self) -> str:
        return "head, submitter and Ray's autoscaler" if self.section.elastic else "head and submitter"


def check(settings: Settings) -> Iterator[Problem]:
    jobs = list(_jobs(settings))
    for queue in dict.fromkeys(job.queue.path for job in jobs):
        yield from _stated([job for job in jobs if job.queue.path == queue], settings)
    yield from _on_nodes(jobs, settings)


def _jobs(settings: Settings) -> Iterator[_Job]:
    """The jobs whose queue is certain."""
    for index, section in enumerate(settings.ray.jobs):
        queue = queue_of(section, settings)
        if queue is not None and queue.cpu is not None:
            yield _Job(f"ray.jobs[{index}]", section, queue, queue.cpu)


def _stated(jobs: list[_Job], settings: Settings) -> Iterator[Problem]:
    """The stated cores and memory of a queue or a team, with what it can borrow, must be enough for its largest job."""
    queue, cpu = jobs[0].queue, jobs[0].cpu
    reach, path = queue.reachable_cpu(settings), f"{queue.path}.cpu"
    most = max(jobs, key=lambda job: side_room(job.section).millicores)
    need = side_room(most.section).millicores
    if cpu.cpu is not None and need > reach.millicores:
        expected = f"at least {need / 1000:g} cores, for the {most.parts} of {most.section.name}"
        yield Problem(f"{path}.cpu", cpu.cpu, expected, f"write {-(-need // 1000)} or more")
    most = max(jobs, key=lambda job: side_room(job.section).mib)
    need = side_room(most.section).mib
    if cpu.memory is not None and need > reach.mib:
        expected = f"at least {need}Mi, for the {most.parts} of {most.section.name}"
        yield Problem(f"{path}.memory", cpu.memory, expected, f"write {-(-need // 1024)}Gi or more")


def _on_nodes(jobs: list[_Job], settings: Settings) -> Iterator[Problem]:
    """A stated head that is too large is its own problem; where the default head is too large, the nodes are the problem."""
    pool = settings.cluster.default_pool
    machine = machine_room(pool.machine_type)
    if job_resources(settings) is None or machine is None or not nodes_carry_controllers(settings):
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
    room = job_resources(settings)
    left = f", all of them {_shown(room)} beside the controllers" if room is not None else ""
    expected = f"nodes with room for Ray's head and submitter, {_shown(need)} ({names}); one has {_shown(node)}{left}"
    yield Problem(_POOL, pool.machine_type, expected, _larger(poor, settings))


def _fits(job: _Job, node: Room, settings: Settings) -> bool:
    return node.fits(job.head) and _quota(job, settings).fits(side_room(job.section))


def _quota(job: _Job, settings: Settings) -> Room:
    """The queue's computed quota; a stated one has its own rule and is no limit here."""
    reach, part, endless = job.queue.reachable_cpu(settings), job.cpu, side_room(job.section)
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
