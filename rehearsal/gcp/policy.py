"""IAM policies of resources: read, changed and written back with an etag, so that two writers cannot undo each other.

What the three calls take and answer: cloud.google.com/iam/docs/reference/rest/v1/Policy.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable

from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, invalid

KIND = "policies"
VERSIONS = (0, 1, 3)
BASIC = ("roles/owner", "roles/editor", "roles/viewer")
_MEMBERS = frozenset(
    {"user", "group", "domain", "serviceAccount", "principal", "principalSet", "deleted"}
    | {"projectOwner", "projectEditor", "projectViewer"}
)
"""The last three only buckets and datasets know."""
_EVERYBODY = frozenset({"allUsers", "allAuthenticatedUsers"})


def _saved(world: CloudState, name: str) -> Object:
    return world.store.get(KIND, name) or {"bindings": [], "serial": 0}


def _etag(name: str, saved: Object) -> str:
    if saved["serial"] == 0:
        return "ACAB"  # what Google answers for a policy that nobody has set
    digest = hashlib.sha256(json.dumps([name, saved], sort_keys=True).encode()).digest()
    return base64.b64encode(b"\x07" + digest[:7]).decode()


def same_bytes(text: str) -> str:
    """Base 64 in one spelling. Clients may write back in the URL's alphabet what they read in the other, as `gcloud` does."""
    return text.replace("-", "+").replace("_", "/")


def read_policy(world: CloudState, name: str, version: int = 1) -> Object:
    """The policy of a resource, for a caller who understands policies up to that version.

    One who does not understand conditions gets bindings that have one under a role that does not exist, so that writing the
    policy back fails instead of dropping the condition (cloud.google.com/iam/docs/troubleshooting-withcond).
    """
    saved = _saved(world, name)
    conditional = any("condition" in binding for binding in saved["bindings"])
    policy: Object = {"version": 3 if conditional and version == 3 else 1, "etag": _etag(name, saved)}
    bindings = saved["bindings"] if version == 3 else [_without_condition(b) for b in saved["bindings"]]
    if bindings:
        policy["bindings"] = bindings
    if saved.get("auditConfigs"):
        policy["auditConfigs"] = saved["auditConfigs"]
    return policy


def _without_condition(binding: Object) -> Object:
    if "condition" not in binding:
        return binding
    mark = hashlib.sha256(json.dumps(binding["condition"], sort_keys=True).encode()).hexdigest()[:20]
    return {"role": f"{binding['role']}_withcond_{mark}", "members": binding["members"]}


def write_policy(world: CloudState, name: str, policy: Object, mask: str = "") -> Object:
    """Replaces a policy. Raises ApiError when it was changed since it was read, or when it cannot be."""
    with world.store.lock:
        saved = _saved(world, name)
        if same_bytes(policy.get("etag", "")) not in ("", same_bytes(_etag(name, saved))):
            raise ApiError(
                409,
                "There were concurrent policy changes. Please retry the whole read-modify-write with exponential backoff.",
                status="ABORTED",
                reason="aborted",
            )
        bindings = [b for b in policy.get("bindings", []) if b.get("members")]
        _check(world, policy, bindings, saved["bindings"])
        fresh: Object = {"bindings": _merged(bindings), "serial": saved["serial"] + 1}
        audits = policy.get("auditConfigs", []) if "auditConfigs" in mask else saved.get("auditConfigs", [])
        world.store.put(KIND, name, {**fresh, **({"auditConfigs": audits} if audits else {})})
        return read_policy(world, name, 3)


def _check(world: CloudState, policy: Object, bindings: list[Object], before: list[Object]) -> None:
    version = policy.get("version", 0)
    if version not in VERSIONS:
        raise invalid(f"Invalid policy version: {version}. Must be one of 0, 1 or 3.")
    if version != 3 and any("condition" in binding for binding in [*bindings, *before]):
        raise invalid("Policies with conditional role bindings must specify version 3.")
    for binding in bindings:
        role = binding.get("role", "")
        if not role.startswith(("roles/", "projects/", "organizations/")) or "_withcond_" in role:
            raise invalid(f"Role {role} is not supported for this resource.")
        if role in BASIC and "condition" in binding:
            raise invalid(f"Conditions can't be set on basic roles, and {role} is one.")
    for member in sorted({m for binding in bindings for m in binding["members"]}):
        _must_exist(world, member)


def _merged(bindings: list[Object]) -> list[Object]:
    """One binding for each role and condition, with each member once."""
    found: dict[str, Object] = {}
    for binding in bindings:
        key = json.dumps([binding["role"], binding.get("condition")], sort_keys=True)
        row = found.setdefault(key, {**binding, "members": []})
        row["members"] = sorted({*row["members"], *binding["members"]})
    return [found[key] for key in sorted(found)]


def _must_exist(world: CloudState, member: str) -> None:
    """Refuses what Google refuses in a binding. Accounts of Google's own (service agents) exist without being made."""
    kind, _, who = member.partition(":")
    if member in _EVERYBODY:
        return
    if kind not in _MEMBERS or not who:
        raise invalid(f"Invalid member {member}: the format of the member is not known.")
    made_here = kind == "serviceAccount" and who.endswith(".iam.gserviceaccount.com") and not who.startswith("service-")
    if made_here and world.store.get("service-accounts", who) is None:
        raise invalid(f"Service account {who} does not exist.")


def mark_deleted(world: CloudState, member: str, unique_id: str) -> None:
    """Rewrites a deleted account's bindings as Google does: they stay, and do not count for an account of the same name made later."""
    gone = f"deleted:{member}?uid={unique_id}"
    with world.store.lock:
        for name in world.store.names(KIND):
            saved = _saved(world, name)
            if not any(member in binding["members"] for binding in saved["bindings"]):
                continue
            for binding in saved["bindings"]:
                binding["members"] = sorted(gone if m == member else m for m in binding["members"])
            world.store.put(KIND, name, {**saved, "serial": saved["serial"] + 1})


# -- the three calls ---------------------------------------------------------------------------------------------------


def calls(owner: Callable[[Call], str]) -> dict[str, Handler]:
    """The three calls by the last part of their ids, for resources that `owner` names. It raises what a missing one is answered with."""

    def get(call: Call) -> Object:
        """However the version that the caller understands is told."""
        name, told = owner(call), call.query.get("options.requestedPolicyVersion")
        version = int(told) if told else call.body.get("options", {}).get("requestedPolicyVersion", 1)
        if version not in VERSIONS:
            raise invalid(f"Invalid requested policy version: {version}. Must be one of 0, 1 or 3.")
        return read_policy(call.world, name, version)

    def put(call: Call) -> Object:
        name = owner(call)
        if "policy" not in call.body:
            raise invalid("Request contains an invalid argument.")
        return write_policy(call.world, name, call.body["policy"], call.body.get("updateMask", ""))

    def test(call: Call) -> Object:
        """Whoever calls here owns everything, so all permissions that are asked about are held."""
        owner(call)
        asked = call.body.get("permissions", [])
        return {"permissions": asked} if asked else {}

    return {"getIamPolicy": get, "setIamPolicy": put, "testIamPermissions": test}
