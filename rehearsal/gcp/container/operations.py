"""GKE's operations, and who may run beside whom: pools of one cluster side by side, everything else alone."""

from __future__ import annotations

import secrets

from rehearsal.gcp.container.names import BASE, link, location, parent, project
from rehearsal.gcp.core import Call, CloudState, Handler, Object, failed_precondition, not_found, now, number, stamp

KIND = "container-operations"
_DOING = {"CREATE_CLUSTER": "creating", "DELETE_CLUSTER": "deleting", "UPGRADE_MASTER": "upgrading"}


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


def refuse_if_busy(world: CloudState, target: str) -> None:
    """Raises GKE's refusal when an operation that cannot run beside a new one on `target` is under way."""
    cluster = target.split("/nodePools/")[0]
    for operation in world.store.list(KIND, cluster.split("/clusters/")[0] + "/operations/"):
        other = operation["_target"]
        same_cluster = other.split("/nodePools/")[0] == cluster
        beside = "/nodePools/" in other and "/nodePools/" in target and other != target
        if operation["status"] != "DONE" and same_cluster and not beside:
            raise failed_precondition(_busy(operation, cluster.rsplit("/", 1)[-1]))


def _busy(operation: Object, cluster: str) -> str:
    """The two texts that GKE has for this; clients look for FAILED_PRECONDITION and try again."""
    doing = _DOING.get(operation["operationType"])
    if doing is None:
        return f"Cluster is running incompatible operation {operation['name']}."
    return f"Operation {operation['name']} is currently {doing} cluster {cluster}. Please wait and try again once it is done."


def shown(operation: Object) -> Object:
    visible = {
        key: value for key, value in operation.items() if not key.startswith("_") and key not in ("error", "progress")
    }
    error = operation.get("error")
    if error:
        visible["error"] = {"code": error["code"], "message": error["message"]}
        visible["statusMessage"] = visible["detail"] = error["message"]
        if error["_reason"].startswith("GCE_"):
            condition = {"code": error["_reason"], "canonicalCode": error["_status"], "message": error["message"]}
            visible["nodepoolConditions" if "/nodePools/" in operation["_target"] else "clusterConditions"] = [
                condition
            ]
    return visible


def _id(call: Call) -> str:
    return call.params.get("operationsId") or call.params.get("operationId") or ""


def _get(call: Call) -> Object:
    found = call.world.store.get(KIND, f"{parent(call)}/operations/{_id(call)}")
    if found is None:
        raise not_found(f"Not found: {parent(call)}/operations/{_id(call)}.")
    return shown(found)


def _list(call: Call) -> Object:
    base = f"projects/{project(call)}/locations/"
    prefix = base if location(call) == "-" else f"{base}{location(call)}/"
    return {"operations": [shown(o) for o in call.world.store.list(KIND, prefix)]}


def _cancel(call: Call) -> Object:
    raise failed_precondition(f"Operation {_get(call)['name']} cannot be cancelled.")


HANDLERS: dict[str, Handler] = {
    f"container.projects.{style}.operations.{verb}": handler
    for style in ("locations", "zones")
    for verb, handler in (("get", _get), ("list", _list), ("cancel", _cancel))
}
