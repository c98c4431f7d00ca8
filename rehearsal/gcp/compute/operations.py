"""Compute's operations: global, of a region or of a zone."""

from __future__ import annotations

import time

from rehearsal.gcp.core import ApiError, Call, Handler, Object, World, not_found, now, number, stamp

BASE = "https://www.googleapis.com/compute/v1"
KIND = "compute-operations"
WAIT_S = 60.0
SECONDS = 8.0
"""About what networks and their parts take."""


def begin(call: Call, scope: str, verb: str, target: str, task: str, args: Object) -> Object:
    """Starts an operation on `target` (a path below the project, such as `global/networks/n`); `scope` is like `regions/r` or `global`."""
    label = f"operation-{stamp()}-{number(target + verb + str(time.time_ns()), 13)}"
    name = f"projects/{call.project}/{scope}/operations/{label}"
    operation: Object = {
        "kind": "compute#operation",
        "id": number(name, 19),
        "name": label,
        "operationType": verb,
        "targetLink": f"{BASE}/projects/{call.project}/{target}",
        "targetId": number(target, 19),
        "status": "RUNNING",
        "user": "rehearsal@example.com",
        "progress": 0,
        "insertTime": now(),
        "startTime": now(),
        "selfLink": f"{BASE}/{name}",
    }
    if scope != "global":
        kind, place = scope.split("/")
        operation[kind[:-1]] = f"{BASE}/projects/{call.project}/{kind}/{place}"
    last = target.rsplit("/", 1)[-1]
    call.world.run(KIND, name, operation, SECONDS * call.world.pace(call.method, last), task, args)
    return operation


def shown(operation: Object) -> Object:
    """An operation as compute answers it; its errors have compute's own shape."""
    visible = {key: value for key, value in operation.items() if not key.startswith("_") and key != "error"}
    error = operation.get("error")
    if error:
        code = (
            "RESOURCE_IN_USE_BY_ANOTHER_RESOURCE"
            if error["_reason"] == "resourceInUseByAnotherResource"
            else error["_status"]
        )
        visible["error"] = {"errors": [{"code": code, "message": error["message"]}]}
        visible |= {"httpErrorStatusCode": 400, "httpErrorMessage": "BAD REQUEST"}
    return visible


def _scope(call: Call) -> str:
    for key in ("region", "zone"):
        if key in call.params:
            return f"{key}s/{call.params[key]}"
    return "global"


def _find(world: World, call: Call) -> Object:
    name = f"projects/{call.project}/{_scope(call)}/operations/{call.params['operation']}"
    operation = world.store.get(KIND, name)
    if operation is None:
        raise not_found(f"The resource '{name}' was not found")
    return operation


def _get(call: Call) -> Object:
    return shown(_find(call.world, call))


def _wait(call: Call) -> Object:
    deadline = time.monotonic() + WAIT_S
    while (operation := _find(call.world, call))["status"] != "DONE" and time.monotonic() < deadline:
        time.sleep(0.02)
    return shown(operation)


def _list(call: Call) -> Object:
    prefix = f"projects/{call.project}/{_scope(call)}/operations/"
    return {"kind": "compute#operationList", "items": [shown(o) for o in call.world.store.list(KIND, prefix)]}


def in_use(kind: str, resource: str, user: str) -> ApiError:
    """The refusal to delete what something else stands on."""
    return ApiError(
        400,
        f"The {kind} resource '{resource}' is already being used by '{user}'",
        reason="resourceInUseByAnotherResource",
    )


HANDLERS: dict[str, Handler] = {
    f"compute.{scope}Operations.{verb}": handler
    for scope in ("global", "region", "zone")
    for verb, handler in (("get", _get), ("wait", _wait), ("list", _list))
}
