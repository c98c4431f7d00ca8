"""Networks, subnetworks, routers, firewalls and resource policies: one way to make, change and delete them all."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from rehearsal.gcp.compute.operations import BASE, begin, shown
from rehearsal.gcp.compute.rules import CHECKS, USERS, defaults
from rehearsal.gcp.core import ApiError, Call, Handler, Object, World, already_exists, invalid, not_found, now, number
from rehearsal.gcp.core.world import Task
from rehearsal.gcp.machines import REGIONS

NAME = r"(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?)"


@dataclass(frozen=True)
class Kind:
    """A kind of resource: `plural` as in its path, `parameter` as the discovery document names it, and where it lives."""

    plural: str
    parameter: str
    regional: bool

    @property
    def store(self) -> str:
        return f"compute-{self.plural}"

    def scope(self, call: Call) -> str:
        return f"regions/{call.params['region']}" if self.regional else "global"

    def path(self, call: Call, name: str) -> str:
        return f"projects/{call.project}/{self.scope(call)}/{self.plural}/{name}"


KINDS = (
    Kind("networks", "network", False),
    Kind("subnetworks", "subnetwork", True),
    Kind("routers", "router", True),
    Kind("firewalls", "firewall", False),
    Kind("resourcePolicies", "resourcePolicy", True),
)


def fingerprint(value: Object) -> str:
    return base64.b64encode(hashlib.sha256(json.dumps(value, sort_keys=True).encode()).digest()[:8]).decode()


def link(project: str, reference: str) -> str:
    """The full link of a resource that a request names by link or path."""
    tail = reference.split("/projects/", 1)[-1] if "/projects/" in reference else reference.removeprefix("projects/")
    return f"{BASE}/projects/{tail}" if "projects" in reference else f"{BASE}/projects/{project}/{reference}"


def _existing(kind: Kind, call: Call) -> Object:
    path = kind.path(call, call.params[kind.parameter])
    found = call.world.store.get(kind.store, path)
    if found is None:
        raise not_found(f"The resource '{path}' was not found")
    return found


def _insert(kind: Kind) -> Handler:
    def insert(call: Call) -> Object:
        name = call.body.get("name", "")
        if re.fullmatch(NAME, name) is None:
            raise invalid(f"Invalid value for field 'resource.name': '{name}'. Must be a match of regex '{NAME}'")
        if kind.regional and call.params["region"] not in REGIONS:
            raise invalid(f"Invalid value for field 'region': '{call.params['region']}'. Unknown region.")
        path = kind.path(call, name)
        body = dict(call.body)
        for key in ("network", "subnetwork"):
            if key in body:
                body[key] = link(call.project, body[key])
        with call.world.store.lock:
            if call.world.store.get(kind.store, path):
                raise already_exists(f"The resource '{path}' already exists")
            resource = {**defaults(kind.plural, body), **body, **_identity(kind, call, path, name)}
            CHECKS.get(kind.plural, _no_rule)(call.world, path, resource)
            call.world.store.put(kind.store, path, {**resource, "_pending": True})
        target = path.split("/", 2)[2]
        return begin(call, kind.scope(call), "insert", target, "compute-ready", {"store": kind.store, "path": path})

    return insert


def _no_rule(world: World, path: str, resource: Object) -> None:
    """Nothing is refused."""


def _identity(kind: Kind, call: Call, path: str, name: str) -> Object:
    singular = kind.parameter
    found: Object = {
        "kind": f"compute#{singular}",
        "id": number(path + now(), 19),
        "creationTimestamp": now(),
        "name": name,
        "selfLink": f"{BASE}/{path}",
    }
    if kind.regional:
        found["region"] = f"{BASE}/projects/{call.project}/regions/{call.params['region']}"
    if kind.plural in ("subnetworks", "networks"):
        found["fingerprint"] = fingerprint({"path": path})
    return found


def _get(kind: Kind) -> Handler:
    def get(call: Call) -> Object:
        return _shown(call.world, kind, _existing(kind, call))

    return get


def _shown(world: World, kind: Kind, resource: Object) -> Object:
    visible = {key: value for key, value in resource.items() if not key.startswith("_")}
    if kind.plural == "networks":
        subnets = [
            s["selfLink"] for s in world.store.list("compute-subnetworks") if s["network"] == resource["selfLink"]
        ]
        visible |= {"subnetworks": subnets} if subnets else {}
    return visible


def _list(kind: Kind) -> Handler:
    def listed(call: Call) -> Object:
        prefix = kind.path(call, "")
        items = [_shown(call.world, kind, r) for r in call.world.store.list(kind.store, prefix)]
        return {"kind": f"compute#{kind.parameter}List", "items": items, "selfLink": f"{BASE}/{prefix.rstrip('/')}"}

    return listed


def _change(kind: Kind, whole: bool) -> Handler:
    def change(call: Call) -> Object:
        with call.world.store.lock:
            resource = _existing(kind, call)
            wanted = call.body.get("fingerprint")
            if kind.plural == "subnetworks" and wanted not in (None, resource["fingerprint"]):
                raise ApiError(412, "Supplied fingerprint does not match current metadata fingerprint.")
            kept = (
                {key: resource[key] for key in _identity(kind, call, "", "") if key in resource} if whole else resource
            )
            body = {
                k: v
                for k, v in call.body.items()
                if k not in ("fingerprint", "id", "selfLink", "creationTimestamp", "kind")
            }
            for key in ("network", "subnetwork"):
                if key in body:
                    body[key] = link(call.project, body[key])
            both = {**kept, **body}
            changed = {**defaults(kind.plural, both), **both}
            changed["name"] = resource["name"]
            path = kind.path(call, resource["name"])
            CHECKS.get(kind.plural, _no_rule)(call.world, path, changed)
            if "fingerprint" in resource:
                changed["fingerprint"] = fingerprint(changed | {"fingerprint": None})
            call.world.store.put(kind.store, path, changed)
        target = path.split("/", 2)[2]
        verb = "update" if whole else "patch"
        return begin(call, kind.scope(call), verb, target, "compute-ready", {"store": kind.store, "path": path})

    return change


def _delete(kind: Kind) -> Handler:
    def delete(call: Call) -> Object:
        resource = _existing(kind, call)
        path = kind.path(call, resource["name"])
        USERS.get(kind.plural, _no_rule)(call.world, path, resource)
        return begin(
            call,
            kind.scope(call),
            "delete",
            path.split("/", 2)[2],
            "compute-gone",
            {"plural": kind.plural, "path": path},
        )

    return delete


def _private_google_access(call: Call) -> Object:
    kind = KINDS[1]
    resource = _existing(kind, call)
    path = kind.path(call, resource["name"])
    call.world.store.put(
        kind.store, path, {**resource, "privateIpGoogleAccess": call.body.get("privateIpGoogleAccess", False)}
    )
    return begin(
        call,
        kind.scope(call),
        "setPrivateIpGoogleAccess",
        path.split("/", 2)[2],
        "compute-ready",
        {"store": kind.store, "path": path},
    )


def _ready(world: World, args: Object) -> None:
    with world.store.lock:
        found = world.store.get(args["store"], args["path"])
        if found and found.pop("_pending", None):
            world.store.put(args["store"], args["path"], found)


def _gone(world: World, args: Object) -> None:
    with world.store.lock:
        store = f"compute-{args['plural']}"
        resource = world.store.get(store, args["path"])
        if resource is not None:
            USERS.get(args["plural"], _no_rule)(world, args["path"], resource)
            world.store.delete(store, args["path"])


def _answering_operation(handler: Handler) -> Handler:
    return lambda call: shown(handler(call))


_VERBS: dict[str, Callable[[Kind], Handler]] = {
    "insert": lambda kind: _answering_operation(_insert(kind)),
    "get": _get,
    "list": _list,
    "patch": lambda kind: _answering_operation(_change(kind, whole=False)),
    "update": lambda kind: _answering_operation(_change(kind, whole=True)),
    "delete": lambda kind: _answering_operation(_delete(kind)),
}
HANDLERS: dict[str, Handler] = {
    **{f"compute.{kind.plural}.{verb}": make(kind) for kind in KINDS for verb, make in _VERBS.items()},
    "compute.subnetworks.setPrivateIpGoogleAccess": _answering_operation(_private_google_access),
}
TASKS: dict[str, Task] = {"compute-ready": _ready, "compute-gone": _gone}
