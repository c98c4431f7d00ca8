"""What the platform is: pools, flavors, quotas and jobs, all derived from the settings and the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from settings.catalogue.accelerators import SliceShape
from settings.catalogue.capacity import CAPACITIES, Capacity
from settings.catalogue.labels import LABEL_PREFIX
from settings.plan.host_requests import HostShare, host_share
from settings.plan.job_flavors import Labels
from settings.plan.job_queues import certain_place
from settings.plan.queues import FlavorPlan, QueuePlan, node_labels, queue_plans
from settings.plan.ray_jobs import RayJobPlan, priority_of, ray_job_plans
from settings.plan.slices import count_of, is_autopilot, max_run_seconds, request_seconds, system_zones
from settings.plan.teams import TeamPlan, team_plans
from settings.plan.training import CheckpointsPlan, TrainingPlan, checkpoints_plan, training_plan
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.schema.teams import PrioritySection
from settings.validation.parse import parse
from settings.validation.problem import ConfigurationError
from settings.validation.rules import all_problems

__all__ = ["FlavorPlan", "JobPlan", "Plan", "PoolPlan", "QueuePlan", "RayJobPlan", "TeamPlan", "make_plan", "plan_from"]


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
    """Of the first of its flavors; the others' slices have as many hosts and chips."""
    flavors: tuple[str, ...]
    """What it may get, in the order in which Kueue tries it."""
    labels: tuple[Labels, ...]
    """What its pods select nodes by: all labels of any of these."""
    slices: int
    after: tuple[str, ...]
    privileged: bool
    training: TrainingPlan | None
    """None: it counts the chips, and waits for `sleep_seconds`."""
    sleep_seconds: int
    request_seconds: int | None
    """For how long nodes from queued provisioning are asked for; None where none may come so."""
    share: HostShare | None
    """What each pod asks for of its host beside the chips; None: nothing."""
    priority: PrioritySection | None = None

    @property
    def queued(self) -> bool:
        """Its nodes may come by queued provisioning, if only when the flavors before it in the queue are taken."""
        return self.request_seconds is not None

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
    """Those of the stack file, then the teams'."""
    teams: tuple[TeamPlan, ...]
    jobs: tuple[JobPlan, ...]
    ray_jobs: tuple[RayJobPlan, ...]
    checkpoints: CheckpointsPlan | None
    """Where jobs keep their checkpoints."""
    system_zones: tuple[str, ...]
    """Where the nodes for system pods stand."""

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Those with queues, each once."""
        return tuple(dict.fromkeys(queue.namespace for queue in self.queues))

    @property
    def autopilot(self) -> bool:
        return is_autopilot(self.settings)


def plan_from(config: Mapping[str, str], folder: Path | None) -> Plan:
    """The plan of a stack's configuration, or one ConfigurationError with every problem. Chart folders are relative to
    `folder`; None leaves them unchecked, for when they are created later."""
    parsed = parse(config)
    problems = all_problems(parsed, folder)
    if problems or not isinstance(parsed, Settings):
        raise ConfigurationError(problems)
    return make_plan(parsed)


def make_plan(settings: Settings) -> Plan:
    """The plan of settings that have passed all rules."""
    return Plan(
        settings=settings,
        pools=tuple(_pool(name, section, settings) for section in settings.slices for name in section.pools),
        chips=sum(section.shape.chips * count_of(section) for section in settings.slices),
        queues=queue_plans(settings),
        teams=team_plans(settings),
        jobs=_jobs(settings),
        ray_jobs=in_order(ray_job_plans(settings)),
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


def _jobs(settings: Settings) -> tuple[JobPlan, ...]:
    """Jobs in an order in which each comes after those it waits for."""
    return in_order({job.name: _job(job, settings) for job in settings.workloads})


def _job(job: WorkloadSection, settings: Settings) -> JobPlan:
    """It gets the first of its flavors that has room for it. Pods of a job that names one flavor ask for a shape, those of a
    job that lists several for what tells these from others."""
    placed = certain_place(job, settings)
    queue, sections = placed.queue, placed.sections
    shape = sections[0].shape
    listed = tuple(tuple(node_labels(section, settings).items()) for section in sections)
    return JobPlan(
        name=job.name,
        namespace=queue.namespace,
        queue=queue.local_queue,
        shape=shape,
        flavors=tuple(section.flavor for section in sections),
        labels=listed if job.flavors is not None else (tuple(shape.node_labels.items()),),
        slices=job.slices,
        after=tuple(job.after),
        privileged=job.privileged,
        training=training_plan(job, checkpoints_plan(settings)),
        sleep_seconds=job.sleep_seconds,
        request_seconds=request_seconds(sections),
        share=host_share((section.shape.machine for section in sections), settings),
        priority=priority_of(job, settings),
    )


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
