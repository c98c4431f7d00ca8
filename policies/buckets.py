"""Rules over Cloud Storage's buckets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from policies.model import Context, Finding, Resource
from policies.values import at, items, unknown

BUCKET = "gcp:storage/bucket:Bucket"
EVERYBODY = frozenset({"allUsers", "allAuthenticatedUsers"})
_GRANTS = ("gcp:storage/bucketIAMMember:BucketIAMMember", "gcp:storage/bucketIAMBinding:BucketIAMBinding")


def closed(resources: Iterable[Resource]) -> frozenset[str]:
    """Names of the buckets that are certain to prevent public access. Whatever is granted on such a one, Google lets neither
    allUsers nor allAuthenticatedUsers in (Cloud Storage's "Public access prevention", behaviour when enforced)."""
    prevented: dict[str, list[bool]] = {}
    for resource in resources:
        name = at(resource.properties, "name")
        if resource.type == BUCKET and isinstance(name, str) and not unknown(name):
            prevented.setdefault(name, []).append(at(resource.properties, "publicAccessPrevention") == "enforced")
    return frozenset(name for name, all_ in prevented.items() if all(all_))


def private(resource: Resource, context: Context) -> Iterator[Finding]:
    """A bucket with checkpoints is the model. Stated, not left to an organisation's policy, which another project may not have."""
    if resource.type == BUCKET:
        yield from _stated(resource, "publicAccessPrevention", "enforced", "public access is not prevented")
        yield from _stated(resource, "uniformBucketLevelAccess", True, "objects can have access lists of their own")
    elif resource.type in _GRANTS:
        yield from _granted(resource, context)


def _stated(resource: Resource, key: str, wanted: object, wrong: str) -> Iterator[Finding]:
    value = at(resource.properties, key)
    remedy = f"set its {key} to {str(wanted).lower() if wanted is True else wanted}"
    if unknown(value):
        yield Finding(resource, f"its {key} is not known yet", remedy, unknown=True)
    elif value != wanted:
        yield Finding(resource, wrong, remedy)


def _granted(resource: Resource, context: Context) -> Iterator[Finding]:
    """Who is not known yet may be everybody, but for a bucket that is closed to everybody. Workload Identity's members are of
    this kind: the project's number in them comes with the bucket."""
    members = [at(resource.properties, "member"), *items(at(resource.properties, "members"))]
    open_to = [member for member in members if isinstance(member, str) and member in EVERYBODY]
    if open_to:
        yield Finding(resource, f"{open_to[0]} may use the bucket", "name accounts or groups")
    elif at(resource.properties, "bucket") in context.closed_buckets:
        return
    elif any(unknown(member) for member in members) or unknown(at(resource.properties, "members")):
        yield Finding(resource, "who may use the bucket is not known yet", "name accounts or groups", unknown=True)
