"""Ray jobs: whether head and workers can ever run, and whether what is asked of Kueue is something it can keep."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.accelerators import SliceShape
from settings.faults import MISSING, Fault, did_you_mean, duplicates
from settings.model import ELASTIC_JOBS, QueueSection, RayJobSection, Settings
from settings.names import mebibytes
from settings.queue_plan import cpu_quota, sections_of
from settings.ray_plan import max_slices, ray_queue, ray_shapes, side_room
from settings.system_pool import Room, machine_room, node_room

_PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9.+!_-]+")


def check(settings: Settings) -> Iterator[Fault]:
    if settings.ray is None:
        return
    jobs = settings.ray.jobs
    yield from duplicates("ray.jobs[{}].name", [job.name for job in jobs], "job name")
    yield from _other_names(settings)
    for index, job in enumerate(jobs):
        path = f"ray.jobs[{index}]"
        yield from _after(path, job, [other.name for other in jobs[:index]], [other.name for other in jobs])
        yield from _requirements(path, job)
        yield from _elastic(path, job, settings)
        queue = ray_queue(job, settings)
        if queue is None or queue.cpu is None:
            yield _no_queue(path, job, queue, settings)
            continue
        yield from _side(path, job, queue, settings)
        yield from _slices(path, job, queue, settings)


def _other_names(settings: Settings) -> Iterator[Fault]:
    """A JobSet and a RayJob of one name would be two different kinds, but their pods and dashboards could not be told apart."""
    multislice = {job.name: f"workloads[{index}].name" for index, job in enumerate(settings.workloads)}
    for index, job in enumerate(settings.ray.jobs if settings.ray is not None else []):
        if job.name in multislice:
            yield Fault(
                f"ray.jobs[{index}].name", job.name, f"a name of its own: {multislice[job.name]} has it", "rename one"
            )


def _after(path: str, job: RayJobSection, earlier: list[str], names: list[str]) -> Iterator[Fault]:
    """Only earlier jobs of the list can be waited for, so no circle is possible."""
    for index, name in enumerate(job.after):
        if name not in earlier:
            wanted = "a Ray job that stands before this one in the list"
            remedy = (
                "move this job behind it"
                if name in names and name != job.name
                else did_you_mean(name, earlier, "remove it")
            )
            yield Fault(f"{path}.after[{index}]", name, wanted, remedy)


def _requirements(path: str, job: RayJobSection) -> Iterator[Fault]:
    for index, text in enumerate(job.requirements):
        if _PINNED.fullmatch(text) is None:
            yield Fault(
                f"{path}.requirements[{index}]", text, "a pinned requirement like pandas==2.3.3", "pin it with =="
            )


def _elastic(path: str, job: RayJobSection, settings: Settings) -> Iterator[Fault]:
    if job.max_slices is not None and job.max_slices < job.slices:
        yield Fault(
            f"{path}.maxSlices", job.max_slices, f"at least slices, {job.slices}", f"write {job.slices} or more"
        )
    elif job.max_slices is not None and job.max_slices > job.slices and not job.elastic:
        yield Fault(
            f"{path}.maxSlices",
            job.max_slices,
            f"slices, {job.slices}: only an elastic job grows",
            "add `elastic: true`, or remove the key",
        )
    if job.elastic and settings.kueue.feature_gates.get(ELASTIC_JOBS) is False:
        yield Fault(
            f"{path}.elastic",
            True,
            f"false: kueue.featureGates.{ELASTIC_JOBS} is off, and Kueue refuses Ray's autoscaling without it",
            "switch the gate on, or remove `elastic`",
        )


def _no_queue(path: str, job: RayJobSection, queue: QueueSection | None, settings: Settings) -> Fault:
    able = [queue.local_queue for queue in settings.queues if queue.cpu is not None]
    wanted = "a queue with a cpu flavor, which gives out nodes for Ray's head" + (
        f": {', '.join(able)}" if able else ""
    )
    if job.queue is None:
        remedy = f"write one of {', '.join(able)}" if able else "add `cpu: {}` to the queue"
        return Fault(f"{path}.queue", MISSING, wanted, remedy)
    if queue is not None:
        return Fault(f"{path}.queue", job.queue, wanted, "add `cpu: {}` to that queue")
    return Fault(f"{path}.queue", job.queue, wanted, did_you_mean(job.queue, able, "add `cpu: {}` to a queue"))


def _side(path: str, job: RayJobSection, queue: QueueSection, settings: Settings) -> Iterator[Fault]:
    """The head is one pod on one node; head, submitter and autoscaler together are counted by the queue."""
    if queue.cpu is None:
        return
    need, quota = side_room(job), Room(*cpu_quota(queue.cpu, settings))
    parts = "head, submitter and Ray's autoscaler" if job.elastic else "head and submitter"
    index = settings.queues.index(queue)
    if need.millicores > quota.millicores:
        yield Fault(
            f"queues[{index}].cpu.cpu" if queue.cpu.cpu is not None else f"{path}.head.cpu",
            f"{quota.millicores / 1000:g}" if queue.cpu.cpu is not None else job.head.cpu,
            f"room for {job.name}: {parts} need {need.millicores / 1000:g} cores, and the queue gives out {quota.millicores / 1000:g}",
            "raise the quota" if queue.cpu.cpu is not None else "make the head smaller, or cluster.defaultPool larger",
        )
    if need.mib > quota.mib:
        yield Fault(
            f"queues[{index}].cpu.memory" if queue.cpu.memory is not None else f"{path}.head.memory",
            queue.cpu.memory if queue.cpu.memory is not None else job.head.memory,
            f"room for {job.name}: {parts} need {need.mib} MiB, and the queue gives out {quota.mib} MiB",
            "raise the quota"
            if queue.cpu.memory is not None
            else "make the head smaller, or cluster.defaultPool larger",
        )
    yield from _head_on_a_node(path, job, settings)


def _head_on_a_node(path: str, job: RayJobSection, settings: Settings) -> Iterator[Fault]:
    machine = machine_room(settings.cluster.default_pool.machine_type)
    if machine is None:
        return
    node, name = node_room(machine), settings.cluster.default_pool.machine_type
    if job.head.cpu * 1000 > node.millicores:
        yield Fault(
            f"{path}.head.cpu",
            job.head.cpu,
            f"at most {node.millicores // 1000}, what a node of {name} has left beside GKE's own pods",
            "make the head smaller, or choose a larger cluster.defaultPool.machineType",
        )
    if mebibytes(job.head.memory) > node.mib:
        yield Fault(
            f"{path}.head.memory",
            job.head.memory,
            f"at most {node.mib}Mi, what a node of {name} has left beside GKE's own pods",
            "make the head smaller, or choose a larger cluster.defaultPool.machineType",
        )


def _slices(path: str, job: RayJobSection, queue: QueueSection, settings: Settings) -> Iterator[Fault]:
    shapes = ray_shapes(queue, settings)
    if len(shapes) > 1:
        shown = ", ".join(f"{shape.machine.name} {shape.topology}" for shape in shapes)
        yield Fault(
            f"{path}.queue",
            queue.local_queue,
            f"a queue whose slices have one shape; this one has {shown}, and Ray's workers are made for one",
            "give the other shapes a queue of their own",
        )
        return
    if not shapes:
        return
    shape = shapes[0]
    yield from _worker(path, job, shape)
    most = {s.flavor: _slices_of(s.quota, len(s.pools), shape) for s in sections_of(queue, settings)}
    best = max(most.values())
    key, wanted = ("maxSlices", max_slices(job)) if job.elastic else ("slices", job.slices)
    if wanted > best:
        shown = ", ".join(f"{flavor} {count}" for flavor, count in most.items())
        yield Fault(
            f"{path}.{key}",
            wanted,
            f"at most {best}: a job stays on one flavor, a multi-host pool is one slice, and the flavors have {shown}",
            f"write {best}, or list more pools for a flavor",
        )


def _slices_of(quota: int | None, pools: int, shape: SliceShape) -> int:
    return min(quota // shape.chips, pools) if quota is not None else pools


def _worker(path: str, job: RayJobSection, shape: SliceShape) -> Iterator[Fault]:
    machine = shape.machine
    left = node_room(Room(machine.vcpus * 1000, machine.memory_gb * 1024))
    if job.worker.cpu * 1000 > left.millicores:
        yield Fault(
            f"{path}.worker.cpu",
            job.worker.cpu,
            f"at most {left.millicores // 1000}, what a host of {machine.name} has left",
            "make the worker smaller",
        )
    if mebibytes(job.worker.memory) > left.mib:
        yield Fault(
            f"{path}.worker.memory",
            job.worker.memory,
            f"at most {left.mib}Mi, what a host of {machine.name} has left",
            "make the worker smaller",
        )
