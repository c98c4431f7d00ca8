"""What a user may write in a stack file, as strict types. Unknown keys are refused, nothing is converted silently.

What depends on more than one value (does the topology fit the machine type, is the zone known) is in `rules.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from settings.catalogue import versions
from settings.catalogue.accelerators import MACHINE_TYPES, MachineType, SliceShape
from settings.catalogue.capacity import CapacityKind
from settings.schema.field_types import (
    Cidr,
    CohortName,
    CurrencyCode,
    Duration,
    GkeName,
    GkeVersion,
    JobName,
    LabelKey,
    LabelValue,
    Location,
    MachineName,
    ObjectName,
    PoolName,
    ProjectId,
    Zone,
)
from settings.schema.monitoring import MonitoringSection
from settings.schema.network import NetworkSection
from settings.schema.ray import RaySection
from settings.schema.section import Section
from settings.schema.teams import LimitSection, PreemptionSection, PrioritySection, RoomSection, TeamSection
from settings.schema.training import CheckpointsSection, TrainingSection

ELASTIC_JOBS = "ElasticJobsViaWorkloadSlices"
"""Kueue's feature gate for jobs that change their size while they run: beta and on by default since 0.18."""


class DefaultPool(Section):
    """The nodes for system pods and for our controllers.

    JobSet's manager asks for 0.5 CPU and may take 2 CPU and 4 GiB, Kueue's 0.5 CPU and 2 GiB: a node of 4 vCPU and
    16 GiB carries both beside GKE's own pods. Two nodes, so that an upgrade of one leaves webhooks reachable.
    """

    machine_type: MachineName = "e2-standard-4"
    nodes: int = Field(default=2, ge=1, le=100)
    zones: list[Zone] = Field(default_factory=list)
    """Empty: the zones of the slices."""


class ClusterSection(Section):
    name: GkeName
    existing: bool = False
    """True for a cluster that somebody else made and keeps: pools, controllers, queues and jobs are added to it, and
    destroying takes only those away. `defaultPool` then describes the nodes that it has for system pods."""
    version: GkeVersion = versions.GKE_VERSION
    mode: Literal["standard", "autopilot"] = "standard"
    """Who owns the nodes: standard, our pools; autopilot, Google, which brings nodes for pods and takes them away."""
    release_channel: Literal["RAPID", "REGULAR", "STABLE", "EXTENDED"] = "REGULAR"
    default_pool: DefaultPool = DefaultPool()
    authorized_networks: list[Cidr] = Field(default_factory=list)
    """Who may reach the control plane's address; empty leaves it to IAM alone."""
    private_endpoint: bool = False
    """No public address: the control plane is reached from the network, and from what is peered with it, only. Then
    `pulumi up` must run there too."""
    security_group: str | None = None
    """The group that holds the groups of teams: GKE looks at no other ones ("Google Groups for RBAC")."""


class AutoscalingSection(Section):
    """A pool that grows from `min` to `max` nodes when pods wait for it. A slice is whole or not there, so `max` is
    its hosts (what is taken when it is not stated), and `min` is 0 or its hosts."""

    min: int = 0
    max: int | None = None


class RetrySection(Section):
    """How often Kueue asks again after a ProvisioningRequest failed: after `base_seconds`, then twice that, and so on,
    at most `max_seconds` (Kueue's ProvisioningRequestConfig, retryStrategy). After the last try the job is deactivated."""

    limit: int = Field(default=3, ge=0, le=100)
    base_seconds: int = Field(default=60, ge=1, le=86400)
    max_seconds: int = Field(default=1800, ge=1, le=86400)


class SliceSection(Section):
    """Slices of one shape and one kind of capacity: as many pools as names are listed, one slice each."""

    flavor: ObjectName
    machine_type: str
    topology: str
    zone: Zone
    pools: list[PoolName] = Field(default_factory=list)
    """One name a slice, in a standard cluster."""
    count: int | None = Field(default=None, ge=1, le=256)
    """How many slices jobs may have at a time on Autopilot, where there are no pools to name."""
    quota: int | None = None
    """Chips that jobs may use at a time; not stated: all chips of the pools."""
    capacity: CapacityKind = "on-demand"
    reservation: str | None = None
    """The name of a reservation, for `capacity: reservation`."""
    nodes: int | None = None
    """The hosts of a slice, for those who want to see the number here; it must be what the topology says."""
    autoscaling: AutoscalingSection | None = None
    """Not stated: a fixed size, but for flex-start and queued capacity, which always start at 0."""
    max_run_duration: Duration | None = None
    """After this time Google takes a node back. Flex-start and queued capacity: at most, and if not stated, 7 days."""
    retry: RetrySection | None = None
    """For `capacity: queued`."""

    @property
    def machine(self) -> MachineType:
        """The row of the catalogue; validation has found it before anything reads this."""
        return MACHINE_TYPES[self.machine_type]

    @property
    def shape(self) -> SliceShape:
        """The shape of one slice; validation has found that the machine type makes the topology."""
        return SliceShape(self.machine, self.topology)


