"""Where Ray jobs wait: in a queue or a team's that gives out nodes for their heads beside the chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.schema.ray import RayJobSection
from settings.schema.stack import QueueSection, Settings
from settings.validation.lists import distinct, places
from settings.validation.problem import MISSING, Described, Problem, listed, rule, unknown_names

Entries = list[tuple[int, RayJobSection]]


@rule
def check(settings: Settings) -> Iterator[Problem]:
    entries = distinct(settings.ray.jobs)
    yield from _teams(entries, settings)
    yield from _one_place(entries)
    yield from _queues([(index, job) for index, job in entries if job.team is None], settings)


@rule
def _one_place(entries: Entries) -> Iterator[Problem]:
    for index, job in entries:
        if job.team is not None and job.queue is not None:
            expected = f"no queue beside team: {job.team} has its own"
            yield Problem(f"ray.jobs[{index}].queue", job.queue, expected, "remove one of the two")


@rule
def _teams(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """One fault for all jobs of a team."""
    for index, team in distinct(settings.teams):
        jobs = [job.name for _, job in entries if job.team == team.name]
        if jobs and team.cpu is None:
            expected = f"a part of the nodes without chips: the heads of Ray jobs need them ({listed(jobs)})"
            yield Problem(f"teams[{index}].cpu", MISSING, expected, "add `cpu: {}` to the team")


@rule
def _queues(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """Of the jobs that are no team's."""
    queues = distinct(settings.queues)
    named = [(path, name) for path, name in places("ray.jobs[{}].queue", entries, "queue") if name is not None]
    all_names = [queue.local_queue for _, queue in queues]
    able = [queue.local_queue for _, queue in queues if queue.cpu is not None]
    teams = [team.name for _, team in distinct(settings.teams)]
    for path, name in named:
        if name in teams and name not in all_names:
            expected = "a queue of the stack file: this one is a team's"
            yield Problem(path, name, expected, f"write team: {name} in place of it")
    unknown = [(path, name) for path, name in named if name not in (*all_names, *teams)]
    yield from unknown_names(unknown, able if able else all_names, "a queue with a cpu flavor, for Ray's head")
    if not able:
        yield from _none_able(entries, queues, settings)
        return
    for path, name in named:
        if name in all_names and name not in able:
            expected = f"a queue with a cpu flavor, which gives out nodes for Ray's head: {', '.join(able)}"
            yield Problem(path, name, expected, f"write {able[0]}")


@rule
def _none_able(entries: Entries, queues: list[tuple[int, QueueSection]], settings: Settings) -> Iterator[Problem]:
    """Where teams have such nodes a job may be theirs. A stack without any queue has a fault for that."""
    able = [team.name for _, team in distinct(settings.teams) if team.cpu is not None]
    free = [index for index, job in entries if job.queue is None]
    if able:
        expected = f"one of {', '.join(able)}: no queue gives out nodes for Ray's head, and these teams do"
        yield from (Problem(f"ray.jobs[{index}].team", MISSING, expected, f"write {able[0]}") for index in free)
    elif entries and (queues or settings.teams):
        yield _no_cpu([job.queue for _, job in entries if job.queue is not None], queues)


def _no_cpu(named: Sequence[str], queues: list[tuple[int, QueueSection]]) -> Problem:
    """One fault for all jobs, at the queue that it must be if that is certain."""
    meant = [index for index, queue in queues if queue.local_queue in named]
    indices = meant if meant else [index for index, _ in queues]
    if len(indices) == 1:
        expected = "a cpu flavor, which gives out nodes without chips: the heads of Ray jobs need them"
        return Problem(f"queues[{indices[0]}].cpu", MISSING, expected, "add `cpu: {}` to the queue")
    expected = "a cpu flavor in the queue of the Ray jobs, which gives out nodes for their heads"
    return Problem("queues", Described("no queue with a cpu flavor"), expected, "add `cpu: {}` to that queue")
