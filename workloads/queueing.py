"""What Kueue reads of a job of any kind: its queue, its priority, and for how long it requests nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from settings.plan.jobs import Job
from settings.schema.teams import PrioritySection

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
"""Of a WorkloadPriorityClass. Without it Kueue goes by the PriorityClass of the pods."""
MAX_RUN_DURATION = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"
"""Kueue copies it to the ProvisioningRequest: for how long the nodes are asked for, in seconds."""


def queued_metadata(job: Job, annotations: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of a job, with further `annotations` of its kind."""
    requested = {MAX_RUN_DURATION: str(job.request_seconds)} if job.request_seconds is not None else {}
    every = {**annotations, **requested}
    metadata: dict[str, Any] = {
        "name": job.name,
        "namespace": job.namespace,
        "labels": {QUEUE_LABEL: job.queue, **priority_label(job.priority)},
    }
    return {**metadata, "annotations": every} if every else metadata


def priority_label(priority: PrioritySection | None) -> dict[str, str]:
    """On a job whose priority moves it in the queue only."""
    return {PRIORITY_LABEL: priority.name} if priority is not None and not priority.pods else {}


def pod_priority(priority: PrioritySection | None) -> dict[str, str]:
    """In the spec of each pod of a job whose priority moves pods too: from it Kueue takes the job's."""
    return {"priorityClassName": priority.name} if priority is not None and priority.pods else {}