class CpuFlavorSection(RoomSection):
    """The nodes for system pods as a flavor."""

    flavor: ObjectName = "default-cpu"


class QueueSection(Section):
    """A queue over some of the flavors, in the order in which they are tried (Plan A, Plan B, ...)."""

    cluster_queue: ObjectName = "cluster-queue"
    local_queue: ObjectName = "multislice-queue"
    namespace: ObjectName = "default"
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = "BestEffortFIFO"
    flavors: list[str] | None = None
    """May be left out where there is only one queue: all flavors, in the order of `slices`."""
    cpu: CpuFlavorSection | None = None
    cohort: CohortName | None = None
    """Queues of one cohort lend each other what they do not use. The teams' is called `teams`."""
    preemption: PreemptionSection | None = None
    limits: dict[str, LimitSection] = Field(default_factory=dict)
    """By flavor."""


class WorkloadSection(Section):
    """One training job."""

    name: JobName
    kind: Literal["jobset", "job"] = "jobset"
    """`jobset`: a JobSet, of any number of slices. `job`: an indexed Job of Kubernetes itself, of one slice."""
    slices: int = Field(ge=1, le=256)
    flavor: str | None = None
    """Which kind of slice: any flavor of its shape in the queue will do. May be left out where there is only one."""
    flavors: list[str] | None = None
    """In place of `flavor`, the flavors that will do and no others, in the order in which their queue tries them. They may be of
    different generations: their slices have equally many hosts, and their hosts equally many chips."""
    team: str | None = None
    """In whose namespace and queue; not stated: those of the queue that gives out the flavor."""
    priority: str | None = None
    """One of `priorities`."""
    after: list[str] = Field(default_factory=list)
    """Jobs that must have been admitted before this one is submitted."""
    privileged: bool = False
    """Host network and a privileged container, as the tutorial's Standard variant had them. Current GKE gives a pod
    its chips without either; it is here for node images that need it, and off because it voids pod isolation."""
    program: Literal["training", "device-count"] = "training"
    """What runs: training, or the tutorial's payload, which counts the chips and waits for `sleep_seconds`."""
    training: TrainingSection = TrainingSection()
    checkpoints: bool | None = None
    """Whether the job goes on from its last checkpoint after an interruption. Not stated: where there is a bucket."""
    sleep_seconds: int = Field(default=60, ge=0, le=86400)


class PodsReadySection(Section):
    """What Kueue does with a job that was admitted and whose pods do not get ready.

    Kueue 0.19 made this check a default of 30 minutes; it is stated so that an upgrade cannot change it unseen. Half an
    hour covers a slice's nodes being made or repaired and the image being pulled; a job that exceeds it gives its quota
    back and is queued again, as often as it takes.
    """

    enabled: bool = True
    timeout: Duration = "30m"
    recovery_timeout: Duration = "30m"


class KueueSection(Section):
    feature_gates: dict[str, bool] = Field(default_factory=lambda: {ELASTIC_JOBS: True})
    pods_ready: PodsReadySection = PodsReadySection()
    fair_sharing: bool | None = None
    """Whether those who borrow get equal parts, by weight. Not stated: where there are teams."""


class ChartsSection(Section):
    """Where the controllers' charts come from: an `oci://` address (with the pinned version) or a folder."""

    kueue: str = Field(default=versions.KUEUE_CHART, min_length=1)
    jobset: str = Field(default=versions.JOBSET_CHART, min_length=1)
    kuberay: str = Field(default=versions.KUBERAY_CHART, min_length=1)


class PricesSection(Section):
    """What an hour of one chip costs, as the user's contract says. There are no defaults: without a price, chip-hours are
    all that is counted."""

    currency: CurrencyCode = "USD"
    chip_hour: dict[str, dict[str, float]] = Field(default_factory=dict)
    """By generation (v6e) and kind of capacity (on-demand, reservation, spot, flex-start, queued)."""


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
    priorities: list[PrioritySection] = Field(default_factory=list)
    queues: list[QueueSection] = Field(default_factory=lambda: [QueueSection()])
    teams: list[TeamSection] = Field(default_factory=list)
    kueue: KueueSection = KueueSection()
    checkpoints: CheckpointsSection = CheckpointsSection()
    workloads: list[WorkloadSection] = Field(default_factory=list)
    ray: RaySection = RaySection()
    monitoring: MonitoringSection = MonitoringSection()
    prices: PricesSection = PricesSection()
    charts: ChartsSection = ChartsSection()
    timeouts: TimeoutsSection = TimeoutsSection()
    tpu_zones: dict[str, list[Location]] = Field(default_factory=dict)
    tpu_capacity: dict[str, list[CapacityKind]] = Field(default_factory=dict)
    """By generation: kinds of capacity that Google has added to those of the catalogue."""
