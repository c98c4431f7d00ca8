"""A multislice job as a resource."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.gate import WebhookGate
from components.options import child
from components.turn import Turn
from settings.model import TimeoutsSection
from settings.plan import JobPlan
from workloads.manifest import multislice_jobset


@dataclass(frozen=True)
class MultisliceJobArgs:
    job: JobPlan
    gate: WebhookGate
    turn: Turn
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """The queue, and the jobs that this one follows."""


class MultisliceJob(pulumi.ComponentResource):
    """One JobSet in the queue.

    What a user sees of a job that follows others: `up` stands at it until Kueue has admitted those, for at most
    `timeouts.admission`. When that is over, `up` fails at this job with Kueue's reason; the others stay queued, and the
    next `up` goes on waiting.
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
                hooks=args.turn.binding(args.gate.binding()),
                # A JobSet's spec is immutable: another spec is another job under the same name. Only our own fields
                # are compared; what Kueue and JobSet add to the object is theirs and never a difference.
                replace_on_changes=["spec"],
                delete_before_replace=True,
            ),
        )
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})
