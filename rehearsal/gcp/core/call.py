"""One call, as the API modules see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rehearsal.gcp.core.world import World


@dataclass(frozen=True)
class Call:
    """`params` are the path's parameters under their discovery names, `body` is {} when there is none."""

    api: str
    method: str
    params: dict[str, str]
    query: dict[str, str]
    body: dict[str, Any]
    world: World

    @property
    def project(self) -> str:
        names = ("projectsId", "project", "projectId", "v1Id1", "resource")
        return next((self.params[name] for name in names if name in self.params), "")


Handler = Callable[[Call], dict[str, Any]]
