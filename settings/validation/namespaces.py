"""Namespaces of queues and teams: they are created and deleted with the platform, and a team's belongs to it alone."""

from __future__ import annotations

from collections.abc import Iterator

from settings.schema.stack import Settings
from settings.validation.problem import Problem, duplicates

_SYSTEM_PREFIXES = ("kube-", "gke-", "gmp-")
_SYSTEM = ("kueue-system", "jobset-system", "ray-system")
_OWN = "write a name of your own"


def check(settings: Settings) -> Iterator[Problem]:
    taken = [(f"queues[{index}].namespace", queue.namespace) for index, queue in enumerate(settings.queues)]
    for path, name in taken:
        yield from _system(path, name, "write default, or a name of your own")
    taken = [(path, name) for path, name in taken if name != "default"]
    for index, team in enumerate(settings.teams):
        path = f"teams[{index}].{'namespace' if team.namespace is not None else 'name'}"
        yield from _system(path, team.home, _OWN)
        if team.home == "default":
            expected = "a namespace for this team alone: default is shared, and cannot be created or deleted"
            yield Problem(path, team.home, expected, _OWN)
        else:
            yield from duplicates([*_unique(taken), (path, team.home)], "namespace", "rename one")
            taken.append((path, team.home))


def _system(path: str, namespace: str, fix: str) -> Iterator[Problem]:
    if namespace.startswith(_SYSTEM_PREFIXES) or namespace in _SYSTEM:
        expected = (
            "a namespace for jobs: this one is the system's, and the platform deletes the namespaces of its queues"
        )
        yield Problem(path, namespace, expected, fix)


def _unique(places: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The first place of each name: queues may share a namespace."""
    first: dict[str, str] = {}
    for path, name in places:
        first.setdefault(name, path)
    return [(path, name) for name, path in first.items()]
