"""What the platform is: pools, flavors, quotas and jobs, all derived from the settings and the catalogue."""

from __future__ import annotations

from dataclasses import dataclass

from settings.catalogue.accelerators import SliceShape
from settings.catalogue.capacity import CAPACITIES, Capacity
from settings.catalogue.labels import LABEL_PREFIX
from settings.plan.jobs import AnyJob, Job, in_order, slice_jobs
from settings.plan.queues import FlavorPlan, QueuePlan, node_labels, queue_plans
from settings.plan.ray_jobs import ray_job_plans
from settings.plan.slices import count_of, is_autopilot, max_run_seconds, system_zones
from settings.plan.teams import TeamPlan, team_plans
from settings.plan.training import CheckpointsPlan, checkpoints_plan
from settings.schema.stack import Settings, SliceSection

__all__ = ["FlavorPlan", "Plan", "PoolPlan", "QueuePlan", "TeamPlan", "make_plan"]


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
class Plan:
    """The whole platform: the settings as written, and all that follows from them."""

    settings: Settings
    pools: tuple[PoolPlan, ...]
    """None on Autopilot, which makes its own."""
    chips: int
    """Of all slices together, when all are there."""
    queues: tuple[QueuePlan, ...]
    """Those of the stack file, then the teams'."""
    teams: tuple[TeamPlan, ...]
    jobs: tuple[Job, ...]
    """Of all kinds, each after those that it waits for."""
    checkpoints: CheckpointsPlan | None
    """Where jobs keep their checkpoints."""
    system_zones: tuple[str, ...]
    """Where the nodes for system pods stand."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Those with queues, each once."""
        return tuple(dict.fromkeys(queue.namespace for queue in self.queues))

    def of(self, kind: type[AnyJob]) -> tuple[AnyJob, ...]:
        """The jobs of one kind."""
        return tuple(job for job in self.jobs if isinstance(job, kind))

    @property
    def autopilot(self) -> bool:
        return is_autopilot(self.settings)


def make_plan(settings: Settings) -> Plan:
    """The plan of settings that have passed all rules."""
    return Plan(
        settings=settings,
        pools=tuple(_pool(name, section, settings) for section in settings.slices for name in section.pools),
        chips=sum(section.shape.chips * count_of(section) for section in settings.slices),
        queues=queue_plans(settings),
        teams=team_plans(settings),
        jobs=in_order({**slice_jobs(settings), **ray_job_plans(settings)}),
        checkpoints=checkpoints_plan(settings),
        system_zones=system_zones(settings),
    )


def _pool(name: str, section: SliceSection, settings: Settings) -> PoolPlan:
    shape, capacity = section.shape, CAPACITIES[section.capacity]
    return PoolPlan(
        name=name,
        shape=shape,
        zone=section.zone,
        capacity=capacity,
        reservation=section.reservation,
        bounds=_bounds(section, shape, capacity),
        max_run_seconds=max_run_seconds(section),
        labels=tuple(pair for pair in node_labels(section, settings).items() if pair[0].startswith(LABEL_PREFIX)),
    )


def _bounds(section: SliceSection, shape: SliceShape, capacity: Capacity) -> tuple[int, int] | None:
    """A slice grows to all of its hosts or not at all, so there is one upper bound."""
    if section.autoscaling is not None:
        return section.autoscaling.min, shape.hosts
    return (0, shape.hosts) if capacity.empty else None
