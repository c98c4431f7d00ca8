"""Training and checkpoints: programs that can be found, and buckets that are there."""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.versions import TRAINING_CONFIGS
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, WorkloadSection
from settings.schema.training import CheckpointsSection, TrainingSection
from settings.validation.lists import distinct
from settings.validation.problem import MISSING, Described, Problem, did_you_mean, listed, rule

MINIMUM_GKE_HOST_NETWORK = "1.33.3-gke.1226000"
"""From it on a pod in the host's network can show a bucket its own account (GKE's page on Cloud Storage FUSE)."""
_SHORTEST_SOFT_DELETE = 7
"""In days: Cloud Storage takes 0, or 7 to 90."""


@rule
def check(settings: Settings) -> Iterator[Problem]:
    yield from _bucket(settings.checkpoints)
    yield from _soft_delete(settings.checkpoints)
    for index, job in distinct(settings.workloads):
        path = f"workloads[{index}]"
        yield from _of_others(path, job)
        yield from _code(f"{path}.training", job)
        yield from _trains(path, job, settings)
    for index, ray in distinct(settings.ray.jobs):
        yield from _of_others(f"ray.jobs[{index}]", ray)
        yield from _trains(f"ray.jobs[{index}]", ray, settings)


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE version that a privileged job needs for its checkpoints."""
    for index, job in distinct(settings.workloads):
        if (
            job.privileged
            and job.program == "training"
            and settings.checkpoints.enabled
            and job.checkpoints is not False
        ):
            yield (
                MINIMUM_GKE_HOST_NETWORK,
                f"checkpoints of a job in the host's network need (workloads[{index}].privileged)",
            )


@rule
def _bucket(section: CheckpointsSection) -> Iterator[Problem]:
    """One bucket, made or found. What follows from making it is nothing that can be said of somebody else's."""
    if not section.enabled and section.model_fields_set:
        expected = "a bucket: `bucket` with the name of one to make, or `existing` with the name of one that is there"
        yield Problem("checkpoints.bucket", MISSING, expected, "add `bucket`, like PROJECT-checkpoints")
    elif section.bucket is not None and section.existing is not None:
        expected = f"nothing: checkpoints.bucket is {section.bucket}, and there is one bucket"
        yield Problem("checkpoints.existing", section.existing, expected, "remove one of the two")
    elif section.existing is not None:
        yield from _of_owner(section)


def _of_owner(section: CheckpointsSection) -> Iterator[Problem]:
    for name in ("delete_after_days", "soft_delete_days"):
        if name in section.model_fields_set:
            expected = "nothing: the bucket exists and is as its owner made it (checkpoints.existing)"
            key = CheckpointsSection.model_fields[name].alias
            yield Problem(
                f"checkpoints.{key}",
                getattr(section, name),
                expected,
                "remove the key, or write bucket in place of existing",
            )


@rule
def _soft_delete(section: CheckpointsSection) -> Iterator[Problem]:
    days = section.soft_delete_days
    if 0 < days < _SHORTEST_SOFT_DELETE and section.existing is None:
        expected = f"0, or {_SHORTEST_SOFT_DELETE} to 90: Cloud Storage keeps what is deleted for a week at least, or not at all"
        yield Problem("checkpoints.softDeleteDays", days, expected, f"write 0 or {_SHORTEST_SOFT_DELETE}")


def _trains(path: str, job: WorkloadSection | RayJobSection, settings: Settings) -> Iterator[Problem]:
    yield from _training(path, job)
    yield from _config(f"{path}.training", job)
    yield from _checkpoints(path, job, settings)


@rule
def _training(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Problem]:
    if job.program != "training" and "training" in job.model_fields_set:
        expected = f"nothing: this job does not train ({path}.program)"
        yield Problem(
            f"{path}.training", Described("a training"), expected, "remove the key, or write program: training"
        )


_OTHERS = {
    "sleep_seconds": ("sleepSeconds", "a job that trains ends when it has trained", "device-count"),
    "epochs": ("epochs", "only linear-regression counts epochs", "linear-regression"),
}
"""Fields that only another program reads: key, why a training has none, the program that reads it."""


@rule
def _of_others(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Problem]:
    for field, (key, why, program) in _OTHERS.items():
        if job.program == "training" and field in job.model_fields_set:
            fix = f"remove the key (training.steps says how long it trains), or write program: {program}"
            yield Problem(f"{path}.{key}", getattr(job, field), f"nothing: {why}", fix)


@rule
def _code(path: str, job: WorkloadSection) -> Iterator[Problem]:
    if job.program == "training" and job.training.code == "image" and job.training.image is None:
        expected = "the image that the program is in (training.code)"
        yield Problem(f"{path}.image", MISSING, expected, "add `image`, or write code: configmap")


@rule
def _config(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Problem]:
    """What the program in an image of the user's own knows, only it knows."""
    section = job.training
    if isinstance(section, TrainingSection) and section.code == "image":
        return
    if job.program == "training" and section.config not in TRAINING_CONFIGS:
        expected = f"a configuration of workloads/programs/training: {listed(TRAINING_CONFIGS)}"
        fix = did_you_mean(section.config, TRAINING_CONFIGS, f"write {TRAINING_CONFIGS[0]}, or add it to the program")
        yield Problem(f"{path}.config", section.config, expected, fix)


@rule
def _checkpoints(path: str, job: WorkloadSection | RayJobSection, settings: Settings) -> Iterator[Problem]:
    if job.checkpoints is not True:
        return
    if job.program != "training":
        expected = f"false: this job does not train ({path}.program)"
        yield Problem(f"{path}.checkpoints", True, expected, "remove the key, or write program: training")
    elif not settings.checkpoints.enabled:
        expected = "false: there is no bucket to write to"
        yield Problem(
            f"{path}.checkpoints", True, expected, "add `tpu-platform:checkpoints` with a bucket, or remove the key"
        )
