"""Buckets: made, read, changed and deleted. All names are in one namespace, whoever's project a bucket is in."""

from __future__ import annotations

import base64
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rehearsal.gcp import policy, projects
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, invalid, number, public, stamp
from rehearsal.gcp.serviceusage import require_api
from rehearsal.gcp.storage.names import location_of, refuse_name

KIND = "buckets"
API = "storage.googleapis.com"
CLASSES = ("STANDARD", "NEARLINE", "COLDLINE", "ARCHIVE", "MULTI_REGIONAL", "REGIONAL", "DURABLE_REDUCED_AVAILABILITY")
SOFT_DELETE_S = 604800
"""For how long a deleted object can be had back, where nothing is stated: seven days."""
LONGEST_SOFT_DELETE_S = 7776000
_FIXED = ("location", "hierarchicalNamespace")
"""What is decided when a bucket is made."""


def folder(world: CloudState, bucket: str) -> Path:
    """Where a bucket's objects are."""
    return world.buckets / bucket


def bucket_of(call: Call) -> Object:
    """The bucket that a path names."""
    found = call.world.store.get(KIND, call.params["bucket"])
    if found is None:
        raise ApiError(404, "The specified bucket does not exist.")
    return found


def now() -> str:
    """Milliseconds, as this API writes times."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _insert(call: Call) -> Object:
    project = projects.resolve(call.world, call.query.get("project"))
    if project is None:
        raise ApiError(400, f"Unknown project id: {call.query.get('project')}", reason="invalid")
    require_api(call.world, project, API)
    stated, name = call.body, call.body.get("name", "")
    refuse_name(name)
    made = _new(stated, name, project)
    _refuse(made)
    with call.world.store.lock:
        _refuse_taken(call.world, name, project)
        folder(call.world, name).mkdir(parents=True)
        call.world.store.put(policy.KIND, policy_name(name), {"bindings": _convenience(project), "serial": 1})
        call.world.store.put(KIND, name, made)
    return public(made)


def _refuse_taken(world: CloudState, name: str, project: str) -> None:
    there = world.store.get(KIND, name)
    if there is not None and there["_project"] == project:
        text = "Your previous request to create the named bucket succeeded and you already own it."
        raise ApiError(409, text, reason="conflict")
    if there is not None:
        text = (
            "The requested bucket name is not available. The bucket namespace is shared by all users of the system. "
            "Please select a different name and try again."
        )
        raise ApiError(409, text, reason="conflict")


def _new(stated: Object, name: str, project: str) -> Object:
    """A bucket with all that Google fills in."""
    location, kind = location_of(stated.get("location", ""))
    moment = now()
    asked = {"name", "location", "iamConfiguration", "softDeletePolicy", "storageClass"}
    return {
        "kind": "storage#bucket",
        "selfLink": f"https://www.googleapis.com/storage/v1/b/{name}",
        "id": name,
        "name": name,
        "projectNumber": number(project),
        "generation": str(stamp() * 1000),
        "metageneration": "1",
        "location": location,
        "locationType": kind,
        "storageClass": stated.get("storageClass", "STANDARD"),
        "etag": _etag(1),
        "timeCreated": moment,
        "updated": moment,
        "softDeletePolicy": _soft_delete(stated.get("softDeletePolicy", {}), moment),
        "iamConfiguration": _access(stated.get("iamConfiguration", {}), moment),
        **{key: value for key, value in stated.items() if key not in asked},
        "_project": project,
    }


def _etag(generation: int) -> str:
    return base64.b64encode(bytes([8, generation % 128])).decode()


def _soft_delete(stated: Object, moment: str) -> Object:
    return {
        "retentionDurationSeconds": str(stated.get("retentionDurationSeconds", SOFT_DELETE_S)),
        "effectiveTime": moment,
    }


def _access(stated: Object, moment: str) -> Object:
    """Uniform access can be taken back for 90 days; its older name says the same."""
    named = "uniformBucketLevelAccess" if "uniformBucketLevelAccess" in stated else "bucketPolicyOnly"
    uniform = bool(stated.get(named, {}).get("enabled"))
    until = datetime.fromisoformat(moment) + timedelta(days=90)
    locked = until.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    state: Object = {"enabled": True, "lockedTime": locked} if uniform else {"enabled": False}
    prevention = stated.get("publicAccessPrevention", "inherited")
    return {"bucketPolicyOnly": state, "uniformBucketLevelAccess": dict(state), "publicAccessPrevention": prevention}


def _refuse(bucket: Object) -> None:
    """Raises what Google refuses of a bucket's properties. What a hierarchical namespace needs and excludes is in its guide
    (cloud.google.com/storage/docs/hns-overview); the words are ours."""
    hierarchical = bool(bucket.get("hierarchicalNamespace", {}).get("enabled"))
    if hierarchical and not bucket["iamConfiguration"]["uniformBucketLevelAccess"]["enabled"]:
        raise invalid("Hierarchical namespace requires uniform bucket-level access to be enabled on the bucket.")
    if hierarchical and bucket.get("versioning", {}).get("enabled"):
        raise invalid("Object versioning is not supported for buckets with hierarchical namespace enabled.")
    if bucket["storageClass"] not in CLASSES:
        raise ApiError(400, f"Invalid argument: unknown storage class {bucket['storageClass']}.", reason="invalid")
    if bucket["iamConfiguration"]["publicAccessPrevention"] not in ("enforced", "inherited", "unspecified"):
        raise ApiError(400, "Invalid value for publicAccessPrevention.", reason="invalid")
    seconds = int(bucket["softDeletePolicy"]["retentionDurationSeconds"])
    if seconds != 0 and not SOFT_DELETE_S <= seconds <= LONGEST_SOFT_DELETE_S:
        raise ApiError(400, "Soft delete retention duration must be 0 or between 7 and 90 days.", reason="invalid")
    for rule in bucket.get("lifecycle", {}).get("rule", []):
        if not rule.get("condition") or "type" not in rule.get("action", {}):
            raise ApiError(400, "A lifecycle rule must have an action and at least one condition.", reason="invalid")


def policy_name(bucket: str) -> str:
    """Under which name the policies of buckets are kept."""
    return f"b/{bucket}"


def _convenience(project: str) -> list[Object]:
    """What every new bucket has: its project's owners, editors and viewers (cloud.google.com/storage/docs/access-control/iam-roles)."""
    masters = sorted([f"projectEditor:{project}", f"projectOwner:{project}"])
    return [
        {"role": "roles/storage.legacyBucketOwner", "members": masters},
        {"role": "roles/storage.legacyBucketReader", "members": [f"projectViewer:{project}"]},
    ]


