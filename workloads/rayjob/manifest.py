"""The RayJob of a Ray training job, and its script, as plain data derived from its plan."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from settings.catalogue.labels import NODEPOOL_LABEL, SERVICE_ACCOUNT, TPU_RESOURCE
from settings.plan.host_requests import DISK
from settings.plan.queues import cores, memory
from settings.plan.ray_jobs import AUTOSCALER, SUBMITTER, RayJobPlan
from settings.plan.system_nodes import Room
from workloads.checkpoint_volume import ANNOTATIONS, checkpoint_mount, checkpoint_volume
from workloads.node_selection import selection
from workloads.program_files import FOLDER, VOLUME, ProgramFiles, code_mount, code_volume, program_files
from workloads.queueing import pod_priority, queued_metadata
from workloads.slice_pod import tolerations
from workloads.training_pod import training_files, training_flags

ELASTIC = "kueue.x-k8s.io/elastic-job"
WORKER_GROUP = "tpu-group"
HEAD_PORTS = {"gcs-server": 6379, "dashboard": 8265, "client": 10001}

RAY_USER = (1000, 100)
"""User and group of Ray's own images: whose the files in the bucket are for them."""

_PROGRAMS = Path(__file__).parents[1] / "programs" / "ray_programs"
_RELEASE = re.compile(r":(\d+\.\d+\.\d+)")


def ray_files() -> ProgramFiles:
    """The programs that Ray jobs run."""
    return program_files(_PROGRAMS)


def _code(job: RayJobPlan) -> dict[str, ProgramFiles]:
    """The packages of a job by the volumes that they are mounted from."""
    return {VOLUME: ray_files(), **({"training": training_files()} if job.training is not None else {})}


def ray_job(job: RayJobPlan) -> dict[str, Any]:
    """A head beside the system pods, one worker a host of each slice, and a cluster that ends with its job."""
    return {
        "apiVersion": job.kind.api_version,
        "kind": job.kind.kind,
        "metadata": queued_metadata(job, {ELASTIC: "true"} if job.elastic else {}),
        "spec": {
            # Kueue queues no RayJob that leaves its cluster standing: its chips would never come back.
            "shutdownAfterJobFinishes": True,
            "submissionMode": "K8sJobMode",
            "entrypoint": _entrypoint(job),
            "runtimeEnvYAML": runtime_env(job),
            "submitterPodTemplate": _submitter(job),
            "rayClusterSpec": _cluster(job),
        },
    }


def _entrypoint(job: RayJobPlan) -> str:
    if job.training is None:
        return f"python -m {_PROGRAMS.name}.linear_regression"
    return f"python -m {_PROGRAMS.name}.training {shlex.join(training_flags(job, job.training))}"


def runtime_env(job: RayJobPlan) -> str:
    """What Ray gives the program: its requirements, and the slice's description as variables."""
    shape = job.shape
    variables = {
        "PYTHONPATH": FOLDER,
        "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",
        **({"EPOCHS": str(job.epochs)} if job.training is None else {}),
        "NUM_SLICES": str(job.slices),
        "HOSTS_PER_SLICE": str(shape.hosts),
        "CHIPS_PER_HOST": str(shape.machine.chips),
        "DEVICES_PER_CHIP": str(shape.machine.devices_per_chip),
        "SLICE_TOPOLOGY": shape.topology,
        "ACCELERATOR_TYPE": shape.machine.ray_type,
    }
    return str(yaml.safe_dump({"pip": list(job.requirements), "env_vars": variables}, sort_keys=True))


def _cluster(job: RayJobPlan) -> dict[str, Any]:
    release = _RELEASE.search(job.image)
    spec: dict[str, Any] = {
        # With a release of 2.53 or newer KubeRay asks each node's health by HTTP; else by two processes every five seconds.
        **({} if release is None else {"rayVersion": release[1]}),
        "headGroupSpec": {"rayStartParams": {"dashboard-host": "0.0.0.0"}, "template": {"spec": _head(job)}},
        "workerGroupSpecs": [
            {
                "groupName": WORKER_GROUP,
                "replicas": job.slices,
                "minReplicas": job.slices,
                "maxReplicas": job.max_slices,
                "numOfHosts": job.shape.hosts,
                "rayStartParams": {},
                "template": _worker(job),
            }
        ],
    }
    if job.elastic:
        spec["enableInTreeAutoscaling"] = True
        spec["autoscalerOptions"] = {"resources": _resources(AUTOSCALER)}
    return spec


def _head(job: RayJobPlan) -> dict[str, Any]:
    ports = [{"name": name, "containerPort": port} for name, port in HEAD_PORTS.items()]
    container = {**_container("ray-head", job, _resources(job.head, _disk(job))), "ports": ports}
    return {
        **_beside_the_system(job),
        "containers": [container],
        "volumes": [code_volume(code, volume) for volume, code in _code(job).items()],
        **pod_priority(job.priority),
    }


def _beside_the_system(job: RayJobPlan) -> dict[str, Any]:
    return {} if job.system_pool is None else {"nodeSelector": {NODEPOOL_LABEL: job.system_pool}}


def _worker(job: RayJobPlan) -> dict[str, Any]:
    further = {TPU_RESOURCE: str(job.shape.machine.chips), **_disk(job)}
    container = _container("ray-worker", job, _resources(job.worker, further))
    pod: dict[str, Any] = {
        **selection(job.labels),
        "tolerations": tolerations(queued=job.queued),
        "containers": [container],
        "volumes": [code_volume(code, volume) for volume, code in _code(job).items()],
        **pod_priority(job.priority),
    }
    if job.training is None or job.training.bucket is None:
        return {"spec": pod}
    container["volumeMounts"].append(checkpoint_mount())
    pod["volumes"].append(checkpoint_volume(job.training.bucket, owner=RAY_USER))
    pod["serviceAccountName"] = SERVICE_ACCOUNT
    return {"metadata": {"annotations": dict(ANNOTATIONS)}, "spec": pod}


def _submitter(job: RayJobPlan) -> dict[str, Any]:
    """Stated whole, since KubeRay's own has no node selector: where the queue has cores left on TPU hosts only, Kueue
    would send it there."""
    container = {"name": "ray-job-submitter", "image": job.image, "resources": _resources(SUBMITTER)}
    return {
        "spec": {
            "restartPolicy": "Never",
            **_beside_the_system(job),
            "containers": [container],
            **pod_priority(job.priority),
        }
    }


def _container(name: str, job: RayJobPlan, resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "image": job.image,
        "resources": resources,
        "volumeMounts": [code_mount(code, volume) for volume, code in _code(job).items()],
    }


def _disk(job: RayJobPlan) -> dict[str, str]:
    """Ray installs the job's requirements on the nodes' disks."""
    return {} if job.disk_mib is None else {DISK: memory(job.disk_mib)}


def _resources(room: Room, further: dict[str, str] | None = None) -> dict[str, Any]:
    """Requests equal limits: Ray counts the limits as what it may give to tasks."""
    amounts = {"cpu": cores(room.millicores), "memory": memory(room.mib), **(further if further is not None else {})}
    return {"requests": amounts, "limits": dict(amounts)}
