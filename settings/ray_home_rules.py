"""Where Ray jobs wait: in a queue or a team's that gives out nodes for their heads beside the chips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.copies import distinct, places
from settings.faults import MISSING, Described, Fault, listed, rule, unknown_names
from settings.model import QueueSection, Settings
from settings.ray_model import RayJobSection

Entries = list[tuple[int, RayJobSection]]


@rule
def check(settings: Settings) -> Iterator[Fault]:
    entries = distinct(settings.ray.jobs)
    yield from _teams(entries, settings)
    yield from _one_place(entries)
    yield from _queues([(index, job) for index, job in entries if job.team is None], settings)


@rule
def _one_place(entries: Entries) -> Iterator[Fault]:
    for index, job in entries:
        if job.team is not None and job.queue is not None:
            wanted = f"no queue beside team: {job.team} has its own"
            yield Fault(f"ray.jobs[{index}].queue", job.queue, wanted, "remove one of the two")


@rule
def _teams(entries: Entries, settings: Settings) -> Iterator[Fault]:
    """One fault for all jobs of a team."""
    for index, team in distinct(settings.teams):
        jobs = [job.name for _, job in entries if job.team == team.name]
        if jobs and team.cpu is None:
            wanted = f"a part of the nodes without chips: the heads of Ray jobs need them ({listed(jobs)})"
            yield Fault(f"teams[{index}].cpu", MISSING, wanted, "add `cpu: {}` to the team")


@rule
def _queues(entries: Entries, settings: Settings) -> Iterator[Fault]:
    """Of the jobs that are no team's."""
    queues = distinct(settings.queues)
    named = [(path, name) for path, name in places("ray.jobs[{}].queue", entries, "queue") if name is not None]
    all_names = [queue.local_queue for _, queue in queues]
    able = [queue.local_queue for _, queue in queues if queue.cpu is not None]
    teams = [team.name for _, team in distinct(settings.teams)]
    for path, name in named:
        if name in teams and name not in all_names:
            wanted = "a queue of the stack file: this one is a team's"
            yield Fault(path, name, wanted, f"write team: {name} in place of it")
    unknown = [(path, name) for path, name in named if name not in (*all_names, *teams)]
    yield from unknown_names(unknown, able if able else all_names, "a queue with a cpu flavor, for Ray's head")
    if not able:
        yield from _none_able(entries, queues, settings)
        return
    for path, name in named:
        if name in all_names and name not in able:
            wanted = f"a queue with a cpu flavor, which gives out nodes for Ray's head: {', '.join(able)}"
            yield Fault(path, name, wanted, f"write {able[0]}")


@rule
def _none_able(entries: Entries, queues: list[tuple[int, QueueSection]], settings: Settings) -> Iterator[Fault]:
    """Where teams have such nodes a job may be theirs. A stack without any queue has a fault for that."""
    able = [team.name for _, team in distinct(settings.teams) if team.cpu is not None]
    free = [index for index, job in entries if job.queue is None]
    if able:
        wanted = f"one of {', '.join(able)}: no queue gives out nodes for Ray's head, and these teams do"
        yield from (Fault(f"ray.jobs[{index}].team", MISSING, wanted, f"write {able[0]}") for index in free)
    elif entries and (queues or settings.teams):
        yield _no_cpu([job.queue for _, job in entries if job.queue is not None], queues)


def _no_cpu(named: Sequence[str], queues: list[tuple[int, QueueSection]]) -> Fault:
    """One fault for all jobs, at the queue that it must be if that is certain."""
    meant = [index for index, queue in queues if queue.local_queue in named]
    indices = meant if meant else [index for index, _ in queues]
    if len(indices) == 1:
        wanted = "a cpu flavor, which gives out nodes without chips: the heads of Ray jobs need them"
        return Fault(f"queues[{indices[0]}].cpu", MISSING, wanted, "add `cpu: {}` to the queue")
    wanted = "a cpu flavor in the queue of the Ray jobs, which gives out nodes for their heads"
    return Fault("queues", Described("no queue with a cpu flavor"), wanted, "add `cpu: {}` to that queue")