def _patch(call: Call) -> Object:
    """What is named changes; of maps, what stays unnamed in them stays."""
    with call.world.store.lock:
        bucket = bucket_of(call)
        if wrong := [key for key in _FIXED if key in call.body and call.body[key] != bucket.get(key)]:
            raise ApiError(400, f"The {wrong[0]} of a bucket cannot be changed.", reason="invalid")
        moment, body = now(), dict(call.body)
        fresh = {**bucket, "updated": moment, "metageneration": str(int(bucket["metageneration"]) + 1)}
        fresh["etag"] = _etag(int(fresh["metageneration"]))
        if "iamConfiguration" in body:
            fresh["iamConfiguration"] = _access({**bucket["iamConfiguration"], **body.pop("iamConfiguration")}, moment)
        if "softDeletePolicy" in body:
            fresh["softDeletePolicy"] = _soft_delete(body.pop("softDeletePolicy"), moment)
        for key, value in body.items():
            fresh[key] = _merged_labels(bucket.get(key, {}), value) if key == "labels" and value is not None else value
        fresh = {key: value for key, value in fresh.items() if value is not None}
        _refuse(fresh)
        call.world.store.put(KIND, bucket["name"], fresh)
    return public(fresh)


def _merged_labels(there: Object, stated: Any) -> Object:
    return {key: value for key, value in {**there, **stated}.items() if value is not None}


def _delete(call: Call) -> Object:
    """Folders without objects in them are no objects, and go with the bucket."""
    with call.world.store.lock:
        bucket = bucket_of(call)
        files = folder(call.world, bucket["name"])
        if any(names for _, _, names in os.walk(files)):
            raise ApiError(409, "The bucket you tried to delete is not empty.", reason="conflict")
        shutil.rmtree(files, ignore_errors=True)
        call.world.store.delete(KIND, bucket["name"])
        call.world.store.delete(policy.KIND, policy_name(bucket["name"]))
    return {}


def _list(call: Call) -> Object:
    project = projects.resolve(call.world, call.query.get("project"))
    prefix = call.query.get("prefix")
    rows = [row for row in call.world.store.list(KIND) if row["_project"] == project and row["name"].startswith(prefix)]
    return {"kind": "storage#buckets", **({"items": [public(row) for row in rows]} if rows else {})}


def _layout(call: Call) -> Object:
    """What clients ask before they treat names as paths."""
    bucket = bucket_of(call)
    return {
        "kind": "storage#storageLayout",
        "bucket": bucket["name"],
        "location": bucket["location"],
        "locationType": bucket["locationType"],
        "hierarchicalNamespace": bucket.get("hierarchicalNamespace", {"enabled": False}),
    }


HANDLERS: dict[str, Handler] = {
    "storage.buckets.insert": _insert,
    "storage.buckets.get": lambda call: public(bucket_of(call)),
    "storage.buckets.list": _list,
    "storage.buckets.patch": _patch,
    "storage.buckets.delete": _delete,
    "storage.buckets.getStorageLayout": _layout,
    # There are none here. The real provider asks before it deletes a bucket.
    "storage.anywhereCaches.list": lambda call: {"kind": "storage#anywhereCaches"} if bucket_of(call) else {},
}
