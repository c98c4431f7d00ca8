"""The JobSet of a multislice job as plain data, derived from its plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from settings.catalogue.capacity import QUEUED_LABEL
from settings.catalogue.labels import NODEPOOL_LABEL, QUEUE_LABEL, REPLICATED_JOB, TPU_RESOURCE
from settings.catalogue.versions import JAX_REQUIREMENT, JOBSET_API, PYTHON_IMAGE
from settings.plan.host_requests import DISK
from settings.plan.plan import JobPlan
from settings.plan.queues import cores, memory
from settings.schema.teams import PrioritySection
from workloads.jobset.failure_policy import CONTAINER, job_failure_policy, jobset_failure_policy
from workloads.node_selection import selection
from workloads.start_command import installing
from workloads.training_pod import (
    COORDINATOR_PORT,
    place_in_job,
    training_annotations,
    training_container,
    training_pod,
)

PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
"""Of a WorkloadPriorityClass. Without it Kueue goes by the PriorityClass of the pods."""
EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"
MAX_RUN_DURATION = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"
"""Kueue copies it to the ProvisioningRequest: for how long the nodes are asked for, in seconds."""

PORTS = (8471, 8080, COORDINATOR_PORT)
"""libtpu between the hosts of a slice, MEGASCALE between slices, and jax.distributed between all processes."""

_PROGRAMS = Path(__file__).parents[1] / "programs"


def multislice_jobset(job: JobPlan) -> dict[str, Any]:
    """A JobSet of one replicated job: one replica a slice, one pod a host, all chips of the host for its pod."""
    return {
        "apiVersion": JOBSET_API,
        "kind": "JobSet",
        "metadata": _metadata(job),
        "spec": {
            "failurePolicy": jobset_failure_policy(job),
            "replicatedJobs": [
                {
                    "name": REPLICATED_JOB,
                    "replicas": job.slices,
                    "template": {
                        "spec": {
                            "parallelism": job.shape.hosts,
                            "completions": job.shape.hosts,
                            **job_failure_policy(job),
                            "template": _pod(job),
                        }
                    },
                }
            ],
        },
    }


def _metadata(job: JobPlan) -> dict[str, Any]:
    """Exclusive topology puts each slice's pods on a node pool of their own, which is what makes a slice."""
    annotations = {EXCLUSIVE_TOPOLOGY: NODEPOOL_LABEL}
    if job.request_seconds is not None:
        annotations[MAX_RUN_DURATION] = str(job.request_seconds)
    return {
        "name": job.name,
        "namespace": job.namespace,
        "labels": {QUEUE_LABEL: job.queue, **priority_label(job.priority)},
        "annotations": annotations,
    }


def priority_label(priority: PrioritySection | None) -> dict[str, str]:
    """On a job whose priority moves it in the queue only."""
    return {PRIORITY_LABEL: priority.name} if priority is not None and not priority.pods else {}


def pod_priority(priority: PrioritySection | None) -> dict[str, str]:
    """In the spec of each pod of a job whose priority moves pods too: from it Kueue takes the job's."""
    return {"priorityClassName": priority.name} if priority is not None and priority.pods else {}


def _pod(job: JobPlan) -> dict[str, Any]:
    annotations = training_annotations(job.training) if job.training is not None else {}
    return {**({"metadata": {"annotations": annotations}} if annotations else {}), "spec": _pod_spec(job)}


def _pod_spec(job: JobPlan) -> dict[str, Any]:
    pod: dict[str, Any] = {
        **selection(job.labels),
        "tolerations": tolerations(queued=job.queued),
        # JobSet's default is OnFailure: a process that has ended would start again in its pod and wait there for the others,
        # while JobSet takes all pods away to start them together.
        "restartPolicy": "Never",
        **(training_pod(job, job.training) if job.training is not None else {}),
        "containers": [_container(job)],
        **pod_priority(job.priority),
    }
    if job.privileged:
        pod |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    return pod


def tolerations(*, queued: bool) -> list[dict[str, str]]:
    """All TPU nodes carry the first taint (GKE is said to add the toleration by itself, without a primary source), those
    that only a ProvisioningRequest brings the second one too."""
    keys = [TPU_RESOURCE, *([QUEUED_LABEL] if queued else [])]
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in keys]


def _container(job: JobPlan) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": CONTAINER,
        **(training_container(job, job.training) if job.training is not None else _device_count(job)),
        "ports": [{"containerPort": port} for port in PORTS],
        "resources": _resources(job),
    }
    if job.privileged:
        container["securityContext"] = {"privileged": True}
    return container


def _resources(job: JobPlan) -> dict[str, Any]:
    """All chips of the host. What is asked for beside them has no limit: the node is the pod's."""
    chips = {"limits": {TPU_RESOURCE: str(job.shape.machine.chips)}}
    if job.share is None:
        return chips
    room = job.share.room
    amounts = {"cpu": cores(room.millicores), "memory": memory(room.mib), DISK: memory(job.share.disk_mib)}
    return {"requests": amounts, **chips}


def _device_count(job: JobPlan) -> dict[str, Any]:
    """The tutorial's payload, which is short enough for a variable."""
    return {
        "image": PYTHON_IMAGE,
        "command": installing([JAX_REQUIREMENT], 'python -c "$TRAINING_PROGRAM"'),
        "env": [
            *place_in_job(job),
            {"name": "SLEEP_SECONDS", "value": str(job.sleep_seconds)},
            {"name": "TRAINING_PROGRAM", "value": (_PROGRAMS / "device_count.py").read_text()},
        ],
    }
