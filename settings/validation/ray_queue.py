"""The queue of a Ray job: one, or a team's, that offers nodes for its head beside the chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.schema.ray import RayJobSection
from settings.schema.stack import QueueSection, Settings
from settings.validation.problem import MISSING, Described, Problem, listed

Entries = list[tuple[int, RayJobSection]]


def check(settings: Settings) -> Iterator[Problem]:
    yield from _teams(settings)
    yield from _one_place(settings)
    yield from _queues([(i, job) for i, job in enumerate(settings.ray.jobs) if job.team is None], settings)


def _one_place(settings: Settings) -> Iterator[Problem]:
    for index, job in enumerate(settings.ray.jobs):
        if job.team is not None and job.queue is not None:
            expected = f"not set, because team {job.team} has a queue of its own"
            yield Problem(f"ray.jobs[{index}].queue", job.queue, expected, "remove one of the two")


def _teams(settings: Settings) -> Iterator[Problem]:
    """One problem for all jobs of a team."""
    for index, team in enumerate(settings.teams):
        jobs = [job.name for job in settings.ray.jobs if job.team == team.name]
        if jobs and team.cpu is None:
            expected = f"a part of the nodes without chips: the heads of Ray jobs need them ({listed(jobs)})"
            yield Problem(f"teams[{index}].cpu", MISSING, expected, "add `cpu: {}` to the team")


def _queues(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """The queues of jobs without a team."""
    named = [(f"ray.jobs[{index}].queue", job.queue) for index, job in entries if job.queue is not None]
    names = [queue.local_queue for queue in settings.queues]
    able = [queue.local_queue for queue in settings.queues if queue.cpu is not None]
    for path, name in named:
        if name not in names:
            expected = "a queue of the stack file: this one is a team's"
            yield Problem(path, name, expected, f"write team: {name} in place of it")
        elif able and name not in able:
            expected = f"a queue with a cpu flavor, which offers nodes for Ray's head: {', '.join(able)}"
            yield Problem(path, name, expected, f"write {able[0]}")
    if not able:
        yield from _none_able([(index, job) for index, job in entries if job.queue in (None, *names)], settings)


def _none_able(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """Where teams have such nodes a job may be in a team. A stack without any queue has another problem."""
    able = [team.name for team in settings.teams if team.cpu is not None]
    free = [index for index, job in entries if job.queue is None]
    if able:
        expected = f"one of {', '.join(able)}: no queue offers nodes for Ray's head, and these teams do"
        yield from (Problem(f"ray.jobs[{index}].team", MISSING, expected, f"write {able[0]}") for index in free)
    elif entries and (settings.queues or settings.teams):
        yield _no_cpu([job.queue for _, job in entries if job.queue is not None], settings.queues)


def _no_cpu(named: Sequence[str], queues: Sequence[QueueSection]) -> Problem:
    """One fault for all jobs, at the queue that it must be if that is certain."""
    meant = [index for index, queue in enumerate(queues) if queue.local_queue in named]
    indices = meant if meant else list(range(len(queues)))
    if len(indices) == 1:
        expected = "a cpu flavor, which offers nodes without chips: the heads of Ray jobs need them"
        return Problem(f"queues[{indices[0]}].cpu", MISSING, expected, "add `cpu: {}` to the queue")
    expected = "a cpu flavor in the queue of the Ray jobs, which offers nodes for their heads"
    return Problem("queues", Described("no queue with a cpu flavor"), expected, "add `cpu: {}` to that queue")
