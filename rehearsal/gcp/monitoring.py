"""The Monitoring API: dashboards (cloud.google.com/monitoring/api/ref_v3/rest/v1/projects.dashboards). No metric is written here."""

from __future__ import annotations

import re

from rehearsal.gcp import projects
from rehearsal.gcp.core import (
    ApiError,
    Call,
    Handler,
    Object,
    Service,
    already_exists,
    invalid,
    not_found,
    number,
    page,
    stamp,
)

KIND = "dashboards"
LAYOUTS = ("gridLayout", "mosaicLayout", "rowLayout", "columnLayout")
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_MOST_COLUMNS = 48


def _project(call: Call) -> str:
    found = projects.resolve(call.world, call.project)
    if found is None:
        raise not_found(f"Unknown project id: {call.project}")
    return found


def _name(project: str, own: str) -> str:
    """The name by which Google knows it: below the project's number."""
    return f"projects/{number(project)}/dashboards/{own}"


def _found(call: Call) -> Object:
    name = _name(_project(call), call.params["dashboardsId"])
    there = call.world.store.get(KIND, name)
    if there is None:
        raise not_found(f"Requested entity was not found: {name}")
    return there


def _stated(body: Object) -> Object:
    """What a caller may say of a dashboard. Raises what Google refuses; the words are ours."""
    if not body.get("displayName"):
        raise invalid("Field displayName is required.")
    if len([layout for layout in LAYOUTS if layout in body]) != 1:
        raise invalid(f"A dashboard has exactly one layout: {', '.join(LAYOUTS)}.")
    if "mosaicLayout" in body:
        _mosaic(body["mosaicLayout"])
    return body


def _mosaic(layout: Object) -> None:
    """Tiles lie within the grid and on no other tile (projects.dashboards, MosaicLayout)."""
    columns, taken = layout.get("columns", 0), set[tuple[int, int]]()
    if not 0 < columns <= _MOST_COLUMNS:
        raise invalid(f"Field mosaicLayout.columns has an invalid value of {columns}.")
    for index, tile in enumerate(layout.get("tiles", [])):
        x, y, width, height = (tile.get(key, 0) for key in ("xPos", "yPos", "width", "height"))
        if width < 1 or height < 1 or x < 0 or y < 0 or x + width > columns:
            raise invalid(f"Field mosaicLayout.tiles[{index}] does not fit into {columns} columns.")
        cells = {(column, row) for column in range(x, x + width) for row in range(y, y + height)}
        if cells & taken:
            raise invalid(f"Field mosaicLayout.tiles[{index}] overlaps another tile.")
        taken |= cells


def _create(call: Call) -> Object:
    project, body = _project(call), _stated(call.body)
    own = body.get("name", "").rsplit("/", 1)[-1] or f"{number(f'{project} {stamp()}', 20)}"
    if _ID.fullmatch(own) is None:
        raise invalid(f"Invalid dashboard id: {own}")
    name = _name(project, own)
    with call.world.store.lock:
        if call.world.store.get(KIND, name) is not None:
            raise already_exists(f"Dashboard {name} already exists.")
        return _saved(call, {**body, "name": name})


def _saved(call: Call, dashboard: Object) -> Object:
    """With an etag; only looked at when the caller wants no more than that."""
    fresh = {**dashboard, "etag": number(f"{dashboard} {stamp()}", 32)}
    if call.query.get("validateOnly") != "true":
        call.world.store.put(KIND, fresh["name"], fresh)
    return fresh


def _patch(call: Call) -> Object:
    """The whole is replaced: the call has no mask. An etag that is stated must be the newest one."""
    body = _stated(call.body)
    with call.world.store.lock:
        there = _found(call)
        if body.get("etag", there["etag"]) != there["etag"]:
            text = "The dashboard was changed since it was read: the etag that was sent is not the newest."
            raise ApiError(409, text, status="ABORTED", reason="aborted")
        return _saved(call, {**body, "name": there["name"]})


def _delete(call: Call) -> Object:
    with call.world.store.lock:
        call.world.store.delete(KIND, _found(call)["name"])
    return {}


def _list(call: Call) -> Object:
    rows = call.world.store.list(KIND, _name(_project(call), ""))
    return page(call, "dashboards", rows, usual=1000, most=1000)


_VERBS: dict[str, Handler] = {"create": _create, "get": _found, "list": _list, "patch": _patch, "delete": _delete}
_HANDLERS: dict[str, Handler] = {f"monitoring.projects.dashboards.{verb}": handler for verb, handler in _VERBS.items()}

SERVICE = Service(
    name="monitoring",
    versions=("v1",),
    handlers=_HANDLERS,
    custom_endpoints={"MONITORING": ""},
    must_be_enabled=True,
    resources={KIND: KIND},
)
