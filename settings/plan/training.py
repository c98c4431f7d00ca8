"""Training in plain values: what a job's program is told, and the bucket that its checkpoints are in."""

from __future__ import annotations

from dataclasses import dataclass

from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, WorkloadSection
from settings.schema.training import TrainingSection

_DAY_S = 86400


@dataclass(frozen=True)
class CheckpointsPlan:
    bucket: str
    made: bool
    """By the stack; otherwise it is somebody else's."""
    delete_after_days: int | None
    soft_delete_seconds: int


@dataclass(frozen=True)
class TrainingPlan:
    """What one job trains. None: what the program's configuration says."""

    config: str
    steps: int | None
    checkpoint_every: int | None
    seed: int | None
    image: str | None
    """None: Python's own, which has none of the program's packages."""
    code_in_image: bool
    bucket: str | None
    """None: no checkpoints."""


def checkpoints_plan(settings: Settings) -> CheckpointsPlan | None:
    """The bucket, of settings that have passed the rules; None where there is none."""
    section = settings.checkpoints
    name = section.bucket if section.bucket is not None else section.existing
    if name is None:
        return None
    return CheckpointsPlan(
        bucket=name,
        made=section.bucket is not None,
        delete_after_days=section.delete_after_days,
        soft_delete_seconds=section.soft_delete_days * _DAY_S,
    )


def training_plan(job: WorkloadSection | RayJobSection, checkpoints: CheckpointsPlan | None) -> TrainingPlan | None:
    """None for a job that does not train."""
    if job.program != "training":
        return None
    wanted = job.checkpoints if job.checkpoints is not None else checkpoints is not None
    section = job.training
    own = section if isinstance(section, TrainingSection) else TrainingSection()
    return TrainingPlan(
        config=section.config,
        steps=section.steps,
        checkpoint_every=section.checkpoint_every,
        seed=section.seed,
        image=own.image,
        code_in_image=own.code == "image",
        bucket=checkpoints.bucket if wanted and checkpoints is not None else None,
    )
