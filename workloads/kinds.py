"""The kinds of jobs. A new one is a plan class in `settings/plan`, a folder here, and an entry in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from settings.plan.jobs import IndexedJobPlan, Job, JobSetPlan
from settings.plan.ray_jobs import RayJobPlan
from workloads.job import status as job_status
from workloads.job.manifest import headless_service, indexed_job
from workloads.jobset import status as jobset_status
from workloads.jobset.manifest import multislice_jobset
from workloads.program_files import ProgramFiles
from workloads.rayjob import status as ray_status
from workloads.rayjob.manifest import ray_files, ray_job
from workloads.status import JobStatus, Object

Manifest = dict[str, Any]


@dataclass(frozen=True)
class WorkloadKind:
    """How jobs of one kind are submitted, read and followed. `Any` stands for the kind's own plan class."""

    component: str
    """The type of its component, and what the name of the job's resource ends in."""
    suffix: str
    manifest: Callable[[Any], Manifest]
    webhook: Literal["jobset", "kueue"]
    """The last webhook that a creation goes through."""
    replaced_on: tuple[str, ...]
    """Changes of these properties submit another job in its place."""
    pods: Callable[[Any, Object], str]
    """The label selector of its pods, from the plan and the object."""
    logs: Callable[[Any], str]
    """The label selector of the pods in whose logs its programs report."""
    status: Callable[[Object, Object | None, Sequence[Object]], JobStatus]
    """From the object, its Workload and its pods."""
    commands: Callable[[Any], list[str]]
    """How a user follows one."""
    services: Callable[[Any], list[Manifest]] = field(default=lambda _: [])
    """The Services by which its pods find each other, where its controller makes none."""
    files: Callable[[Any], list[ProgramFiles]] = field(default=lambda _: [])
    """The programs of its own that its pods take from ConfigMaps."""


KINDS: dict[type[Job], WorkloadKind] = {
    JobSetPlan: WorkloadKind(
        component="MultisliceJob",
        suffix="jobset",
        manifest=multislice_jobset,
        webhook="jobset",  # after Kueue's own
        # A JobSet's spec is immutable. Only our own fields are compared: what Kueue and JobSet add is never a difference.
        replaced_on=("spec",),
        pods=jobset_status.pods,
        logs=jobset_status.logs,
        status=jobset_status.status,
        commands=jobset_status.commands,
    ),
    IndexedJobPlan: WorkloadKind(
        component="IndexedJob",
        suffix="job",
        manifest=indexed_job,
        webhook="kueue",
        replaced_on=("spec",),  # immutable in a Job but for a few fields that Kueue owns
        pods=job_status.pods,
        logs=job_status.logs,
        status=job_status.status,
        commands=job_status.commands,
        services=lambda job: [headless_service(job)],
    ),
    RayJobPlan: WorkloadKind(
        component="RayTrainingJob",
        suffix="rayjob",
        manifest=ray_job,
        webhook="kueue",
        # KubeRay starts nothing anew when the spec of a running job changes, and Kueue owns parts of the object from admission
        # on, so that any update would be a conflict.
        replaced_on=("spec", "metadata"),
        pods=ray_status.pods,
        logs=ray_status.logs,
        status=ray_status.status,
        commands=ray_status.commands,
        files=lambda _: [ray_files()],
    ),
}


def kind_of(job: Job) -> WorkloadKind:
    return KINDS[type(job)]
