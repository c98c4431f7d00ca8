"""Node pools."""

from __future__ import annotations

from typing import Any

from rehearsal.gcp.container import autopilot, defaults, names, placement, rules, shortages
from rehearsal.gcp.container.operations import begin, refuse_if_busy
from rehearsal.gcp.container.versions import resolve
from rehearsal.gcp.core import Call, CloudState, Handler, Object, invalid, number, public
from rehearsal.gcp.core.state import Task
from rehearsal.gcp.machines import MACHINES
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gcp.serviceusage import require_api

CREATE_S, DELETE_S, UPDATE_S = 120.0, 90.0, 30.0


def save(world: CloudState, name: str, pool: Object) -> None:
    world.store.put("pools", name, pool)


def of(world: CloudState, cluster: str) -> list[Object]:
    """The pools of a cluster, by full name."""
    return world.store.list("pools", f"{cluster}/nodePools/")


def shown(pool: Object) -> Object:
    return public(pool)


def prepare(world: CloudState, stated: Object, cluster: Object, name: str, self_link: str) -> Object:
    """A pool as it is saved: what the request states over GKE's defaults, checked. Raises ApiError."""
    names.check_name("node_pool", stated.get("name", ""))
    pool = placement.completed(world, defaults.pool(stated, cluster, self_link), cluster["_name"])
    pool["initialNodeCount"] = rules.check_pool(pool, cluster)
    if stated.get("version"):
        pool["version"] = resolve(world, stated["version"])
    project, location = name.split("/")[1], name.split("/")[3]
    digest = number(name, 8)
    pool["instanceGroupUrls"] = [
        f"https://www.googleapis.com/compute/v1/projects/{project}/zones/{zone}/instanceGroupManagers/gke-{name.split('/')[5][:13]}-{pool['name'][:14]}-{digest}-grp"
        for zone in pool["locations"]
    ]
    pool |= {
        "_name": name,
        "_size": pool["initialNodeCount"],
        "_cluster": name.split("/nodePools/")[0],
        "_location": location,
    }
    return pool


def _create(call: Call) -> Object:
    require_api(call.world, names.project(call), "container.googleapis.com")
    cluster = names.cluster(call)
    stated = call.body.get("nodePool", {})
    name = f"{names.cluster_name(call)}/nodePools/{stated.get('name', '')}"
    with call.world.store.lock:
        if call.world.store.get("pools", name):
            raise names.conflict(name)
        pool = prepare(call.world, stated, cluster, name, names.link(call, name))
        refuse_if_busy(call.world, name)
        save(call.world, name, pool)
        return begin(call, "CREATE_NODE_POOL", name, CREATE_S, "pool-create", {"name": name, "method": call.method})


def create_task(world: CloudState, args: Object) -> None:
    """Brings a pool's nodes up; leaves the pool in ERROR when Google has no machines or no quota for it."""
    pool = world.store.get("pools", args["name"])
    if pool is None:
        return
    refusal = shortages.find(world, pool, args["method"]) or placement.unsupported(pool)
    if refusal is not None:
        save(world, args["name"], {**pool, "status": "ERROR", "statusMessage": refusal.message, "_size": 0})
        raise refusal
    world.settings.kubernetes.apply_nodes(world, pool)
    save(world, args["name"], {**pool, "status": "RUNNING"})


def give_up(world: CloudState, cluster: str) -> None:
    """Ends what the first pools of a cluster are waiting for: it has not come up, and nothing will bring them."""
    for pool in of(world, cluster):
        if pool["status"] == "PROVISIONING":
            text = "The cluster did not come up."
            save(world, pool["_name"], {**pool, "status": "ERROR", "statusMessage": text, "_size": 0})


def _get(call: Call) -> Object:
    return shown(names.pool(call))


def _list(call: Call) -> Object:
    names.cluster(call)
    found = [shown(pool) for pool in of(call.world, names.cluster_name(call))]
    return {"nodePools": found} if found else {}


def _delete(call: Call) -> Object:
    names.pool(call)
    name = names.pool_name(call)
    with call.world.store.lock:
        refuse_if_busy(call.world, name)
        save(call.world, name, {**names.pool(call), "status": "STOPPING"})
        return begin(call, "DELETE_NODE_POOL", name, DELETE_S, "pool-delete", {"name": name})


def delete_task(world: CloudState, args: Object) -> None:
    pool = world.store.get("pools", args["name"])
    if pool is not None:
        world.settings.kubernetes.remove_nodes(world, pool)
        world.store.delete("pools", args["name"])


def change(call: Call, name: str, kind: str, changes: Object, size: int | None = None) -> Object:
    """Starts the operation that changes a pool's fields (`config` field by field), its size, or both."""
    with call.world.store.lock:
        pool = call.world.store.get("pools", name) or names.pool(call)
        refuse_if_busy(call.world, name)
        save(call.world, name, {**pool, "status": "RECONCILING"})
        args: Object = {"name": name, "change": changes, "size": size, "method": call.method}
        return begin(call, kind, name, UPDATE_S, "pool-change", args)


