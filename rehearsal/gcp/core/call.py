"""One call, as the API modules see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rehearsal.gcp.core.state import CloudState

PROJECT_PARAMETERS = ("projectsId", "project", "projectId", "v1Id1", "resource")
"""What the descriptions call the part of a path that names a project."""


@dataclass(frozen=True)
class Query:
    """What stands behind the `?` of an address: names and values, in order. A name may come several times."""

    pairs: tuple[tuple[str, str], ...] = ()

    def __iter__(self) -> Iterator[str]:
        return iter(dict(self.pairs))

    def all(self, name: str) -> list[str]:
        """Every value of a parameter that may be repeated."""
        return [value for key, value in self.pairs if key == name]

    def get(self, name: str, default: str = "") -> str:
        """The value of a parameter that is given once; of several the last counts."""
        return dict(self.pairs).get(name, default)

    def grouped(self) -> dict[str, str | list[str]]:
        """As JSON: a list where a name came more than once."""
        return {name: values[0] if len(values := self.all(name)) == 1 else values for name in self}


@dataclass(frozen=True)
class Call:
    """`params` are the path's parameters under their discovery names, `body` is {} when there is none."""

    api: str
    method: str
    params: dict[str, str]
    query: Query
    body: dict[str, Any]
    world: CloudState

    @property
    def project(self) -> str:
        return next((self.params[name] for name in PROJECT_PARAMETERS if name in self.params), "")


Handler = Callable[[Call], dict[str, Any]]
