"""Ray training jobs as resources."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from settings.plan.ray_jobs import RayJobPlan
from workloads.rayjob.manifest import ray_job
from workloads.submission import Submission, submitted


@dataclass(frozen=True)
class RayTrainingJobArgs:
    job: RayJobPlan
    submission: Submission
    """The gate is Kueue's: it is the one that admits RayJobs."""
    operator: str
    """Whose KubeRay runs it. When GKE's add-on is switched off, its resource definitions go, and with them every RayJob: what
    the engine takes for unchanged has to be submitted anew."""


class RayTrainingJob(pulumi.ComponentResource):
    """One RayJob in the queue."""

    ray_job: CustomResource

    def __init__(self, name: str, args: RayTrainingJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:RayTrainingJob", name, None, opts)
        # KubeRay starts nothing anew when the spec of a running job changes, and Kueue owns parts of the object from
        # admission on, so that any update would be a conflict: another job is submitted in its place.
        self.ray_job = submitted(
            self, f"{name}-rayjob", ray_job(args.job), args.submission, ["spec", "metadata"], args.operator
        )
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})
