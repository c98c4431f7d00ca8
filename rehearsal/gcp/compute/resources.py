"""Networks, subnetworks, routers, firewalls, policies and addresses: one way to make, change, read and delete them all."""

from __future__ import annotations

from rehearsal.gcp.compute import addresses, automatic, defaults, listing, rules, users
from rehearsal.gcp.compute.kinds import (
    BASE,
    KINDS,
    ComputeKind,
    absent,
    fingerprint,
    link,
    missing,
    not_ready,
    path_of,
    project,
    region,
    wrong,
)  # fmt: skip
from rehearsal.gcp.compute.operations import begin, label
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, already_exists, now, number
from rehearsal.gcp.core.state import Task
from rehearsal.gcp.machines import REGIONS
from rehearsal.gcp.policy import same_bytes

_GIVEN = frozenset(
    {"id", "selfLink", "creationTimestamp", "kind", "fingerprint", "region", "gatewayAddress", "status", "name"}
)
"""Fields that are the server's to say once a resource is there."""
_MARKED = ("networks", "subnetworks")
"""Kinds with a fingerprint. (A network keeps its own to itself: the API does not show it.)"""


def _existing(kind: ComputeKind, call: Call) -> Object:
    path = kind.path(call, call.params[kind.parameter])
    found = call.world.store.get(kind.store, path)
    if found is None:
        raise absent(path)
    return found


def _linked(of_project: str, body: Object) -> Object:
    """A body whose references to other resources are full links, as the API answers them."""
    found = dict(body)
    for key in ("network", "subnetwork"):
        if found.get(key):
            found[key] = link(of_project, f"resource.{key}", found[key])
    nats = []
    for n, nat in enumerate(found.get("nats", [])):
        ips = [link(of_project, f"resource.nats[{n}].natIps", text) for text in nat.get("natIps", [])]
        subnets = [
            {**row, "name": link(of_project, f"resource.nats[{n}].subnetworks", row.get("name", ""))}
            for row in nat.get("subnetworks", [])
        ]
        nats.append({**nat, **({"natIps": ips} if ips else {}), **({"subnetworks": subnets} if subnets else {})})
    return {**found, **({"nats": nats} if "nats" in found else {})}


def _identity(kind: ComputeKind, call: Call, path: str, name: str) -> Object:
    found: Object = {
        "kind": f"compute#{kind.parameter}", "id": number(path + now(), 19), "creationTimestamp": now(), "name": name,
        "selfLink": f"{BASE}/{path}",
    }  # fmt: skip
    return {**found, **({"region": f"{BASE}/projects/{project(call)}/regions/{region(call)}"} if kind.regional else {})}


def _insert(kind: ComputeKind) -> Handler:
    def insert(call: Call) -> Object:
        name = call.body.get("name", "")
        rules.check_name(name)
        path = kind.path(call, name)
        with call.world.store.lock:
            if call.world.store.get(kind.store, path):
                raise already_exists(f"The resource '{path}' already exists")
            stated = {key: value for key, value in _linked(project(call), call.body).items() if key not in _GIVEN}
            full = defaults.completed(kind.plural, stated, project(call))
            if kind.plural == "addresses":
                full = addresses.chosen(call.world, path, full)
            return _begin(kind, call, "insert", {**full, **_identity(kind, call, path, name)}, None)

    return insert


def _begin(kind: ComputeKind, call: Call, verb: str, resource: Object, before: Object | None) -> Object:
    """Checks and saves what a resource is to be, and starts the operation that gets it there. The store is locked."""
    path = path_of(resource["selfLink"])
    if before is not None and before.get("_busy"):
        raise not_ready(path)
    if verb == "delete":
        users.refuse_if_used(kind.plural, call.world, path, resource)
    else:
        rules.check(kind.plural, call.world, path, resource, before)
        resource = {**resource, **({"fingerprint": fingerprint(resource)} if kind.plural in _MARKED else {})}
    named = label(path, verb)
    call.world.store.put(kind.store, path, {**resource, "_busy": verb})
    task = "compute-gone" if verb == "delete" else "compute-ready"
    return begin(call, named, verb, resource, task, {"plural": kind.plural, "path": path})


def _shown(world: CloudState, kind: ComputeKind, resource: Object) -> Object:
    hidden = {"fingerprint"} if kind.plural == "networks" else set()
    visible = {key: value for key, value in resource.items() if not key.startswith("_") and key not in hidden}
    if kind.plural == "networks":
        subnets = [
            s["selfLink"] for s in world.store.list("compute-subnetworks") if s["network"] == resource["selfLink"]
        ]
        return {**visible, **({"subnetworks": subnets} if subnets else {})}
    if kind.plural == "addresses" and (router := next(users.gateways(world, resource["selfLink"]), "")):
        return {**visible, "status": "IN_USE", "users": [f"{BASE}/{router}"]}
    return visible


def _get(kind: ComputeKind) -> Handler:
    return lambda call: _shown(call.world, kind, _existing(kind, call))


def _list(kind: ComputeKind) -> Handler:
    def listed(call: Call) -> Object:
        path = kind.path(call, "").rstrip("/")
        rows = [_shown(call.world, kind, r) for r in call.world.store.list(kind.store, f"{path}/")]
        return listing.page(call, kind.parameter, path, rows)

    return listed


