"""Names and paths of clusters, pools and operations, from either style of path: by location, or by zone as older clients do."""

from __future__ import annotations

import re

from rehearsal.gcp import projects
from rehearsal.gcp.core import ApiError, Call, Object, invalid, not_found

BASE = "https://container.googleapis.com"


def location(call: Call) -> str:
    return call.params.get("locationsId") or call.params.get("zone") or call.body.get("zone", "")


def project(call: Call) -> str:
    """The project's id. Raises the refusal of a project that is not there, which looks like one that is somebody else's
    (kubeflow/testing #662)."""
    found = projects.resolve(call.world, call.project)
    if found is None:
        raise ApiError(
            403, f"Project lookup error: permission denied on resource 'projects/{call.project}' (or it may not exist)."
        )
    return found


def parent(call: Call) -> str:
    return f"projects/{project(call)}/locations/{location(call)}"


def cluster_name(call: Call) -> str:
    return f"{parent(call)}/clusters/{call.params.get('clustersId') or call.params.get('clusterId')}"


def pool_name(call: Call) -> str:
    return f"{cluster_name(call)}/nodePools/{call.params.get('nodePoolsId') or call.params.get('nodePoolId')}"


def cluster(call: Call) -> Object:
    """The cluster that a call names. Raises Google's `Not found`."""
    found = call.world.store.get("clusters", cluster_name(call))
    if found is None:
        raise not_found(f"Not found: {cluster_name(call)}.")
    return found


def pool(call: Call) -> Object:
    cluster(call)
    found = call.world.store.get("pools", pool_name(call))
    if found is None:
        raise not_found(f"Not found: {pool_name(call)}.")
    return found


def check_name(kind: str, name: str) -> None:
    """Cluster and pool names: at most 40 characters of lower-case letters, digits and hyphens (GKE's API reference)."""
    if re.fullmatch(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?", name) is None:
        raise invalid(
            f'Invalid value for field "{kind}.name": "{name}". Must be a match of regex \'(?:[a-z](?:[-a-z0-9]{{0,38}}[a-z0-9])?)\'.'
        )


def link(call: Call, name: str) -> str:
    return f"{BASE}/{call.api.split('.')[1]}/{name}"


def conflict(name: str) -> ApiError:
    return ApiError(409, f"Already exists: {name}.")
