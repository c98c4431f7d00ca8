"""Names: each entry and each name once, and every name that is referred to exists. What follows assumes both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from settings.plan.job_queues import job_entries, job_queues
from settings.schema.section import Section
from settings.schema.stack import Settings
from settings.validation.problem import MISSING, Described, Problem, duplicates, unknown_names

Named = list[tuple[str, str]]
"""(path, name) pairs."""


def check(settings: Settings) -> Iterator[Problem]:
    repeated = list(_repeated(settings))
    if repeated:
        yield from repeated
        return
    yield from _flavors(settings)
    yield from _cluster_queues(settings)
    yield from _local_queues(settings)
    yield from _ray_queues(settings)
    yield from _teams(settings)
    yield from _priorities(settings)
    yield from _jobs(settings)


def _repeated(settings: Settings) -> Iterator[Problem]:
    """Entries that are listed twice. Each is one mistake, which would repeat all names in it."""
    lists: dict[str, Sequence[Section]] = {
        "slices": settings.slices,
        "priorities": settings.priorities,
        "queues": settings.queues,
        "teams": settings.teams,
        "workloads": settings.workloads,
        "ray.jobs": settings.ray.jobs,
    }
    for key, entries in lists.items():
        for index, entry in enumerate(entries):
            if entry in entries[:index]:
                expected = f"a different entry: {key}[{entries.index(entry)}] is the same"
                yield Problem(f"{key}[{index}]", Described("the same entry again"), expected, "remove it")


def _flavors(settings: Settings) -> Iterator[Problem]:
    names = [(f"slices[{index}].flavor", section.flavor) for index, section in enumerate(settings.slices)]
    twice = list(duplicates(names, "flavor"))
    yield from twice or _unknown_flavors(settings, [name for _, name in names])


def _unknown_flavors(settings: Settings, known: list[str]) -> Iterator[Problem]:
    keys = dict(_flavor_keys(settings))
    for problem in unknown_names([*_flavor_lists(settings), *keys.items()], known, "a flavor in slices"):
        nearest = problem.fix.startswith("write ") and problem.path in keys
        yield replace(problem, fix=f"call it {problem.fix.removeprefix('write ')}") if nearest else problem


def _flavor_lists(settings: Settings) -> Iterator[tuple[str, str]]:
    for index, queue in enumerate(settings.queues):
        yield from _listed(f"queues[{index}].flavors", queue.flavors or ())
    for path, job in job_entries(settings):
        if job.flavor is not None:
            yield f"{path}.flavor", job.flavor
        yield from _listed(f"{path}.flavors", job.flavors or ())


def _flavor_keys(settings: Settings) -> Iterator[tuple[str, str]]:
    for index, queue in enumerate(settings.queues):
        yield from ((f"queues[{index}].limits.{name}", name) for name in queue.limits)
    for index, team in enumerate(settings.teams):
        yield from ((f"teams[{index}].flavors.{name}", name) for name in team.flavors)


def _cluster_queues(settings: Settings) -> Iterator[Problem]:
    """A team's cluster queue has the team's name."""
    queues = [(f"queues[{index}].clusterQueue", queue.cluster_queue) for index, queue in enumerate(settings.queues)]
    yield from duplicates(queues, "cluster queue")
    seen: dict[str, str] = {}
    for path, name in queues:
        seen.setdefault(name, path)
    for index, team in enumerate(settings.teams):
        path = f"teams[{index}].name"
        if team.name in seen:
            expected = f"a unique name, which its cluster queue has too: {seen[team.name]} is the same"
            yield Problem(path, team.name, expected, "rename one")
        seen.setdefault(team.name, path)


def _local_queues(settings: Settings) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for index, queue in enumerate(settings.queues):
        key = (queue.namespace, queue.local_queue)
        if key in seen:
            expected = f"a unique name in namespace {queue.namespace}: queues[{seen[key]}] has it"
            yield Problem(f"queues[{index}].localQueue", queue.local_queue, expected, "rename one")
        seen.setdefault(key, index)


def _ray_queues(settings: Settings) -> Iterator[Problem]:
    """The queues that Ray jobs name; a team's queue has a rule of its own."""
    names = [queue.local_queue for queue in settings.queues]
    able = [queue.local_queue for queue in settings.queues if queue.cpu is not None]
    known = [queue.local_queue for queue in job_queues(settings)]
    jobs = [(f"ray.jobs[{i}].queue", job.queue) for i, job in enumerate(settings.ray.jobs) if job.team is None]
    unknown = [(path, name) for path, name in jobs if name is not None and name not in known]
    yield from unknown_names(unknown, able or names, "a queue with a cpu flavor, for Ray's head")


def _teams(settings: Settings) -> Iterator[Problem]:
    named = [(f"{path}.team", job.team) for path, job in job_entries(settings) if job.team is not None]
    yield from unknown_names(named, [team.name for team in settings.teams], "a team in teams")


def _priorities(settings: Settings) -> Iterator[Problem]:
    """Kueue does not queue a job that names a missing class, and reports that in its own log only."""
    names = [(f"priorities[{index}].name", section.name) for index, section in enumerate(settings.priorities)]
    named = [(f"{path}.priority", job.priority) for path, job in job_entries(settings) if job.priority is not None]
    twice = list(duplicates(names, "priority"))
    if twice:
        yield from twice
    elif named and not names:
        expected = f"the priorities that jobs name: {', '.join(dict.fromkeys(name for _, name in named))}"
        yield Problem("priorities", MISSING, expected, "add them, each with its `value`")
    else:
        yield from unknown_names(named, [name for _, name in names], "a priority in priorities", "add it to priorities")


def _jobs(settings: Settings) -> Iterator[Problem]:
    """Names are unique across the kinds of jobs: the pods and dashboards of two jobs of one name look the same."""
    twice = list(duplicates([(f"{path}.name", job.name) for path, job in job_entries(settings)], "job name"))
    if twice:
        yield from twice
        return
    yield from _unknown_predecessors(settings)
    yield from _unknown_ray_predecessors(settings)


def _unknown_predecessors(settings: Settings) -> Iterator[Problem]:
    names = [job.name for job in settings.workloads]
    waits = [
        (f"workloads[{index}].after[{j}]", name, job.name)
        for index, job in enumerate(settings.workloads)
        for j, name in enumerate(job.after)
        if name not in names
    ]
    for missing in dict.fromkeys(name for _, name, _ in waits):
        same = [(path, name) for path, name, _ in waits if name == missing]
        first = next(job for _, name, job in waits if name == missing)
        yield from unknown_names(same, [name for name in names if name != first], "a job in workloads")


def _unknown_ray_predecessors(settings: Settings) -> Iterator[Problem]:
    names = [job.name for job in settings.ray.jobs]
    waits = [
        (f"ray.jobs[{index}].after[{j}]", name, index)
        for index, job in enumerate(settings.ray.jobs)
        for j, name in enumerate(job.after)
        if name not in names
    ]
    for missing in dict.fromkeys(name for _, name, _ in waits):
        same = [(path, name) for path, name, _ in waits if name == missing]
        first = next(index for _, name, index in waits if name == missing)
        yield from unknown_names(same, names[:first], "an earlier Ray job of the list")


def _listed(path: str, names: Iterable[str]) -> Named:
    return [(f"{path}[{index}]", name) for index, name in enumerate(names)]
