"""Lists objects stuck in deletion and what blocks each. An engine that gives up waiting for one names its finalizers only, not who
must remove them, nor which dependents are in the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.kubernetes import Cluster

FOREGROUND = "foregroundDeletion"
"""The garbage collector's: the object goes when what it owns is gone (k8s.io/apimachinery/pkg/apis/meta/v1: FinalizerDeleteDependents)."""
Object = dict[str, Any]


def blocked_deletions(cluster: Cluster) -> list[str]:
    """One line for each object of the cluster that is being deleted. Empty if the cluster does not answer: the engine has already
    reported that."""
    try:
        return explained(list(_everything(cluster)))
    except (ApiException, HTTPError):
        return []


def explained(objects: Sequence[Object]) -> list[str]:
    """`Kind namespace/name since TIME: its finalizers; the dependents that block it`, for each object being deleted."""
    owned: dict[str, list[Object]] = {}
    for found in objects:
        for owner in found["metadata"].get("ownerReferences", []):
            if owner.get("blockOwnerDeletion"):
                owned.setdefault(owner["uid"], []).append(found)
    lines = []
    for found in objects:
        metadata = found["metadata"]
        if "deletionTimestamp" not in metadata:
            continue
        finalizers = metadata.get("finalizers", [])
        waits = [f"finalizer {name}" for name in finalizers if name != FOREGROUND]
        if FOREGROUND in finalizers:
            waits += [_dependent(each) for each in owned.get(metadata["uid"], [])] or ["the garbage collector"]
        lines.append(f"{_named(found)} since {metadata['deletionTimestamp']}: {'; '.join(waits) or 'its node'}")
    return lines


def _named(found: Object) -> str:
    return f"{found['kind']} {found['metadata'].get('namespace', '')}/{found['metadata']['name']}"


def _dependent(found: Object) -> str:
    return f"{_named(found)} ({'being deleted too' if 'deletionTimestamp' in found['metadata'] else 'not deleted yet'})"


def _everything(cluster: Cluster) -> Iterator[Object]:
    """Every namespaced object of every kind that can be listed."""
    groups = (cluster.get("/apis") or {}).get("groups", [])
    for version in ["api/v1", *(f"apis/{group['preferredVersion']['groupVersion']}" for group in groups)]:
        try:
            yield from _of_version(cluster, version)
        except ApiException:
            continue  # served by a controller that is gone already, or a kind that has just gone


def _of_version(cluster: Cluster, version: str) -> Iterator[Object]:
    for resource in (cluster.get(f"/{version}") or {}).get("resources", []):
        if resource["namespaced"] and "/" not in resource["name"] and {"list", "delete"} <= set(resource["verbs"]):
            for found in cluster.list(f"/{version}/{resource['name']}"):
                yield {**found, "kind": resource["kind"]}
