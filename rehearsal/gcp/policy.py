"""IAM policies of resources: read, changed and written back with an etag, so that two writers cannot undo each other."""

from __future__ import annotations

import base64
import hashlib
import json

from rehearsal.gcp.core import ApiError, Object, World, invalid


def _etag(bindings: list[Object], serial: int) -> str:
    digest = hashlib.sha256(json.dumps([bindings, serial], sort_keys=True).encode()).digest()
    return base64.b64encode(digest[:8]).decode()


def read_policy(world: World, name: str) -> Object:
    """The policy of a resource; an empty one where none was set."""
    saved = world.store.get("policies", name) or {"bindings": [], "serial": 0}
    policy: Object = {"version": 1, "etag": _etag(saved["bindings"], saved["serial"])}
    if saved["bindings"]:
        policy["bindings"] = saved["bindings"]
    return policy


def write_policy(world: World, name: str, policy: Object) -> Object:
    """Replaces a policy. Raises ApiError when it was changed since it was read, or names an account that does not exist."""
    with world.store.lock:
        saved = world.store.get("policies", name) or {"bindings": [], "serial": 0}
        if policy.get("etag") not in (None, _etag(saved["bindings"], saved["serial"])):
            raise ApiError(
                409,
                "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.",
                status="ABORTED",
                reason="aborted",
            )
        bindings = [b for b in policy.get("bindings", []) if b.get("members")]
        for member in sorted({m for binding in bindings for m in binding["members"]}):
            _must_exist(world, member)
        merged: dict[str, Object] = {}
        for binding in bindings:
            key = json.dumps([binding["role"], binding.get("condition")], sort_keys=True)
            row = merged.setdefault(key, {**binding, "members": []})
            row["members"] = sorted({*row["members"], *binding["members"]})
        rows = sorted(merged.values(), key=lambda b: str(b["role"]))
        world.store.put("policies", name, {"bindings": rows, "serial": saved["serial"] + 1})
        return read_policy(world, name)


def _must_exist(world: World, member: str) -> None:
    kind, _, who = member.partition(":")
    if kind == "serviceAccount" and who.endswith(".iam.gserviceaccount.com") and "/" not in who:
        if world.store.get("service-accounts", who) is None and not who.startswith("service-"):
            raise invalid(f"Service account {who} does not exist.")
    elif kind not in (
        "user",
        "group",
        "domain",
        "serviceAccount",
        "principal",
        "principalSet",
        "deleted",
        "allUsers",
        "allAuthenticatedUsers",
    ):
        raise invalid(f"Invalid member {member}: unknown member type.")
