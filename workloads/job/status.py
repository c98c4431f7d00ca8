"""How the pods and the end of an indexed Job are read, and how a user follows it."""

from __future__ import annotations

from collections.abc import Sequence

from settings.plan.jobs import IndexedJobPlan
from workloads.job.manifest import JOB_LABEL
from workloads.status import JobStatus, Object, condition, since
from workloads.training_pod import POD_INDEX, training_commands


def pods(job: IndexedJobPlan, _: Object) -> str:
    """The label selector of its pods."""
    return f"{JOB_LABEL}={job.name}"


def logs(job: IndexedJobPlan) -> str:
    """The label selector of the pods in whose logs its programs report."""
    return f"{JOB_LABEL}={job.name}"


def status(job: Object, _: Object | None, pods: Sequence[Object]) -> JobStatus:
    """A Job is one slice."""
    done, failed = condition(job, "Complete"), condition(job, "Failed")
    return JobStatus(1, since(done or failed), done is not None, tuple(("0", pod) for pod in pods))


def commands(job: IndexedJobPlan) -> list[str]:
    """How to follow one."""
    return [
        f"kubectl get jobs -n {job.namespace}",
        f"kubectl logs -n {job.namespace} -l {JOB_LABEL}={job.name} --prefix --tail 5",
        *training_commands(job, f"{JOB_LABEL}={job.name},{POD_INDEX}=0"),
    ]
