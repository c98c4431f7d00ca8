"""What a stack file says of the training program and of its checkpoints. What must hold between these values is in
`training_rules.py`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from settings.schema.field_types import BucketName, ObjectName
from settings.schema.image_names import ImageName
from settings.schema.section import Section


class RayTrainingSection(Section):
    """What a job trains. Numbers that are not stated are the configuration's own."""

    config: ObjectName = "small"
    """A named configuration of the program: `tiny` (a laptop, seconds), `small` (a slice), or one of your own."""
    steps: int | None = Field(default=None, ge=1, le=1_000_000_000)
    checkpoint_every: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """In steps."""
    seed: int | None = Field(default=None, ge=0, le=2_147_483_647)


class TrainingSection(RayTrainingSection):
    """What a multislice job trains, and where its program comes from."""

    code: Literal["configmap", "image"] = "configmap"
    """How the program reaches the pods: the files of workloads/programs/training in a ConfigMap, or a package `training` that is in
    `image` already."""
    image: ImageName | None = None
    """Not stated: Python's own, into which each pod installs JAX and the program's other packages. One that is stated has
    them."""


class CheckpointsSection(Section):
    """The bucket that jobs keep their checkpoints in: made and deleted with the stack, or somebody else's. Neither: no bucket,
    and no checkpoints."""

    bucket: BucketName | None = None
    """The name of a bucket to make, in the cluster's region."""
    existing: BucketName | None = None
    """The name of a bucket that is there: nothing of it is changed, but that the jobs may use it."""
    delete_after_days: int | None = Field(default=None, ge=1, le=36500)
    """When a file is deleted, counted from when it was written. Not stated: never."""
    soft_delete_days: int = Field(default=0, ge=0, le=90)
    """For how long deleted files can be had back, and are paid for: 0, or 7 to 90. A job replaces its checkpoints all the
    time."""

    @property
    def enabled(self) -> bool:
        return self.bucket is not None or self.existing is not None
