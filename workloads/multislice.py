"""A multislice job as a resource."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.gate import WebhookGate
from components.options import child
from settings.model import TimeoutsSection
from settings.plan import JobPlan
from workloads.manifest import multislice_jobset


@dataclass(frozen=True)
class MultisliceJobArgs:
    job: JobPlan
    gate: WebhookGate
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """The queue, and the jobs that must have been admitted first."""


class MultisliceJob(pulumi.ComponentResource):
    """One JobSet in the queue.

    What a user sees of an awaited job: `up` stands at it until Kueue admits it, for at most `timeouts.admission`.
    When that is over, `up` fails at this job (`failed to fully initialize or become live`), the JobSet stays queued
    and is recorded, and the next `up` waits for it again without submitting it anew. A finished job stays resumed,
    so that a later `up` goes past it at once.
    """

    jobset: CustomResource

    def __init__(self, name: str, args: MultisliceJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:MultisliceJob", name, None, opts)
        manifest = multislice_jobset(args.job)
        self.jobset = CustomResource(
            f"{name}-jobset",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=child(
                self,
                args.after,
                args.timeouts.admission,
                args.timeouts.deletion,
                hooks=args.gate.binding(),
                # A JobSet's spec is immutable: another spec is another job under the same name. Only our own fields
                # are compared; what Kueue and JobSet add to the object is theirs and never a difference.
                replace_on_changes=["spec"],
                delete_before_replace=True,
            ),
        )
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})
