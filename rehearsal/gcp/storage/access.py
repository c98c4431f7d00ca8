"""Who may use a bucket: its IAM policy."""

from __future__ import annotations

import re

from rehearsal.gcp import policy
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, invalid
from rehearsal.gcp.storage.buckets import bucket_of, policy_name

_PUBLIC = ("allUsers", "allAuthenticatedUsers")
_WORKLOAD = re.compile(
    r"principal(Set)?://iam\.googleapis\.com/projects/(\d+)/locations/global/workloadIdentityPools/([^/]+)/.+"
)


def _shown(call: Call, version: int) -> Object:
    name = bucket_of(call)["name"]
    found = policy.read_policy(call.world, policy_name(name), version)
    return {"kind": "storage#policy", "resourceId": f"projects/_/buckets/{name}", **found}


def _get(call: Call) -> Object:
    told = call.query.get("optionsRequestedPolicyVersion")
    return _shown(call, int(told) if told.isdigit() else 1)


def _put(call: Call) -> Object:
    bucket, name = bucket_of(call), policy_name(call.params["bucket"])
    stated = {key: value for key, value in call.body.items() if key not in ("kind", "resourceId")}
    with call.world.store.lock:
        before = policy.read_policy(call.world, name, 3)
        added = _members(stated) - _members(before)
        if added & set(_PUBLIC) and bucket["iamConfiguration"]["publicAccessPrevention"] == "enforced":
            text = f"The member bindings {' and '.join(_PUBLIC)} are not allowed since public access prevention is enforced."
            raise ApiError(412, text)
        for member in sorted(added):
            _refuse_pool(call.world, member)
        policy.write_policy(call.world, name, stated)
    return _shown(call, 3)


def _members(stated: Object) -> set[str]:
    return {member for binding in stated.get("bindings", []) for member in binding.get("members", [])}


def _refuse_pool(world: CloudState, member: str) -> None:
    """A project's pool of workload identities is there when its first cluster with Workload Identity is."""
    match = _WORKLOAD.fullmatch(member)
    if match is None:
        return
    pool = match.group(3)
    pools = {row.get("workloadIdentityConfig", {}).get("workloadPool") for row in world.store.list("clusters")}
    if pool.endswith(".svc.id.goog") and pool not in pools:
        text = f"Identity Pool does not exist ({pool}). Please check that you specified a valid resource name as returned in "
        raise invalid(f"{text}the `name` attribute in the configuration API.")


def _test(call: Call) -> Object:
    """Whoever calls here owns everything."""
    bucket_of(call)
    return {"kind": "storage#testIamPermissionsResponse", "permissions": call.query.all("permissions")}


HANDLERS: dict[str, Handler] = {
    "storage.buckets.getIamPolicy": _get,
    "storage.buckets.setIamPolicy": _put,
    "storage.buckets.testIamPermissions": _test,
}
