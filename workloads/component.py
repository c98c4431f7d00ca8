"""A job of any kind as a resource."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Service

from components.options import child
from settings.plan.jobs import Job
from workloads.kinds import Manifest, kind_of
from workloads.submission import Submission, submitted


@dataclass(frozen=True)
class SubmittedJobArgs:
    job: Job
    submission: Submission
    replaced_with: str | None = None
    """Something outside of the job that takes it along: another value submits it anew."""


class SubmittedJob(pulumi.ComponentResource):
    """One job in its queue, and the Services by which its pods find each other."""

    resource: CustomResource

    def __init__(self, name: str, args: SubmittedJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        kind = kind_of(args.job)
        super().__init__(f"tpu-platform:workload:{kind.component}", name, None, opts)
        services = [self._service(name, manifest, args) for manifest in kind.services(args.job)]
        submission = args.submission.after_too(services)
        self.resource = submitted(
            self, f"{name}-{kind.suffix}", kind.manifest(args.job), submission, kind.replaced_on, args.replaced_with
        )
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})

    def _service(self, name: str, manifest: Manifest, args: SubmittedJobArgs) -> Service:
        timeouts = args.submission.timeouts
        return Service(
            f"{name}-service",
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=child(self, args.submission.after, timeouts.queues, timeouts.deletion),
        )
