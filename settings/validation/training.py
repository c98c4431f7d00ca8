"""Training and checkpoints: programs that exist, and buckets to write to."""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.versions import TRAINING_CONFIGS
from settings.plan.job_queues import AnyJob, job_entries
from settings.schema.stack import Settings
from settings.schema.training import CheckpointsSection, TrainingSection
from settings.validation.problem import MISSING, Described, Problem, did_you_mean, listed

MINIMUM_GKE_HOST_NETWORK = "1.33.3-gke.1226000"
"""Since then a pod in the host's network can use its own account for a bucket (GKE's page on Cloud Storage FUSE)."""
_SHORTEST_SOFT_DELETE = 7
"""In days: Cloud Storage takes 0, or 7 to 90."""


def check(settings: Settings) -> Iterator[Problem]:
    yield from _bucket(settings.checkpoints)
    yield from _soft_delete(settings.checkpoints)
    for path, job in job_entries(settings):
        yield from _other_programs(path, job)
        yield from _code(f"{path}.training", job)
        yield from _training(path, job)
        yield from _config(f"{path}.training", job)
        yield from _checkpoints(path, job, settings)


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE version that a privileged job needs for its checkpoints."""
    for index, job in enumerate(settings.workloads):
        if (
            job.privileged
            and job.program == "training"
            and settings.checkpoints.enabled
            and job.checkpoints is not False
        ):
            yield (
                MINIMUM_GKE_HOST_NETWORK,
                f"checkpoints of a job in the host's network (workloads[{index}].privileged)",
            )


def _bucket(section: CheckpointsSection) -> Iterator[Problem]:
    """One bucket, created or existing. How an existing one is configured is its owner's decision."""
    if not section.enabled and section.model_fields_set:
        expected = "a bucket: `bucket` with the name of one to create, or `existing` with the name of an existing one"
        yield Problem("checkpoints.bucket", MISSING, expected, "add `bucket`, like PROJECT-checkpoints")
    elif section.bucket is not None and section.existing is not None:
        expected = f"not set, because checkpoints.bucket is {section.bucket}: a stack has one bucket"
        yield Problem("checkpoints.existing", section.existing, expected, "remove one of the two")
    elif section.existing is not None:
        yield from _of_owner(section)


def _of_owner(section: CheckpointsSection) -> Iterator[Problem]:
    for name in ("delete_after_days", "soft_delete_days"):
        if name in section.model_fields_set:
            expected = "not set, because the bucket's owner decides it (checkpoints.existing)"
            key = CheckpointsSection.model_fields[name].alias
            yield Problem(
                f"checkpoints.{key}",
                getattr(section, name),
                expected,
                "remove the key, or write bucket in place of existing",
            )


def _soft_delete(section: CheckpointsSection) -> Iterator[Problem]:
    days = section.soft_delete_days
    if 0 < days < _SHORTEST_SOFT_DELETE and section.existing is None:
        expected = (
            f"0, or {_SHORTEST_SOFT_DELETE} to 90: Cloud Storage keeps deleted files for at least a week, or not at all"
        )
        yield Problem("checkpoints.softDeleteDays", days, expected, f"write 0 or {_SHORTEST_SOFT_DELETE}")


def _training(path: str, job: AnyJob) -> Iterator[Problem]:
    if job.program != "training" and "training" in job.model_fields_set:
        expected = f"not set, because this job does not train ({path}.program)"
        yield Problem(
            f"{path}.training", Described("a training"), expected, "remove the key, or write program: training"
        )


_OTHERS = {
    "sleep_seconds": ("sleepSeconds", "a job that trains ends when it has trained", "device-count"),
    "epochs": ("epochs", "only linear-regression counts epochs", "linear-regression"),
}
"""Fields that only another program reads: key, why training does not, the program that reads it."""


def _other_programs(path: str, job: AnyJob) -> Iterator[Problem]:
    for field, (key, why, program) in _OTHERS.items():
        if job.program == "training" and field in job.model_fields_set:
            fix = f"remove the key (training.steps sets how long it trains), or write program: {program}"
            yield Problem(f"{path}.{key}", getattr(job, field), f"not set, because {why}", fix)


def _code(path: str, job: AnyJob) -> Iterator[Problem]:
    section = job.training
    if not isinstance(section, TrainingSection) or job.program != "training":
        return
    if section.code == "image" and section.image is None:
        expected = "the image that contains the program (training.code)"
        yield Problem(f"{path}.image", MISSING, expected, "add `image`, or write code: configmap")


def _config(path: str, job: AnyJob) -> Iterator[Problem]:
    """The configurations of a program in a user's own image are unknown here."""
    section = job.training
    if isinstance(section, TrainingSection) and section.code == "image":
        return
    if job.program == "training" and section.config not in TRAINING_CONFIGS:
        expected = f"a configuration of workloads/programs/training: {listed(TRAINING_CONFIGS)}"
        fix = did_you_mean(section.config, TRAINING_CONFIGS, f"write {TRAINING_CONFIGS[0]}, or add it to the program")
        yield Problem(f"{path}.config", section.config, expected, fix)


def _checkpoints(path: str, job: AnyJob, settings: Settings) -> Iterator[Problem]:
    if job.checkpoints is not True:
        return
    if job.program != "training":
        expected = f"false: this job does not train ({path}.program)"
        yield Problem(f"{path}.checkpoints", True, expected, "remove the key, or write program: training")
    elif not settings.checkpoints.enabled:
        expected = "false: the stack has no bucket for checkpoints"
        yield Problem(
            f"{path}.checkpoints", True, expected, "add `tpu-platform:checkpoints` with a bucket, or remove the key"
        )
