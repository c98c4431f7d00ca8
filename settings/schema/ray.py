"""Ray in a stack file: the operator, and the jobs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from settings.catalogue import versions
from settings.schema.field_types import Memory, RayJobName
from settings.schema.image_names import ImageName
from settings.schema.section import Section
from settings.schema.training import RayTrainingSection


class RayPodSection(Section):
    cpu: int = Field(ge=1, le=1000)
    memory: Memory


class RayHeadSection(RayPodSection):
    cpu: int = Field(default=2, ge=1, le=1000)
    memory: Memory = "4Gi"


class RayWorkerSection(RayPodSection):
    cpu: int = Field(default=8, ge=1, le=1000)
    memory: Memory = "16Gi"


class RayJobSection(Section):
    """One Ray training job: a head beside the system pods, and one worker a host of each slice."""

    name: RayJobName
    queue: str | None = None
    """The local queue; may be left out where only one has a cpu flavor."""
    team: str | None = None
    """In whose namespace and queue, instead of `queue`."""
    flavor: str | None = None
    """Which kind of slice: any flavor of its shape in the queue will do. May be left out where the queue's are all of one."""
    flavors: list[str] | None = None
    """In place of `flavor`, the flavors that will do and no others, in the order in which their queue tries them. They are of one
    shape: Ray knows a slice by its generation and topology."""
    priority: str | None = None
    """One of `priorities`."""
    slices: int = Field(default=1, ge=1, le=256)
    elastic: bool = False
    """Ray may grow the job to `max_slices` while it runs (Kueue's elastic jobs, Ray's in-tree autoscaling)."""
    max_slices: int | None = Field(default=None, ge=1, le=256)
    after: list[str] = Field(default_factory=list)
    """Ray jobs that must have been admitted before this one is submitted."""
    image: ImageName = versions.RAY_IMAGE
    requirements: list[str] = Field(default_factory=lambda: list(versions.RAY_REQUIREMENTS))
    """What Ray installs into the job's environment, each pinned with `==`."""
    head: RayHeadSection = RayHeadSection()
    worker: RayWorkerSection = RayWorkerSection()
    program: Literal["linear-regression", "training"] = "linear-regression"
    """What runs: the tutorial's payload, in which every worker fits a line by itself, or the training of multislice jobs."""
    epochs: int = Field(default=50, ge=1, le=1_000_000)
    """How long `linear-regression` fits."""
    training: RayTrainingSection = RayTrainingSection()
    checkpoints: bool | None = None
    """Whether `training` writes checkpoints, and goes on from the last one. Not stated: where there is a bucket for them."""


class RaySection(Section):
    """KubeRay, and the Ray jobs.

    `none`: no Ray in this cluster. `addon`: GKE runs the operator, and the webhook that tells Ray's workers their place in
    the slice. `helm`: KubeRay's own chart, where the add-on is not to be had; the webhook is then the user's to install.
    """

    operator: Literal["addon", "helm", "none"] = "none"
    kubernetes_proxy: bool = False
    """KubeRay by Helm only: reach Ray's heads through the API server, where the operator's pod cannot resolve their Services
    (the rehearsal has no cluster DNS)."""
    jobs: list[RayJobSection] = Field(default_factory=list)

    @property
    def here(self) -> bool:
        return self.operator != "none"
