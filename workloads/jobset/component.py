"""A multislice job as a resource."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from settings.plan.plan import JobPlan
from workloads.jobset.manifest import multislice_jobset
from workloads.submission import Submission, submitted


@dataclass(frozen=True)
class MultisliceJobArgs:
    job: JobPlan
    submission: Submission
    """The gate is JobSet's, whose webhook comes after Kueue's own."""


class MultisliceJob(pulumi.ComponentResource):
    """One JobSet in the queue."""

    jobset: CustomResource

    def __init__(self, name: str, args: MultisliceJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:MultisliceJob", name, None, opts)
        # A JobSet's spec is immutable: another spec is another job under the same name. Only our own fields are compared;
        # what Kueue and JobSet add to the object is theirs and never a difference.
        self.jobset = submitted(self, f"{name}-jobset", multislice_jobset(args.job), args.submission, ["spec"])
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})
