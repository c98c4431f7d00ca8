"""Priorities: names that are there once and are ours to make, and jobs that name one of them."""

from __future__ import annotations

from collections.abc import Iterator

from settings.schema.stack import Settings
from settings.validation.lists import copies, distinct, once, places
from settings.validation.problem import MISSING, Problem, duplicates, rule, unknown_names

_SYSTEM = "system-"


@rule
def check(settings: Settings) -> Iterator[Problem]:
    entries = distinct(settings.priorities)
    yield from copies("priorities[{}]", settings.priorities)
    yield from duplicates(places("priorities[{}].name", entries, "name"), "priority")
    yield from _system(settings)
    yield from _named(settings)


@rule
def _system(settings: Settings) -> Iterator[Problem]:
    for path, name in places("priorities[{}].name", enumerate(settings.priorities), "name"):
        if name.startswith(_SYSTEM):
            expected = f"a name without {_SYSTEM} in front: Kubernetes keeps those for its own"
            yield Problem(path, name, expected, f"write {name.removeprefix(_SYSTEM).strip('-') or 'high-priority'}")


@rule
def _named(settings: Settings) -> Iterator[Problem]:
    """Kueue queues no job that names a missing class, and says so in its own log only."""
    known = once(settings.priorities, "name")
    jobs = [
        *places("workloads[{}].priority", distinct(settings.workloads), "priority"),
        *places("ray.jobs[{}].priority", distinct(settings.ray.jobs), "priority"),
    ]
    named = [(path, name) for path, name in jobs if name is not None]
    if named and not settings.priorities:
        names = ", ".join(dict.fromkeys(name for _, name in named))
        yield Problem(
            "priorities", MISSING, f"the priorities that jobs name: {names}", "add them, each with its `value`"
        )
        return
    yield from unknown_names(named, known, "a priority in priorities", "add it to priorities")
