"""What follows when a pod of a job fails, as plain data: which failures end a job, and which start it again.

Two policies together. The Job's (batch/v1, `podFailurePolicy`) looks at the pod that failed and gives the Job's failure its reason;
JobSet's looks at that reason and no further. So a program's exit code reaches the JobSet as `PodFailurePolicy`, and everything else
as `BackoffLimitExceeded`, for which no rule is stated: JobSet starts all again, up to `maxRestarts`.

A Job with such a policy counts a pod that is being deleted as failed when its processes have ended, and not as soon as it is
deleted (`isPodFailed` in Kubernetes' job_controller.go). JobSet waits for that in any case before it starts the next attempt.
"""

from __future__ import annotations

from typing import Any

from settings.plan.jobs import JobSetPlan, SliceJob
from workloads.programs.training.failure import FOR_GOOD

CONTAINER = "jax-tpu"
MAX_RESTARTS = 4
"""Not in the stack file: JobSet forbids changing a failure policy by a rule of its CRD, whose error the Kubernetes
provider does not recognise as a reason to replace, so that such a change would fail in the preview."""


def jobset_failure_policy(job: JobSetPlan) -> dict[str, Any]:
    """For a JobSet's `failurePolicy`."""
    policy: dict[str, Any] = {"maxRestarts": MAX_RESTARTS}
    if job.training is None:
        return policy
    rule = {"name": "noRestartHelps", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}
    return {**policy, "rules": [rule]}


def job_failure_policy(job: SliceJob, retries: int) -> dict[str, Any]:
    """The part of a Job's spec that decides when it has failed: after more than `retries` failed pods, or at once for an exit code that
    no restart helps. Only the training program (ours, or the package of that name in a user's image)
    is taken at its exit codes: those of other programs mean something else."""
    # In a JobSet one lost host loses the whole slice: no retries, the JobSet restarts all, under maxRestarts.
    limit: dict[str, Any] = {"backoffLimit": retries}
    if job.training is None:
        return limit
    rules = [
        # First: whatever a process ended with when its node was taken away (drained, preempted, gone), that was the reason.
        {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": sorted(FOR_GOOD)},
        },
    ]
    return {**limit, "podFailurePolicy": {"rules": rules}}
