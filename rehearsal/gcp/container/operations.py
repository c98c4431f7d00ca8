"""GKE's operations, and who may run beside whom: pools of one cluster side by side, everything else alone."""

from __future__ import annotations

import secrets

from rehearsal.gcp.container.names import BASE, link, location, parent, project
from rehearsal.gcp.core import ApiError, Call, Handler, Object, World, not_found, now, number, stamp

KIND = "container-operations"
DOING = {
    "CREATE_CLUSTER": "creating", "DELETE_CLUSTER": "deleting", "UPDATE_CLUSTER": "updating", "UPGRADE_MASTER": "upgrading",
    "CREATE_NODE_POOL": "creating a node pool in", "DELETE_NODE_POOL": "deleting a node pool of", "SET_NODE_POOL_SIZE": "resizing a node pool of",
}  # fmt: skip


def begin(call: Call, kind: str, target: str, seconds: float, task: str, args: Object) -> Object:
    """Starts an operation of that type on a cluster or pool (its full name) and returns it as GKE answers it."""
    label = f"operation-{stamp()}-{secrets.token_hex(4)}-{secrets.token_hex(2)}-{secrets.token_hex(2)}-{secrets.token_hex(4)}"
    digits = number(project(call))
    operation: Object = {
        "name": label,
        "zone": location(call),
        "location": location(call),
        "operationType": kind,
        "status": "RUNNING",
        "startTime": now(),
        "selfLink": f"{BASE}/{call.api.split('.')[1]}/projects/{digits}/locations/{location(call)}/operations/{label}",
        "targetLink": link(call, target).replace(f"projects/{project(call)}/", f"projects/{digits}/", 1),
        "_target": target,
    }
    pace = call.world.pace(call.method, target.rsplit("/", 1)[-1])
    call.world.run(
        KIND, f"{parent(call)}/operations/{label}", operation, seconds * pace, task, {**args, "_operation": label}
    )
    return shown(operation)


def refuse_if_busy(world: World, target: str) -> None:
    """Raises GKE's refusal when an operation that cannot run beside a new one on `target` is under way."""
    cluster = target.split("/nodePools/")[0]
    for operation in world.store.list(KIND, cluster.split("/clusters/")[0] + "/operations/"):
        other = operation["_target"]
        same_cluster = other.split("/nodePools/")[0] == cluster
        beside = "/nodePools/" in other and "/nodePools/" in target and other != target
        if operation["status"] != "DONE" and same_cluster and not beside:
            name, doing = cluster.rsplit("/", 1)[-1], DOING.get(operation["operationType"], "operating on")
            raise ApiError(
                400,
                f"Operation {operation['name']} is currently {doing} cluster {name}. Please wait and try again once it is done.",
                status="FAILED_PRECONDITION",
                reason="failedPrecondition",
            )


def shown(operation: Object) -> Object:
    visible = {
        key: value for key, value in operation.items() if not key.startswith("_") and key not in ("error", "progress")
    }
    error = operation.get("error")
    if error:
        visible["error"] = {"code": error["code"], "message": error["message"]}
        visible["statusMessage"] = error["message"]
    return visible


def _id(call: Call) -> str:
    return call.params.get("operationsId") or call.params.get("operationId") or ""


def _get(call: Call) -> Object:
    """By the project's id or number: GKE's own links name the number."""
    for candidate in (f"{parent(call)}/operations/{_id(call)}",):
        found = call.world.store.get(KIND, candidate)
        if found:
            return shown(found)
    suffix = f"/locations/{location(call)}/operations/{_id(call)}"
    for name in call.world.store.names(KIND):
        if name.endswith(suffix) and number(name.split("/")[1]) == project(call):
            return shown(call.world.store.get(KIND, name) or {})
    raise not_found(f"Not found: {parent(call)}/operations/{_id(call)}.")


def _list(call: Call) -> Object:
    base = f"projects/{project(call)}/locations/"
    prefix = base if location(call) == "-" else f"{base}{location(call)}/"
    return {"operations": [shown(o) for o in call.world.store.list(KIND, prefix)]}


def _cancel(call: Call) -> Object:
    found = _get(call)
    raise ApiError(
        400,
        f"Operation {found['name']} cannot be cancelled.",
        status="FAILED_PRECONDITION",
        reason="failedPrecondition",
    )


HANDLERS: dict[str, Handler] = {
    f"container.projects.{style}.operations.{verb}": handler
    for style in ("locations", "zones")
    for verb, handler in (("get", _get), ("list", _list), ("cancel", _cancel))
}
