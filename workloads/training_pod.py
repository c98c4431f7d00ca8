"""The pod of a training job, as plain data: the program, what it is told of the slice, and its checkpoints.

What the program reads is in its own `__main__.py` and `workloads/programs/training`; the labels that tell a pod its place are JobSet's
and Kubernetes' own (jobset.sigs.k8s.io, batch.kubernetes.io).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from settings.catalogue.labels import SERVICE_ACCOUNT
from settings.catalogue.versions import PYTHON_IMAGE, TRAINING_REQUIREMENTS
from settings.plan.jobs import Job, SliceJob
from settings.plan.training import TrainingPlan
from workloads.checkpoint_volume import (
    ANNOTATIONS,
    checkpoint_address,
    checkpoint_folder,
    checkpoint_mount,
    checkpoint_volume,
)
from workloads.program_files import FOLDER, ProgramFiles, code_mount, code_volume, program_files
from workloads.start_command import installing

COORDINATOR_PORT = 8476
"""Of jax.distributed, in the first pod of the first slice: Cloud TPU's own port for it."""
GRACE_SECONDS = 120
"""From SIGTERM to SIGKILL: time to end the step under way, and to write a checkpoint through Cloud Storage FUSE. Kubernetes' 30 s
are short for a bucket. Kueue's evictions and node drains wait as long; a spot machine itself is gone after 30 s at most."""
POD_INDEX = "batch.kubernetes.io/job-completion-index"
_PACKAGE = Path(__file__).parent / "programs" / "training"


def training_files() -> ProgramFiles:
    """The program of every job that takes it from a ConfigMap."""
    return program_files(_PACKAGE)


def training_container(job: SliceJob, training: TrainingPlan) -> dict[str, Any]:
    """What of the container is the program's: image, command, environment and files."""
    mounts = [*([] if training.code_in_image else [code_mount(training_files())])]
    mounts += [checkpoint_mount()] if training.bucket is not None else []
    return {
        "image": training.image if training.image is not None else PYTHON_IMAGE,
        "command": _command(job, training),
        **({} if training.code_in_image else {"workingDir": FOLDER}),
        "env": place_in_job(job),
        # The line on stderr is in the pod's status then, where `kubectl describe` shows it and `make up` reads it.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        **({"volumeMounts": mounts} if mounts else {}),
    }


def training_pod(job: SliceJob, training: TrainingPlan) -> dict[str, Any]:
    """What of the pod's spec is the program's."""
    volumes = [] if training.code_in_image else [code_volume(training_files())]
    pod: dict[str, Any] = {"terminationGracePeriodSeconds": GRACE_SECONDS}
    if training.bucket is not None:
        volumes.append(checkpoint_volume(training.bucket, host_network=job.privileged))
        pod["serviceAccountName"] = SERVICE_ACCOUNT
    return {**pod, "volumes": volumes} if volumes else pod


def training_annotations(training: TrainingPlan) -> dict[str, str]:
    """Of the pods."""
    return ANNOTATIONS if training.bucket is not None else {}


def _command(job: SliceJob, training: TrainingPlan) -> list[str]:
    """The program itself, or a shell that installs its packages first."""
    program = ["python", "-m", "training", *training_flags(job, training)]
    if training.image is not None:
        return program
    return installing(TRAINING_REQUIREMENTS, shlex.join(program))


def training_flags(job: Job, training: TrainingPlan) -> list[str]:
    """What the program is asked for; what is not stated is its configuration's own."""
    numbers = {"--steps": training.steps, "--checkpoint-every": training.checkpoint_every, "--seed": training.seed}
    stated = [part for flag, value in numbers.items() if value is not None for part in (flag, str(value))]
    folder = ["--checkpoint-dir", checkpoint_folder(job.namespace, job.name)] if training.bucket is not None else []
    return ["--config", training.config, *stated, *folder]


def place_in_job(job: SliceJob) -> list[dict[str, Any]]:
    """The slice's description, and the pod's place in it. A job of one host has nobody to meet. Chips are what JAX counts as
    such: of TPU 7x two to a chip."""
    numbers = {
        "NUM_SLICES": job.slices,
        "HOSTS_PER_SLICE": job.shape.hosts,
        "CHIPS_PER_HOST": job.shape.machine.chips * job.shape.machine.devices_per_chip,
    }
    meeting = f"{job.first_host}:{COORDINATOR_PORT}"
    values = {
        **({"COORDINATOR_ADDRESS": meeting} if job.slices * job.shape.hosts > 1 else {}),
        **{name: str(number) for name, number in numbers.items()},
        # A wrong libtpu makes JAX fall back to the next platform without a word: the program demands the first.
        "JAX_PLATFORMS": "tpu,cpu",
        **({"SLICE_INDEX": "0"} if job.slice_label is None else {}),
    }
    places = {**({"SLICE_INDEX": job.slice_label} if job.slice_label is not None else {}), "HOST_INDEX": POD_INDEX}
    return [
        *({"name": name, "value": value} for name, value in values.items()),
        *(
            {"name": name, "valueFrom": {"fieldRef": {"fieldPath": f"metadata.labels['{label}']"}}}
            for name, label in places.items()
        ),
    ]


def training_commands(job: SliceJob, first: str) -> list[str]:
    """How to follow a training. Its first process, which the selector `first` names, prints the losses."""
    if job.training is None:
        return []
    commands = [f"kubectl logs -n {job.namespace} -l {first} --follow"]
    if job.training.bucket is not None:
        commands.append(f"gcloud storage ls {checkpoint_address(job.training.bucket, job.namespace, job.name)}/")
    return commands
