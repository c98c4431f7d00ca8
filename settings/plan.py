"""What the platform is: pools, flavors, quotas and jobs, all derived from the settings and the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from settings.accelerators import SliceShape
from settings.capacity import CAPACITIES, LONGEST_RUN_S, Capacity
from settings.faults import refuse_if_any
from settings.job_rules import flavor_index
from settings.model import Settings, SliceSection
from settings.names import seconds
from settings.parse import parse
from settings.queue_plan import FlavorPlan, QueuePlan, node_labels, queue_of_flavor, queue_plans
from settings.ray_plan import RayJobPlan, ray_job_plans
from settings.rules import all_faults
from settings.shapes import certain_shape, count_of, is_autopilot, system_zones

__all__ = ["FlavorPlan", "JobPlan", "Plan", "PoolPlan", "QueuePlan", "RayJobPlan", "make_plan", "plan_from"]


@dataclass(frozen=True)
class PoolPlan:
    """One node pool, which is one slice."""

    name: str
    shape: SliceShape
    zone: str
    capacity: Capacity
    reservation: str | None
    bounds: tuple[int, int] | None
    """Fewest and most nodes of a pool that scales by itself, None for one of a fixed size."""
    max_run_seconds: int | None
    labels: tuple[tuple[str, str], ...]
    """Labels of our own on its nodes, where GKE's own do not tell its flavor."""


@dataclass(frozen=True)
class JobPlan:
    """One multislice job, in numbers."""

    name: str
    namespace: str
    queue: str
    shape: SliceShape
    slices: int
    after: tuple[str, ...]
    privileged: bool
    sleep_seconds: int
    queued: bool
    """Its nodes may come by queued provisioning."""
    max_run_seconds: int | None

    @property
    def devices(self) -> int:
        """What JAX must count in all processes together."""
        return self.slices * self.shape.chips * self.shape.machine.devices_per_chip


@dataclass(frozen=True)
class Plan:
    """The whole platform: the settings as written, and all that follows from them."""

    settings: Settings
    pools: tuple[PoolPlan, ...]
    """None on Autopilot, which makes its own."""
    chips: int
    """Of all slices together, when all are there."""
    queues: tuple[QueuePlan, ...]
    jobs: tuple[JobPlan, ...]
    ray_jobs: tuple[RayJobPlan, ...]
    system_zones: tuple[str, ...]
    """Where the nodes for system pods stand."""

    @property
    def autopilot(self) -> bool:
        return is_autopilot(self.settings)


def plan_from(config: Mapping[str, str], folder: Path | None) -> Plan:
    """The plan of a stack's configuration, or one ConfigurationError with every fault. `folder` is what chart folders are
    relative to; None leaves them unchecked, while they are still to be made."""
    parsed = parse(config)
    refuse_if_any(all_faults(parsed, folder))
    return make_plan(parsed.settings)


def make_plan(settings: Settings) -> Plan:
    """The plan of settings that have passed all rules."""
    return Plan(
        settings=settings,
        pools=tuple(_pool(name, section, settings) for section in settings.slices for name in section.pools),
        chips=sum(certain_shape(section).chips * count_of(section) for section in settings.slices),
        queues=queue_plans(settings),
        jobs=_jobs(settings),
        ray_jobs=in_order(ray_job_plans(settings)),
        system_zones=system_zones(settings),
    )


def _pool(name: str, section: SliceSection, settings: Settings) -> PoolPlan:
    shape, capacity = certain_shape(section), CAPACITIES[section.capacity]
    return PoolPlan(
        name=name,
        shape=shape,
        zone=section.zone,
        capacity=capacity,
        reservation=section.reservation,
        bounds=_bounds(section, shape, capacity),
        max_run_seconds=max_run_seconds(section),
        labels=tuple(pair for pair in node_labels(section, settings).items() if pair[0].startswith("tpu-platform/")),
    )


def _bounds(section: SliceSection, shape: SliceShape, capacity: Capacity) -> tuple[int, int] | None:
    """A slice grows to all of its hosts or not at all, so there is one upper bound."""
    if section.autoscaling is not None:
        return section.autoscaling.min, shape.hosts
    return (0, shape.hosts) if capacity.empty else None


def max_run_seconds(section: SliceSection) -> int | None:
    """After how long Google takes a node back, None for never."""
    if section.max_run_duration is not None:
        return seconds(section.max_run_duration)
    return LONGEST_RUN_S if CAPACITIES[section.capacity].lent else None


def _jobs(settings: Settings) -> tuple[JobPlan, ...]:
    """Jobs in an order in which each comes after those it waits for."""
    plans = {}
    for job in settings.workloads:
        index = flavor_index(job, settings)
        if index is None:
            raise AssertionError(f"job {job.name} passed the rules but has no flavor")
        section = settings.slices[index]
        queue = queue_of_flavor(section.flavor, settings)
        plans[job.name] = JobPlan(
            name=job.name,
            namespace=queue.namespace,
            queue=queue.local_queue,
            shape=certain_shape(section),
            slices=job.slices,
            after=tuple(job.after),
            privileged=job.privileged,
            sleep_seconds=job.sleep_seconds,
            queued=CAPACITIES[section.capacity].queued,
            max_run_seconds=max_run_seconds(section),
        )
    return in_order(plans)


AnyJob = TypeVar("AnyJob", JobPlan, RayJobPlan)


def in_order(plans: Mapping[str, AnyJob]) -> tuple[AnyJob, ...]:
    """Each plan after those that it names in `after`."""
    ordered: dict[str, AnyJob] = {}
    for plan in plans.values():
        waiting = [plan]
        while waiting:
            first = next((name for name in waiting[-1].after if name not in ordered), None)
            if first is not None:
                waiting.append(plans[first])
            else:
                placed = waiting.pop()
                ordered.setdefault(placed.name, placed)
    return tuple(ordered.values())
