"""Ray jobs in numbers: one worker a host of each slice, a head and a submitter on the nodes for system pods."""

from __future__ import annotations

from dataclasses import dataclass

from settings.catalogue.labels import DEFAULT_POOL
from settings.catalogue.versions import RAY_API
from settings.plan.host_requests import DISK_MIB
from settings.plan.job_queues import certain_place
from settings.plan.jobs import Job, JobKind, priority_of
from settings.plan.queues import node_labels
from settings.plan.slices import is_autopilot, request_seconds
from settings.plan.system_nodes import Room
from settings.plan.training import checkpoints_plan, training_plan
from settings.schema.field_types import mebibytes
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings

SUBMITTER = Room(500, 512)
"""The pod that hands the job to the head and follows its log. KubeRay's own default has 200 MiB; Ray's command line needs more."""
AUTOSCALER = Room(500, 512)
"""Ray's autoscaler, which KubeRay puts beside the head of an elastic job: what it asks for if nothing is stated."""


@dataclass(frozen=True, kw_only=True)
class RayJobPlan(Job):
    kind = JobKind("RayJob", RAY_API, "rayjobs")

    max_slices: int
    elastic: bool
    image: str
    requirements: tuple[str, ...]
    head: Room
    worker: Room
    epochs: int
    """How long a job that does not train fits a line."""
    system_pool: str | None
    """The pool of the nodes for the head; None on Autopilot, where it has no name."""
    disk_mib: int | None
    """What head and workers request of their nodes' disks; None: nothing."""

    @property
    def most_slices(self) -> int:
        return self.max_slices


def ray_job_plans(settings: Settings) -> dict[str, RayJobPlan]:
    """Plans by name, in the order of the stack file."""
    jobs = settings.ray.jobs
    return {job.name: _plan(job, settings) for job in jobs}


def _plan(job: RayJobSection, settings: Settings) -> RayJobPlan:
    placed = certain_place(job, settings)
    queue, sections = placed.queue, placed.sections
    shape = sections[0].shape
    listed = tuple(tuple(node_labels(section, settings).items()) for section in sections)
    return RayJobPlan(
        name=job.name,
        namespace=queue.namespace,
        queue=queue.local_queue,
        shape=shape,
        flavors=tuple(section.flavor for section in sections),
        labels=listed if job.flavors is not None else (tuple(shape.node_labels.items()),),
        slices=job.slices,
        max_slices=max_slices(job),
        elastic=job.elastic,
        after=tuple(job.after),
        image=job.image,
        requirements=tuple(job.requirements),
        head=Room(job.head.cpu * 1000, mebibytes(job.head.memory)),
        worker=Room(job.worker.cpu * 1000, mebibytes(job.worker.memory)),
        epochs=job.epochs,
        training=training_plan(job, checkpoints_plan(settings)),
        request_seconds=request_seconds(sections),
        system_pool=None if is_autopilot(settings) else DEFAULT_POOL,
        disk_mib=DISK_MIB if is_autopilot(settings) else None,
        priority=priority_of(job, settings),
    )


def max_slices(job: RayJobSection) -> int:
    return job.max_slices if job.max_slices is not None else job.slices


def side_room(job: RayJobSection) -> Room:
    """What a job needs beside its workers: head, submitter, and the autoscaler of an elastic one."""
    extra = [SUBMITTER, *([AUTOSCALER] if job.elastic else [])]
    return Room(
        job.head.cpu * 1000 + sum(room.millicores for room in extra),
        mebibytes(job.head.memory) + sum(room.mib for room in extra),
    )
