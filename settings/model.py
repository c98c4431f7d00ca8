"""What a user may write in a stack file, as strict types. Unknown keys are refused, nothing is converted silently.

What depends on more than one value (does the topology fit the machine type, is the zone known) is in `rules.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from settings import versions
from settings.names import (
    Cidr,
    Duration,
    GkeName,
    JobName,
    LabelKey,
    LabelValue,
    Location,
    ObjectName,
    ProjectId,
    Zone,
)


class Section(BaseModel):
    """Base of all sections: camelCase keys as everywhere in Pulumi's YAML, frozen, strict, no unknown keys."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        arbitrary_types_allowed=True,
    )


class DefaultPool(Section):
    """The nodes for system pods and for our controllers.

    JobSet's manager asks for 0.5 CPU and may take 2 CPU and 4 GiB, Kueue's 0.5 CPU and 2 GiB: a node of 4 vCPU and
    16 GiB carries both beside GKE's own pods. Two nodes, so that an upgrade of one leaves webhooks reachable.
    """

    machine_type: str = Field(default="e2-standard-4", pattern=r"^[a-z0-9]+(-[a-z0-9]+)+$")
    nodes: int = Field(default=2, ge=1, le=100)
    zones: list[Zone] = Field(default_factory=list)
    """Empty: the zones of the slices."""


class ClusterSection(Section):
    name: GkeName
    version: str = versions.GKE_VERSION
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = "REGULAR"
    default_pool: DefaultPool = DefaultPool()
    authorized_networks: list[Cidr] = Field(default_factory=list)
    """Who may reach the control plane's public address; empty leaves it to IAM alone."""


class GivenNetwork(Section):
    """A network that somebody else owns, by names as Google's API takes them."""

    network: str = Field(min_length=1)
    subnetwork: str = Field(min_length=1)
    pods_range: str = Field(min_length=1)
    services_range: str = Field(min_length=1)
    firewall: bool = True
    """False when the owner opens the webhook ports (README says which) and our user may not."""


class NetworkSection(Section):
    nodes_cidr: Cidr = "10.128.0.0/16"
    pods_cidr: Cidr = "10.64.0.0/16"
    services_cidr: Cidr = "10.32.0.0/20"
    control_plane_cidr: Cidr = "172.16.0.0/28"
    given: GivenNetwork | None = None


class SliceSection(Section):
    """Slices of one shape: as many pools as names are listed, one slice each."""

    flavor: ObjectName
    machine_type: str
    topology: str
    zone: Zone
    pools: list[GkeName] = Field(min_length=1)
    quota: int | None = None
    """Chips that jobs may use at a time; not stated: all chips of the pools."""


class QueueSection(Section):
    cluster_queue: ObjectName = "cluster-queue"
    local_queue: ObjectName = "multislice-queue"
    namespace: ObjectName = "default"
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"


class WorkloadSection(Section):
    """One multislice job."""

    name: JobName
    slices: int = Field(ge=1, le=256)
    flavor: str | None = None
    """Which kind of slice; may be left out where there is only one."""
    after: list[str] = Field(default_factory=list)
    """Jobs that must have been admitted before this one is submitted."""
    privileged: bool = False
    """Host network and a privileged container, as the tutorial's Standard variant had them. Current GKE gives a pod
    its chips without either; it is here for node images that need it, and off because it voids pod isolation."""
    sleep_seconds: int = Field(default=60, ge=0, le=86400)


class ChartsSection(Section):
    """Where the controllers' charts come from: an `oci://` address (with the pinned version) or a folder."""

    kueue: str = Field(default=versions.KUEUE_CHART, min_length=1)
    jobset: str = Field(default=versions.JOBSET_CHART, min_length=1)


class TimeoutsSection(Section):
    """How long each kind of step may take before it is a failure. Real GKE sets the defaults."""

    cluster: Duration = "45m"
    pool: Duration = "60m"
    controllers: Duration = "10m"
    webhooks: Duration = "5m"
    queues: Duration = "5m"
    admission: Duration = "15m"
    deletion: Duration = "15m"


class Settings(Section):
    """A whole stack file."""

    project: ProjectId
    location: Location
    cluster: ClusterSection
    slices: list[SliceSection] = Field(min_length=1)
    deletion_protection: bool = True
    labels: dict[LabelKey, LabelValue] = Field(default_factory=dict)
    network: NetworkSection = NetworkSection()
    queue: QueueSection = QueueSection()
    workloads: list[WorkloadSection] = Field(default_factory=list)
    charts: ChartsSection = ChartsSection()
    timeouts: TimeoutsSection = TimeoutsSection()
    tpu_zones: dict[str, list[Location]] = Field(default_factory=dict)
