"""What all kinds of jobs have in common, and the kinds whose pods are the hosts of slices: JobSets and indexed Jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from settings.catalogue.accelerators import SliceShape
from settings.catalogue.labels import JOBSET_INDEX_LABEL, REPLICATED_JOB
from settings.catalogue.versions import JOBSET_API
from settings.plan.host_requests import HostShare, host_share
from settings.plan.job_flavors import Labels
from settings.plan.job_queues import certain_place
from settings.plan.queues import node_labels
from settings.plan.slices import request_seconds
from settings.plan.training import TrainingPlan, checkpoints_plan, training_plan
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, WorkloadSection
from settings.schema.teams import PrioritySection


@dataclass(frozen=True)
class JobKind:
    """A kind of object in Kubernetes, by its names in the API."""

    kind: str
    api_version: str
    plural: str


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job of any kind, in numbers. Each kind is a subclass, registered in `workloads/kinds.py`."""

    kind: ClassVar[JobKind]

    name: str
    namespace: str
    queue: str
    shape: SliceShape
    """Of the first of its flavors; slices of the others have as many hosts and chips."""
    flavors: tuple[str, ...]
    """The flavors it may get, in the order in which Kueue tries them."""
    labels: tuple[Labels, ...]
    """Its pods with chips select nodes that have all labels of any of these."""
    slices: int
    after: tuple[str, ...]
    training: TrainingPlan | None
    """None: a job that does not train."""
    request_seconds: int | None
    """How long nodes from queued provisioning are requested for; None where none may come that way."""
    priority: PrioritySection | None = None

    @property
    def most_slices(self) -> int:
        """The slices it can grow to."""
        return self.slices

    @property
    def queued(self) -> bool:
        """Its nodes may come by queued provisioning, if only when the flavors before it in the queue are taken."""
        return self.request_seconds is not None


@dataclass(frozen=True, kw_only=True)
class SliceJob(Job):
    """A job with one pod a host, whose program finds the other hosts by itself."""

    slice_label: ClassVar[str | None]
    """The label with the number of a pod's slice; None for a kind of one slice."""

    privileged: bool
    sleep_seconds: int
    """How long a job that does not train waits after it has counted the chips."""
    share: HostShare | None
    """What each pod requests of its host beside the chips; None: nothing."""

    @property
    def first_host(self) -> str:
        """The DNS name of the first pod of the first slice."""
        raise NotImplementedError

    @property
    def devices(self) -> int:
        """What JAX must count in all processes together."""
        return self.slices * self.shape.chips * self.shape.machine.devices_per_chip


@dataclass(frozen=True, kw_only=True)
class JobSetPlan(SliceJob):
    """A multislice job."""

    kind = JobKind("JobSet", JOBSET_API, "jobsets")
    slice_label = JOBSET_INDEX_LABEL

    @property
    def first_host(self) -> str:
        return f"{self.name}-{REPLICATED_JOB}-0-0.{self.name}"


@dataclass(frozen=True, kw_only=True)
class IndexedJobPlan(SliceJob):
    """A job of one slice as an indexed Job, for clusters whose users have no JobSets."""

    kind = JobKind("Job", "batch/v1", "jobs")
    slice_label = None

    @property
    def first_host(self) -> str:
        return f"{self.name}-0.{self.name}"


_KINDS: dict[str, type[SliceJob]] = {"jobset": JobSetPlan, "job": IndexedJobPlan}


def slice_jobs(settings: Settings) -> dict[str, SliceJob]:
    """The jobs of `workloads` by name, in the order of the stack file."""
    return {job.name: _slice_job(job, settings) for job in settings.workloads}


def _slice_job(job: WorkloadSection, settings: Settings) -> SliceJob:
    """It gets the first of its flavors that has room for it. Pods of a job that names one flavor ask for a shape, those of a
    job that lists several for the labels that distinguish these from others."""
    placed = certain_place(job, settings)
    queue, sections = placed.queue, placed.sections
    shape = sections[0].shape
    listed = tuple(tuple(node_labels(section, settings).items()) for section in sections)
    return _KINDS[job.kind](
        name=job.name,
        namespace=queue.namespace,
        queue=queue.local_queue,
        shape=shape,
        flavors=tuple(section.flavor for section in sections),
        labels=listed if job.flavors is not None else (tuple(shape.node_labels.items()),),
        slices=job.slices,
        after=tuple(job.after),
        privileged=job.privileged,
        training=training_plan(job, checkpoints_plan(settings)),
        sleep_seconds=job.sleep_seconds,
        request_seconds=request_seconds(sections),
        share=host_share((section.shape.machine for section in sections), settings),
        priority=priority_of(job, settings),
    )


def priority_of(job: WorkloadSection | RayJobSection, settings: Settings) -> PrioritySection | None:
    """The class that a job names, if it names one."""
    return next((section for section in settings.priorities if section.name == job.priority), None)


AnyJob = TypeVar("AnyJob", bound=Job)


def in_order(plans: Mapping[str, AnyJob]) -> tuple[AnyJob, ...]:
    """Each job after those that it names in `after`."""
    ordered: dict[str, AnyJob] = {}
    for plan in plans.values():
        waiting = [plan]
        while waiting:
            first = next((name for name in waiting[-1].after if name not in ordered), None)
            if first is not None:
                waiting.append(plans[first])
            else:
                placed = waiting.pop()
                ordered.setdefault(placed.name, placed)
    return tuple(ordered.values())
