"""Compute's operations: global, of a region or of a zone."""

from __future__ import annotations

import time

from rehearsal.gcp.compute import listing
from rehearsal.gcp.compute.kinds import BASE, absent, project, region, zone
from rehearsal.gcp.core import Call, CloudState, Handler, Object, now, number, stamp
from rehearsal.gcp.machines import REGIONS

KIND = "compute-operations"
WAIT_S = 60.0
SECONDS = 8.0
"""About what networks and their parts take."""


CODES = {
    "resourceInUseByAnotherResource": "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE",
    "resourceNotReady": "RESOURCE_NOT_READY",
    "notFound": "RESOURCE_NOT_FOUND",
    "invalid": "INVALID_FIELD_VALUE",
    "quotaExceeded": "QUOTA_EXCEEDED",
}
"""What compute calls in an operation's errors what it gives as a reason at once."""


def label(target: str, verb: str) -> str:
    """A name for a new operation."""
    return f"operation-{stamp()}-{number(target + verb + str(time.time_ns()), 13)}"


def begin(call: Call, named: str, verb: str, resource: Object, task: str, args: Object) -> Object:
    """Starts the operation `named` on a resource, in the resource's own scope."""
    link = resource["selfLink"]
    parent = link.rsplit("/", 2)[0]
    operation: Object = {
        "kind": "compute#operation",
        "id": number(f"{parent}/{named}", 19),
        "name": named,
        "operationType": verb,
        "targetLink": link,
        "targetId": resource["id"],
        "status": "RUNNING",
        "user": "rehearsal@example.com",
        "progress": 0,
        "insertTime": now(),
        "startTime": now(),
        "selfLink": f"{parent}/operations/{named}",
    }
    if "/regions/" in parent:
        operation["region"] = parent
    seconds = SECONDS * call.world.pace(call.method, resource["name"])
    call.world.run(KIND, f"{parent}/operations/{named}".removeprefix(f"{BASE}/"), operation, seconds, task, args)
    return shown(operation)


def shown(operation: Object) -> Object:
    """An operation as compute answers it; its errors have compute's own shape."""
    visible = {key: value for key, value in operation.items() if not key.startswith("_") and key != "error"}
    error = operation.get("error")
    if error:
        code = CODES.get(error["_reason"], error["_status"])
        visible["error"] = {"errors": [{"code": code, "message": error["message"]}]}
        http = {"RESOURCE_NOT_FOUND": (404, "NOT FOUND"), "QUOTA_EXCEEDED": (403, "FORBIDDEN")}.get(
            code, (400, "BAD REQUEST")
        )
        visible |= {"httpErrorStatusCode": http[0], "httpErrorMessage": http[1]}
    return visible


def _scope(call: Call) -> str:
    if "region" in call.params:
        return f"regions/{region(call)}"
    return f"zones/{zone(call)}" if "zone" in call.params else "global"


def _find(world: CloudState, call: Call) -> Object:
    name = f"projects/{project(call)}/{_scope(call)}/operations/{call.params['operation']}"
    operation = world.store.get(KIND, name)
    if operation is None:
        raise absent(name)
    return operation


def _get(call: Call) -> Object:
    return shown(_find(call.world, call))


def _wait(call: Call) -> Object:
    """Answers when the operation is done, or as it stands after a while, as Google's does."""
    deadline = time.monotonic() + WAIT_S
    while (operation := _find(call.world, call))["status"] != "DONE" and time.monotonic() < deadline:
        time.sleep(0.02)
    return shown(operation)


def _list(call: Call) -> Object:
    path = f"projects/{project(call)}/{_scope(call)}/operations"
    return listing.page(call, "operation", path, [shown(o) for o in call.world.store.list(KIND, f"{path}/")])


def _aggregated(call: Call) -> Object:
    of_project = project(call)
    scopes = ["global", *(f"regions/{name}" for name in REGIONS)]
    found = {
        scope: [shown(o) for o in call.world.store.list(KIND, f"projects/{of_project}/{scope}/operations/")]
        for scope in scopes
    }
    return listing.aggregated(call, "operation", "operations", of_project, found)


_VERBS: dict[str, Handler] = {"get": _get, "wait": _wait, "list": _list}
HANDLERS: dict[str, Handler] = {
    **{
        f"compute.{scope}Operations.{verb}": handler
        for scope in ("global", "region", "zone")
        for verb, handler in _VERBS.items()
    },
    "compute.globalOperations.aggregatedList": _aggregated,
}