def _change(call: Call, kind: str, changes: Object, size: int | None = None) -> Object:
    return change(call, names.pool_name(call), kind, changes, size)


def change_task(world: CloudState, args: Object) -> None:
    """A pool that Google has no machines for keeps what it had, and says so in its status."""
    pool = world.store.get("pools", args["name"])
    if pool is None:
        return
    changed = {**pool, **{k: v for k, v in args["change"].items() if k != "config"}, "status": "RUNNING"}
    changed["config"] = {**pool["config"], **args["change"].get("config", {})}
    changed["etag"] = number(str(sorted(changed.items(), key=str)), 12)
    size = args["size"] if args["size"] is not None else pool["_size"]
    wanted = {**pool, "_size": size}
    refusal = shortages.find(world, wanted, args["method"]) if size > pool["_size"] else None
    if refusal is not None:
        save(world, args["name"], {**pool, "status": "RUNNING_WITH_ERROR", "statusMessage": refusal.message})
        raise refusal
    if args["size"] is not None:
        changed = pool_nodes.resized(changed, size)
    changed.pop("statusMessage", None)
    world.settings.kubernetes.apply_nodes(world, changed)
    save(world, args["name"], changed)


def _update(call: Call) -> Object:
    """PUT of a pool: each field that is there is taken; labels and taints replace the old ones whole."""
    pool, body = names.pool(call), call.body
    _refuse_other_machine(pool, body)
    config: Object = {}
    for field in (
        "imageType",
        "machineType",
        "diskType",
        "workloadMetadataConfig",
        "gcfsConfig",
        "gvnic",
        "linuxNodeConfig",
        "kubeletConfig",
        "loggingConfig",
        "containerdConfig",
    ):
        if field in body:
            config[field] = body[field]
    for field, inner in (("labels", "labels"), ("resourceLabels", "labels"), ("tags", "tags"), ("taints", "taints")):
        if field in body:
            config[field] = body[field].get(inner, [] if field in ("tags", "taints") else {})
    if "diskSizeGb" in body:
        config["diskSizeGb"] = int(body["diskSizeGb"])
    change: Object = {"config": config}
    for field in ("locations", "upgradeSettings", "queuedProvisioning"):
        if field in body:
            change[field] = body[field]
    if body.get("nodeVersion"):
        change["version"] = resolve(call.world, body["nodeVersion"])
    candidate = {**pool, **{k: v for k, v in change.items() if k != "config"}, "config": {**pool["config"], **config}}
    rules.check_change(candidate, names.cluster(call), pool["_size"])
    return _change(call, "UPGRADE_NODES" if "version" in change else "UPDATE_CLUSTER", change)


def _refuse_other_machine(pool: Object, body: Object) -> None:
    """GKE changes the machine type of a pool in place, but not of one with TPUs."""
    wanted = body.get("machineType", pool["config"]["machineType"])
    if wanted != pool["config"]["machineType"] and MACHINES[pool["config"]["machineType"]].chips:
        raise invalid("Updating the machine type of a TPU node pool is not supported.")


def _set_size(call: Call) -> Object:
    pool, size = names.pool(call), int(call.body.get("nodeCount", 0))
    rules.check_change(pool, names.cluster(call), size)
    return _change(call, "SET_NODE_POOL_SIZE", {}, size)


def _set_autoscaling(call: Call) -> Object:
    pool, wanted = names.pool(call), call.body.get("autoscaling", {})
    rules.check_change({**pool, "autoscaling": wanted}, names.cluster(call), pool["_size"])
    return _change(call, "UPDATE_CLUSTER", {"autoscaling": wanted})


def _set_management(call: Call) -> Object:
    wanted: Any = call.body.get("management", {})
    channel = names.cluster(call)["releaseChannel"].get("channel", "UNSPECIFIED")
    if channel != "UNSPECIFIED" and not wanted.get("autoUpgrade", False):
        raise invalid(f"Auto_upgrade must be true when release_channel {channel} is set.")
    return _change(call, "SET_NODE_POOL_MANAGEMENT", {"management": wanted})


_VERBS: dict[str, Handler] = {
    "create": _create, "get": _get, "list": _list, "delete": _delete, "update": _update, "setSize": _set_size,
    "setManagement": _set_management,
}  # fmt: skip
_CALLS: dict[str, Handler] = {
    **{
        f"container.projects.{style}.clusters.nodePools.{verb}": handler
        for style in ("locations", "zones")
        for verb, handler in _VERBS.items()
    },
    "container.projects.locations.clusters.nodePools.setAutoscaling": _set_autoscaling,
    "container.projects.zones.clusters.nodePools.autoscaling": _set_autoscaling,
}
HANDLERS: dict[str, Handler] = {name: autopilot.for_users(handler, names.cluster) for name, handler in _CALLS.items()}
TASKS: dict[str, Task] = {"pool-create": create_task, "pool-delete": delete_task, "pool-change": change_task}
