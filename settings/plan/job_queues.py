"""Every job with its place in the stack file, the queue in which it waits, and the slices that it may run on there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from settings.plan.borrowing import TEAMS, reachable_chips
from settings.plan.queues import offering_queue, sections_of
from settings.plan.system_nodes import Room
from settings.plan.system_quota import cpu_quota
from settings.schema.ray import RayJobSection
from settings.schema.stack import QueueSection, Settings, SliceSection, WorkloadSection
from settings.schema.teams import RoomSection, TeamSection

AnyJob = WorkloadSection | RayJobSection


@dataclass(frozen=True)
class JobQueue:
    """A queue of the stack file or a team's, at `path`."""

    path: str
    owner: QueueSection | TeamSection

    @property
    def label(self) -> str:
        """As in a problem's text: `queue training`, `team team-a`."""
        return f"{'team' if isinstance(self.owner, TeamSection) else 'queue'} {self.local_queue}"

    @property
    def namespace(self) -> str:
        return self.owner.home if isinstance(self.owner, TeamSection) else self.owner.namespace

    @property
    def local_queue(self) -> str:
        return self.owner.name if isinstance(self.owner, TeamSection) else self.owner.local_queue

    @property
    def cohort(self) -> str | None:
        return TEAMS if isinstance(self.owner, TeamSection) else self.owner.cohort

    @property
    def cpu(self) -> RoomSection | None:
        return self.owner.cpu

    def sections(self, settings: Settings) -> list[SliceSection]:
        """The slices that it offers, in the order in which Kueue tries them."""
        return sections_of(self.owner, settings)

    def reachable_chips(self, section: SliceSection, settings: Settings) -> int:
        """The most chips of a flavor that its jobs can have at a time."""
        return reachable_chips(self.owner, section, settings)

    def reachable_cpu(self, settings: Settings) -> Room:
        """What its jobs can have of the nodes without chips: with what its cohort lends, which has no limit."""
        alike = [
            queue for queue in job_queues(settings) if self.cohort is not None and queue.cohort == self.cohort
        ] or [self]
        rooms = [cpu_quota(queue.cpu, settings) for queue in alike if queue.cpu is not None]
        return Room(sum(room.millicores for room in rooms), sum(room.mib for room in rooms))


@dataclass(frozen=True)
class PlacedJob:
    """A job whose queue and slices are certain."""

    path: str
    job: AnyJob
    queue: JobQueue
    sections: tuple[SliceSection, ...]
    """What it may run on, in the order in which Kueue tries it: the flavors that it lists, all of the shape of the one that it
    names, or all that its queue offers."""


def job_entries(settings: Settings) -> Iterator[tuple[str, AnyJob]]:
    """(path, job) of all jobs, of each kind."""
    yield from ((f"workloads[{index}]", job) for index, job in enumerate(settings.workloads))
    yield from ((f"ray.jobs[{index}]", job) for index, job in enumerate(settings.ray.jobs))


def job_queues(settings: Settings) -> Iterator[JobQueue]:
    """All queues of the stack file, then those of all teams."""
    yield from (JobQueue(f"queues[{index}]", queue) for index, queue in enumerate(settings.queues))
    yield from (JobQueue(f"teams[{index}]", team) for index, team in enumerate(settings.teams))


def placed_jobs(settings: Settings) -> list[PlacedJob]:
    """The jobs whose queue and slices are certain; each of the others has a problem that the rules report."""
    placed = (place(path, job, settings) for path, job in job_entries(settings))
    return [job for job in placed if job is not None]


def place(path: str, job: AnyJob, settings: Settings) -> PlacedJob | None:
    queue = queue_of(job, settings)
    sections = _sections(job, queue, settings) if queue is not None else []
    return PlacedJob(path, job, queue, tuple(sections)) if queue is not None and sections else None


def certain_place(job: AnyJob, settings: Settings) -> PlacedJob:
    """The place of a job that has passed the rules."""
    placed = place("", job, settings)
    if placed is None:
        raise AssertionError(f"job {job.name} passed the rules but has no queue with its flavors")
    return placed


def queue_of(job: AnyJob, settings: Settings) -> JobQueue | None:
    """The queue of a job, None while that is open. A multislice job's is its team's, or the one that offers its first flavor; a
    Ray job's is its team's, the one that it names, or the only one with nodes for its head."""
    queues = [queue for queue in job_queues(settings) if _states_flavors(queue.owner, settings)]
    if isinstance(job, RayJobSection):
        return _ray_queue(job, queues)
    first = first_flavor(job, settings)
    if first is None:
        return None
    if job.team is not None:
        teams = (queue for queue in queues if isinstance(queue.owner, TeamSection) and queue.owner.name == job.team)
        return next((team for team in teams if first in (team.owner.flavors or {})), None)
    offering = offering_queue(first, settings)
    return next((queue for queue in queues if queue.owner is offering), None)


def first_flavor(job: AnyJob, settings: Settings) -> str | None:
    """The flavor that a job names first, or the only one; None while that is open."""
    if not names_flavors_once(job):
        return None
    if job.flavors is not None:
        return job.flavors[0]
    return job.flavor if job.flavor is not None else settings.slices[0].flavor if len(settings.slices) == 1 else None


def names_flavors_once(job: AnyJob) -> bool:
    """Whether a job has one of `flavor` and `flavors`, with each name once."""
    if job.flavors is None:
        return True
    return job.flavor is None and 0 < len(job.flavors) == len(set(job.flavors))


def _ray_queue(job: RayJobSection, queues: list[JobQueue]) -> JobQueue | None:
    """Only queues with nodes for its head will do."""
    able = [queue for queue in queues if queue.cpu is not None]
    teams = [queue for queue in able if isinstance(queue.owner, TeamSection)]
    others = [queue for queue in able if isinstance(queue.owner, QueueSection)]
    if job.team is not None:
        return next((queue for queue in teams if queue.local_queue == job.team), None)
    if job.queue is not None:
        return next((queue for queue in others if queue.local_queue == job.queue), None)
    return others[0] if len(others) == 1 else None


def _states_flavors(owner: QueueSection | TeamSection, settings: Settings) -> bool:
    return bool(owner.flavors) if owner.flavors is not None else len(settings.queues) == 1


def _sections(job: AnyJob, queue: JobQueue, settings: Settings) -> list[SliceSection]:
    """None where the job's flavors have a problem of their own."""
    offered = queue.sections(settings)
    if not names_flavors_once(job):
        return []
    if job.flavors is None and job.flavor is None:
        return offered
    names = job.flavors if job.flavors is not None else [job.flavor]
    named = [section for section in offered if section.flavor in names]
    if len(named) != len(names):
        return []
    if job.flavors is not None:
        return named
    return [section for section in offered if section.shape == named[0].shape]
