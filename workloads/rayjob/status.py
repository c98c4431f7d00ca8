"""How the pods and the end of a RayJob are read, and how a user follows it."""

from __future__ import annotations

from collections.abc import Sequence

from settings.plan.ray_jobs import RayJobPlan
from workloads.status import JobStatus, Object, condition, label, moment, since

RAY_CLUSTER_LABEL = "ray.io/cluster"
RAY_NODE_LABEL = "ray.io/node-type"
RAY_REPLICA_LABELS = ("ray.io/worker-group-replica-index", "replicaIndex")
"""KubeRay's own for the replica of a multi-host worker group, and the one of GKE's webhook."""


def pods(_: RayJobPlan, found: Object) -> str:
    """The label selector of its pods, which are those of the Ray cluster that KubeRay made for it."""
    return f"{RAY_CLUSTER_LABEL}={found.get('status', {}).get('rayClusterName', '')}"


def logs(job: RayJobPlan) -> str:
    """The label selector of the pod in whose log its programs report: the one that submitted them."""
    return f"batch.kubernetes.io/job-name={job.name}"


def status(job: Object, workload: Object | None, pods: Sequence[Object]) -> JobStatus:
    """Its pods go when it ends."""
    found = job.get("status", {})
    over = found.get("jobDeploymentStatus") in ("Complete", "Failed")
    ended = (moment(found.get("endTime")) or since(condition(workload, "Finished"))) if over else None
    wanted = sum(int(group.get("replicas", 1)) for group in job["spec"]["rayClusterSpec"]["workerGroupSpecs"])
    return JobStatus(
        wanted,
        ended,
        over and found.get("jobStatus") == "SUCCEEDED",
        tuple((_replica(pod), pod) for pod in pods if label(pod, RAY_NODE_LABEL) == "worker"),
        tuple(pod for pod in pods if label(pod, RAY_NODE_LABEL) == "head"),
    )


def _replica(pod: Object) -> str:
    return next((label(pod, key) for key in RAY_REPLICA_LABELS if label(pod, key)), "0")


def commands(job: RayJobPlan) -> list[str]:
    """How to follow one."""
    return [
        f"kubectl get rayjobs,provisioningrequests -n {job.namespace}",
        f"kubectl logs -n {job.namespace} job/{job.name} --tail 20",
    ]
