"""Projects: nobody creates them, every well-formed id exists, and each has a number that always belongs to the same id."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rehearsal.gcp.core import PROJECT_PARAMETERS, CloudState, number

_ID = re.compile(r"[a-z][a-z0-9-]{4,28}[a-z0-9]")
KIND = "projects"


def well_formed(project: str) -> bool:
    """Google's rule for ids: 6 to 30 characters (cloud.google.com/resource-manager/docs/creating-managing-projects)."""
    return _ID.fullmatch(project) is not None


def resolve(world: CloudState, project: str) -> str | None:
    """The id of a project that is named by id or by number; None where there is no such project.

    A number is known once its id was seen: the ids are not listed anywhere.
    """
    if well_formed(project):
        if world.store.get(KIND, number(project)) is None:
            world.store.put(KIND, number(project), {"projectId": project})
        return project
    found = world.store.get(KIND, project) if project.isdigit() else None
    return str(found["projectId"]) if found else None


def by_id(world: CloudState, params: Mapping[str, str]) -> dict[str, str]:
    """A path's parameters, with a project that is named by number under its id. One that is not known stays as it was named."""
    found = {name: resolve(world, params[name]) for name in PROJECT_PARAMETERS if params.get(name, "").isdigit()}
    return {**params, **{name: project for name, project in found.items() if project is not None}}
