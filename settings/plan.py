"""What the platform is: pools, flavors, quotas and jobs, all derived from the settings and the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from settings.accelerators import TPU_RESOURCE, SliceShape
from settings.faults import ConfigurationError, refuse_if_any
from settings.job_rules import flavor_index
from settings.model import Settings, SliceSection
from settings.parse import parse
from settings.rules import check
from settings.shapes import shape_of


@dataclass(frozen=True)
class PoolPlan:
    """One node pool, which is one slice."""

    name: str
    shape: SliceShape
    zone: str


@dataclass(frozen=True)
class FlavorPlan:
    """One kind of slice in the queue. The quota counts what jobs may use at a time, by resource."""

    name: str
    shape: SliceShape
    pools: tuple[str, ...]
    quota: tuple[tuple[str, str], ...]

    @property
    def chips(self) -> int:
        return int(dict(self.quota)[TPU_RESOURCE])


@dataclass(frozen=True)
class QueuePlan:
    cluster_queue: str
    local_queue: str
    namespace: str
    strategy: str
    flavors: tuple[FlavorPlan, ...]


@dataclass(frozen=True)
class JobPlan:
    """One multislice job, in numbers."""

    name: str
    namespace: str
    queue: str
    shape: SliceShape
    slices: int
    after: tuple[str, ...]
    awaited: bool
    """Another job is submitted only after this one has been admitted."""
    privileged: bool
    sleep_seconds: int

    @property
    def devices(self) -> int:
        """What JAX must count in all processes together."""
        return self.slices * self.shape.chips * self.shape.machine.devices_per_chip


@dataclass(frozen=True)
class Plan:
    """The whole platform: the settings as written, and all that follows from them."""

    settings: Settings
    pools: tuple[PoolPlan, ...]
    queue: QueuePlan
    jobs: tuple[JobPlan, ...]
    system_zones: tuple[str, ...]
    """Where the nodes for system pods stand."""


def plan_from(config: Mapping[str, str], folder: Path) -> Plan:
    """The plan of a stack's configuration, or one ConfigurationError with every fault."""
    parsed = parse(config)
    if parsed.settings is None:
        further = check(parsed.draft, folder) if parsed.draft is not None else []
        known = {fault.path for fault in parsed.faults}
        raise ConfigurationError([*parsed.faults, *(fault for fault in further if fault.path not in known)])
    refuse_if_any(check(parsed.settings, folder))
    return make_plan(parsed.settings)


def make_plan(settings: Settings) -> Plan:
    """The plan of settings that have passed all rules."""
    shapes = [_certain(section) for section in settings.slices]
    pools = tuple(
        PoolPlan(name, shape, section.zone)
        for section, shape in zip(settings.slices, shapes, strict=True)
        for name in section.pools
    )
    zones = settings.cluster.default_pool.zones
    return Plan(
        settings=settings,
        pools=pools,
        queue=_queue(settings, shapes),
        jobs=_jobs(settings, shapes),
        system_zones=tuple(zones) if zones else tuple(dict.fromkeys(pool.zone for pool in pools)),
    )


def quota_of(section: SliceSection, shape: SliceShape) -> tuple[tuple[str, str], ...]:
    """How much of each resource a flavor may give out.

    cpu and memory are covered beside the chips: a queue that does not cover what a pod asks for leaves the job
    pending for ever. They are the machines' sizes, so that chips are always what runs out first. Quantities are text
    in Kubernetes' own canonical form: any other form comes back changed and shows up as a difference.
    """
    chips = section.quota if section.quota is not None else shape.chips * len(section.pools)
    hosts = chips // shape.machine.chips
    return (
        (TPU_RESOURCE, str(chips)),
        ("cpu", str(hosts * shape.machine.vcpus)),
        ("memory", gibibytes(hosts * shape.machine.memory_gb)),
    )


def gibibytes(amount: int) -> str:
    """`768` -> 768Gi, `1024` -> 1Ti: Kubernetes writes a whole number of the larger unit in that unit."""
    return f"{amount // 1024}Ti" if amount % 1024 == 0 else f"{amount}Gi"


def _certain(section: SliceSection) -> SliceShape:
    shape = shape_of(section)
    if shape is None:
        raise AssertionError(f"{section.machine_type} {section.topology} passed the rules but has no shape")
    return shape


def _queue(settings: Settings, shapes: list[SliceShape]) -> QueuePlan:
    flavors = tuple(
        FlavorPlan(section.flavor, shape, tuple(section.pools), quota_of(section, shape))
        for section, shape in zip(settings.slices, shapes, strict=True)
    )
    queue = settings.queue
    return QueuePlan(queue.cluster_queue, queue.local_queue, queue.namespace, queue.strategy, flavors)


def _jobs(settings: Settings, shapes: list[SliceShape]) -> tuple[JobPlan, ...]:
    """Jobs in an order in which each comes after those it waits for."""
    awaited = {name for job in settings.workloads for name in job.after}
    plans = {}
    for job in settings.workloads:
        index = flavor_index(job, settings)
        if index is None:
            raise AssertionError(f"job {job.name} passed the rules but has no flavor")
        plans[job.name] = JobPlan(
            name=job.name,
            namespace=settings.queue.namespace,
            queue=settings.queue.local_queue,
            shape=shapes[index],
            slices=job.slices,
            after=tuple(job.after),
            awaited=job.name in awaited,
            privileged=job.privileged,
            sleep_seconds=job.sleep_seconds,
        )
    return tuple(_in_order(plans))


def _in_order(plans: Mapping[str, JobPlan]) -> list[JobPlan]:
    ordered: dict[str, JobPlan] = {}

    def place(plan: JobPlan) -> None:
        for name in plan.after:
            place(plans[name])
        ordered.setdefault(plan.name, plan)

    for plan in plans.values():
        place(plan)
    return list(ordered.values())
