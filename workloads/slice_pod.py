"""The pod of one host of a slice, the same for all kinds of jobs whose programs find each other by themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from settings.catalogue.capacity import QUEUED_LABEL
from settings.catalogue.labels import TPU_RESOURCE
from settings.catalogue.versions import JAX_REQUIREMENT, PYTHON_IMAGE
from settings.plan.host_requests import DISK
from settings.plan.jobs import SliceJob
from settings.plan.queues import cores, memory
from workloads.failure_policy import CONTAINER
from workloads.node_selection import selection
from workloads.queueing import pod_priority
from workloads.start_command import installing
from workloads.training_pod import (
    COORDINATOR_PORT,
    place_in_job,
    training_annotations,
    training_container,
    training_pod,
)

PORTS = (8471, 8080, COORDINATOR_PORT)
"""libtpu between the hosts of a slice, MEGASCALE between slices, and jax.distributed between all processes."""

_PROGRAMS = Path(__file__).parent / "programs"


def slice_pod(job: SliceJob) -> dict[str, Any]:
    """The pod template of each host."""
    annotations = training_annotations(job.training) if job.training is not None else {}
    return {**({"metadata": {"annotations": annotations}} if annotations else {}), "spec": _pod_spec(job)}


def _pod_spec(job: SliceJob) -> dict[str, Any]:
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


def _container(job: SliceJob) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": CONTAINER,
        **(training_container(job, job.training) if job.training is not None else _device_count(job)),
        "ports": [{"containerPort": port} for port in PORTS],
        "resources": _resources(job),
    }
    if job.privileged:
        container["securityContext"] = {"privileged": True}
    return container


def _resources(job: SliceJob) -> dict[str, Any]:
    """All chips of the host. What is asked for beside them has no limit: the node is the pod's."""
    chips = {"limits": {TPU_RESOURCE: str(job.shape.machine.chips)}}
    if job.share is None:
        return chips
    room = job.share.room
    amounts = {"cpu": cores(room.millicores), "memory": memory(room.mib), DISK: memory(job.share.disk_mib)}
    return {"requests": amounts, **chips}


def _device_count(job: SliceJob) -> dict[str, Any]:
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
