"""How the pods and the end of a JobSet are read, and how a user follows it."""

from __future__ import annotations

from collections.abc import Sequence

from settings.catalogue.labels import JOBSET_INDEX_LABEL
from settings.plan.jobs import JobSetPlan
from workloads.status import JobStatus, Object, condition, label, since
from workloads.training_pod import POD_INDEX, training_commands

JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"


def pods(job: JobSetPlan, _: Object) -> str:
    """The label selector of its pods."""
    return f"{JOBSET_LABEL}={job.name}"


def logs(job: JobSetPlan) -> str:
    """The label selector of the pods in whose logs its programs report."""
    return f"{JOBSET_LABEL}={job.name}"


def status(jobset: Object, _: Object | None, pods: Sequence[Object]) -> JobStatus:
    done, failed = condition(jobset, "Completed"), condition(jobset, "Failed")
    wanted = sum(int(job.get("replicas", 1)) for job in jobset["spec"]["replicatedJobs"])
    placed = tuple((label(pod, JOBSET_INDEX_LABEL, "0"), pod) for pod in pods)
    return JobStatus(wanted, since(done or failed), done is not None, placed)


def commands(job: JobSetPlan) -> list[str]:
    """How to follow one."""
    first = f"{JOBSET_LABEL}={job.name},{JOBSET_INDEX_LABEL}=0,{POD_INDEX}=0"
    return [
        f"kubectl get jobsets -n {job.namespace}",
        f"kubectl logs -n {job.namespace} -l {JOBSET_LABEL}={job.name} --prefix --tail 5",
        *training_commands(job, first),
    ]
