"""A job's way into its queue, the same for every kind of job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource

from components.hooks.admission_order import AdmissionOrder
from components.hooks.webhook_ready import WebhookGate
from components.options import child
from settings.schema.stack import TimeoutsSection


@dataclass(frozen=True)
class Submission:
    """What a job waits for: the webhook that admits it, its turn, and `after`: its queue and the jobs that it follows.

    What a user sees of a job that follows others: `up` stands at it until Kueue has admitted those, for at most
    `timeouts.admission`. When that is over, `up` fails at this job with Kueue's reason; the others stay queued, and the
    next `up` goes on waiting.
    """

    gate: WebhookGate
    admission_order: AdmissionOrder
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]

    def after_too(self, others: Sequence[pulumi.Resource]) -> Submission:
        return replace(self, after=[*self.after, *others])


def submitted(
    parent: pulumi.Resource,
    name: str,
    manifest: Mapping[str, Any],
    submission: Submission,
    replaced_on: Sequence[str],
    replaced_with: str | None = None,
) -> CustomResource:
    """The job as a resource. A change of `replaced_on` (the engine's names of properties) is another job in its place, and so
    is another value of `replaced_with`, which stands for something outside of the job that takes it along."""
    return CustomResource(
        name,
        api_version=manifest["apiVersion"],
        kind=manifest["kind"],
        metadata=manifest["metadata"],
        spec=manifest["spec"],
        opts=child(
            parent,
            submission.after,
            submission.timeouts.admission,
            submission.timeouts.deletion,
            hooks=submission.admission_order.binding(submission.gate.binding()),
            replace_on_changes=replaced_on,
            delete_before_replace=True,
            replacement_trigger=replaced_with,
        ),
    )