def _aggregated(kind: ComputeKind) -> Handler:
    def listed(call: Call) -> Object:
        of_project, scopes = project(call), [f"regions/{name}" for name in REGIONS]
        scopes = ["global", *scopes] if kind.plural == "addresses" else scopes
        rows = {
            scope: [
                _shown(call.world, kind, r)
                for r in call.world.store.list(kind.store, f"projects/{of_project}/{scope}/{kind.plural}/")
            ]
            for scope in scopes
        }
        return listing.aggregated(call, kind.parameter, kind.plural, of_project, rows)

    return listed


def _change(kind: ComputeKind, verb: str) -> Handler:
    """A patch changes the fields that it states; an update replaces all of them."""

    def change(call: Call) -> Object:
        with call.world.store.lock:
            resource = _existing(kind, call)
            wanted = same_bytes(call.body.get("fingerprint", ""))
            if kind.plural == "subnetworks" and wanted not in ("", same_bytes(resource["fingerprint"])):
                raise ApiError(
                    412, "Supplied fingerprint does not match current metadata fingerprint.", reason="conditionNotMet"
                )
            stated = {key: value for key, value in _linked(project(call), call.body).items() if key not in _GIVEN}
            given = {key: value for key, value in resource.items() if key in _GIVEN or key.startswith("_")}
            kept = given if verb == "update" else resource
            if kind.plural == "networks" and "routingConfig" in stated:
                stated["routingConfig"] = {**resource["routingConfig"], **stated["routingConfig"]}
            if "enableFlowLogs" in stated and "logConfig" not in stated:
                stated["logConfig"] = {**resource["logConfig"], "enable": stated["enableFlowLogs"]}
            changed = {**defaults.completed(kind.plural, {**kept, **stated}, project(call)), **given}
            return _begin(kind, call, verb, changed, resource)

    return change


def _delete(kind: ComputeKind) -> Handler:
    def delete(call: Call) -> Object:
        with call.world.store.lock:
            resource = _existing(kind, call)
            return _begin(kind, call, "delete", resource, resource)

    return delete


# -- a subnetwork's own calls ------------------------------------------------------------------------------------------

_NETWORKS, _SUBNETWORKS = KINDS[0], KINDS[1]


def _private_google_access(call: Call) -> Object:
    with call.world.store.lock:
        before = _existing(_SUBNETWORKS, call)
        if "privateIpGoogleAccess" not in call.body:
            raise missing("privateIpGoogleAccess")
        after = {**before, "privateIpGoogleAccess": call.body["privateIpGoogleAccess"]}
        return _begin(_SUBNETWORKS, call, "setPrivateIpGoogleAccess", after, before)


def _expand(call: Call) -> Object:
    """Ranges only grow, around what they were."""
    with call.world.store.lock:
        before, text = _existing(_SUBNETWORKS, call), call.body.get("ipCidrRange", "")
        wider = defaults.completed("subnetworks", {**before, "ipCidrRange": text}, project(call))
        if not addresses.inside(before["ipCidrRange"], text):
            raise wrong("ipCidrRange", text, f"Must be a CIDR address range that contains '{before['ipCidrRange']}'.")
        return _begin(_SUBNETWORKS, call, "expandIpCidrRange", wider, {**before, "ipCidrRange": text})


def _custom_mode(call: Call) -> Object:
    with call.world.store.lock:
        before = _existing(_NETWORKS, call)
        after = {**before, "autoCreateSubnetworks": False}
        automatic.release(call.world, before)
        return _begin(_NETWORKS, call, "switchToCustomMode", after, {**before, "autoCreateSubnetworks": False})


# -- the end of operations ---------------------------------------------------------------------------------------------


def _ready(world: CloudState, args: Object) -> None:
    with world.store.lock:
        store = f"compute-{args['plural']}"
        found = world.store.get(store, args["path"])
        if found is None:
            return
        made = found.pop("_busy", None) == "insert"
        world.store.put(store, args["path"], found)
        if made and args["plural"] == "networks":
            automatic.populate(world, found)


def _gone(world: CloudState, args: Object) -> None:
    """Deletes, unless something came to stand on the resource meanwhile: then it stays as it was."""
    with world.store.lock:
        store = f"compute-{args['plural']}"
        resource = world.store.get(store, args["path"])
        if resource is None:
            return
        try:
            users.refuse_if_used(args["plural"], world, args["path"], resource)
        except ApiError:
            world.store.put(store, args["path"], {key: value for key, value in resource.items() if key != "_busy"})
            raise
        if args["plural"] == "networks":
            automatic.clear(world, resource)
        world.store.delete(store, args["path"])


def _handlers(kind: ComputeKind) -> dict[str, Handler]:
    verbs = {"insert": _insert(kind), "get": _get(kind), "list": _list(kind), "delete": _delete(kind)}
    verbs |= {verb: _change(kind, verb) for verb in kind.changes}
    verbs |= {"aggregatedList": _aggregated(kind)} if kind.regional else {}
    return {f"{kind.methods}.{verb}": handler for verb, handler in verbs.items()}


HANDLERS: dict[str, Handler] = {
    **{method: handler for kind in KINDS for method, handler in _handlers(kind).items()},
    "compute.subnetworks.setPrivateIpGoogleAccess": _private_google_access,
    "compute.subnetworks.expandIpCidrRange": _expand,
    "compute.networks.switchToCustomMode": _custom_mode,
}
TASKS: dict[str, Task] = {"compute-ready": _ready, "compute-gone": _gone}
