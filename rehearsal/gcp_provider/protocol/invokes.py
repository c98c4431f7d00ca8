"""Functions of the package (Terraform's data sources) that are supported."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from rehearsal.gcp_provider.errors import ProviderError
from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.terraform.kind import Values


def engine_versions(cloud: Cloud, args: Values) -> dict[str, Any]:
    """Versions that GKE offers; a prefix picks among them, newest first."""
    project, location = cloud.project_of(args), cloud.location_of(args)
    config = cloud.rest.call("container", "GET", f"projects/{project}/locations/{location}/serverConfig")
    prefix = str(args.get("versionPrefix", ""))
    masters = [version for version in config.get("validMasterVersions", []) if version.startswith(prefix)]
    nodes = [version for version in config.get("validNodeVersions", []) if version.startswith(prefix)]
    channels = {entry["channel"]: entry for entry in config.get("channels", [])}
    return {
        "id": f"{project}/{location}",
        "project": project,
        "location": location,
        "versionPrefix": prefix,
        "defaultClusterVersion": config.get("defaultClusterVersion", ""),
        "validMasterVersions": masters,
        "validNodeVersions": nodes,
        "latestMasterVersion": masters[0] if masters else "",
        "latestNodeVersion": nodes[0] if nodes else "",
        "releaseChannelDefaultVersion": {name: entry.get("defaultVersion", "") for name, entry in channels.items()},
        "releaseChannelLatestVersion": {name: _newest(entry) for name, entry in channels.items()},
        "releaseChannelUpgradeTargetVersion": {
            name: entry.get("upgradeTargetVersion", "") for name, entry in channels.items()
        },
    }


def _newest(channel: Values) -> str:
    versions = channel.get("validVersions", [])
    return str(versions[0]) if versions else ""


def zones(cloud: Cloud, args: Values) -> dict[str, Any]:
    """A region's zones, in order."""
    project, region = cloud.project_of(args), cloud.region_of(args)
    query: dict[str, Any] = {"filter": f"(region eq .*/regions/{region})"}
    if args.get("status"):
        query["filter"] += f" (status eq {args['status']})"
    listed = cloud.rest.call("compute", "GET", f"projects/{project}/zones", **query).get("items", [])
    here = [zone for zone in listed if zone.get("region", "").rsplit("/", 1)[-1] == region]
    wanted = [zone for zone in here if args.get("status") in (None, zone.get("status"))]
    names = sorted(zone["name"] for zone in wanted)
    return {"id": f"projects/{project}/regions/{region}", "project": project, "region": region, "names": names}


def project(cloud: Cloud, args: Values) -> dict[str, Any]:
    name = str(args["projectId"]) if args.get("projectId") else cloud.project_of({})
    found = cloud.rest.call("cloudresourcemanager", "GET", f"projects/{name}")
    parent = found.get("parent", {})
    labels = found.get("labels", {})
    return {
        "id": f"projects/{found['projectId']}",
        "projectId": found["projectId"],
        "number": str(found.get("projectNumber", "")),
        "name": found.get("name", ""),
        "orgId": parent.get("id", "") if parent.get("type") == "organization" else "",
        "folderId": parent.get("id", "") if parent.get("type") == "folder" else "",
        "labels": labels,
        "effectiveLabels": labels,
        "pulumiLabels": labels,
        "autoCreateNetwork": False,
        "billingAccount": "",
        "deletionPolicy": "DELETE",
        "tags": {},
    }


def client_config(cloud: Cloud, args: Values) -> dict[str, Any]:
    """On whose behalf the provider works. A token only where one was given to it."""
    token = os.environ.get("GOOGLE_OAUTH_ACCESS_TOKEN", "")
    identity = f'projects/"{cloud.project}"/regions/"{cloud.region}"/zones/"{cloud.zone}"'
    return {
        "id": identity, "project": cloud.project, "region": cloud.region, "zone": cloud.zone, "accessToken": token,
        "defaultLabels": dict(cloud.default_labels),
    }  # fmt: skip


FUNCTIONS: dict[str, Callable[[Cloud, Values], dict[str, Any]]] = {
    "gcp:container/getEngineVersions:getEngineVersions": engine_versions,
    "gcp:compute/getZones:getZones": zones,
    "gcp:organizations/getProject:getProject": project,
    "gcp:organizations/getClientConfig:getClientConfig": client_config,
}


def invoke(cloud: Cloud, token: str, args: Values) -> dict[str, Any]:
    function = FUNCTIONS.get(token)
    if function is None:
        supported = ", ".join(sorted(FUNCTIONS))
        raise ProviderError(f"function {token} is not supported by the rehearsal provider; supported: {supported}")
    return function(cloud, args)
