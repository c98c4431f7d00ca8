"""The Service Usage API: which APIs a project has enabled. Every well-formed project id exists; none has more than the two below on."""

from __future__ import annotations

import re
from typing import Any

from rehearsal.gcp.core import ApiError, Call, Handler, Object, World, failed_precondition, not_found, number

ALWAYS_ON = ("cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com")

TITLES = {
    "artifactregistry.googleapis.com": "Artifact Registry API",
    "autoscaling.googleapis.com": "Cloud Autoscaling API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "compute.googleapis.com": "Compute Engine API",
    "container.googleapis.com": "Kubernetes Engine API",
    "containerfilesystem.googleapis.com": "Container File System API",
    "containerregistry.googleapis.com": "Container Registry API",
    "gkebackup.googleapis.com": "Backup for GKE API",
    "gkehub.googleapis.com": "GKE Hub API",
    "iam.googleapis.com": "Identity and Access Management (IAM) API",
    "iamcredentials.googleapis.com": "IAM Service Account Credentials API",
    "logging.googleapis.com": "Cloud Logging API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "networkconnectivity.googleapis.com": "Network Connectivity API",
    "oslogin.googleapis.com": "Cloud OS Login API",
    "pubsub.googleapis.com": "Cloud Pub/Sub API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
    "storage-api.googleapis.com": "Google Cloud Storage JSON API",
    "tpu.googleapis.com": "Cloud TPU API",
}

NEEDS = {
    "container.googleapis.com": (
        "compute.googleapis.com",
        "iam.googleapis.com",
        "logging.googleapis.com",
        "monitoring.googleapis.com",
    )
}
"""Enabling the first enables the others with it, and those cannot be disabled under it."""


def enabled(world: World, project: str) -> set[str]:
    """The APIs that are on in a project."""
    saved = world.store.get("services", project) or {}
    return {*ALWAYS_ON, *saved.get("enabled", [])}


def require_api(world: World, project: str, api: str) -> None:
    """Raises the refusal of an API that the project has not enabled."""
    if not project or api in enabled(world, project):
        return
    digits = number(project)
    url = f"https://console.developers.google.com/apis/api/{api}/overview?project={digits}"
    message = (
        f"{TITLES[api]} has not been used in project {digits} before or it is disabled. Enable it by visiting {url} then retry. "
        "If you enabled this API recently, wait a few minutes for the action to propagate to our systems and retry."
    )
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": "SERVICE_DISABLED",
        "domain": "googleapis.com",
        "metadata": {"service": api, "consumer": f"projects/{digits}"},
    }
    raise ApiError(403, message, reason="accessNotConfigured", details=[info])


def _known(project: str, api: str) -> str:
    if api not in TITLES:
        raise ApiError(403, f"Not found or permission denied for service(s): {api}.", details=[{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "SERVICE_CONFIG_NOT_FOUND_OR_PERMISSION_DENIED",
            "domain": "serviceusage.googleapis.com", "metadata": {"services": api},
        }])  # fmt: skip
    return api


def _project(call: Call) -> str:
    project = call.params["v1Id1"]
    if re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]|\d+", project) is None:
        raise not_found(f"Project '{project}' not found or permission denied.")
    return project


def _service(project: str, api: str, on: bool) -> Object:
    parent = f"projects/{number(project)}"
    return {
        "name": f"{parent}/services/{api}",
        "parent": parent,
        "state": "ENABLED" if on else "DISABLED",
        "config": {"name": api, "title": TITLES[api]},
    }


def _list(call: Call) -> Object:
    project, wanted = _project(call), call.query.get("filter", "")
    on = enabled(call.world, project)
    rows = [_service(project, api, api in on) for api in sorted(TITLES)]
    state = wanted.removeprefix("state:")
    rows = [row for row in rows if not state or row["state"] == state]
    start, size = int(call.query.get("pageToken") or 0), int(call.query.get("pageSize") or 50)
    page: Object = {"services": rows[start : start + size]}
    if start + size < len(rows):
        page["nextPageToken"] = str(start + size)
    return page


def _get(call: Call) -> Object:
    project = _project(call)
    api = _known(project, call.params["servicesId"])
    return _service(project, api, api in enabled(call.world, project))


def _save(world: World, project: str, on: set[str]) -> None:
    world.store.put("services", project, {"enabled": sorted(on - set(ALWAYS_ON))})


def _enable(call: Call) -> Object:
    return _turn_on(call, [call.params["servicesId"]])


def _batch_enable(call: Call) -> Object:
    return _turn_on(call, call.body.get("serviceIds", []))


def _turn_on(call: Call, apis: list[str]) -> Object:
    project = _project(call)
    wanted = {_known(project, api) for api in apis}
    with call.world.store.lock:
        on = enabled(call.world, project) | wanted | {other for api in wanted for other in NEEDS.get(api, ())}
        _save(call.world, project, on)
    services = [_service(project, api, True) for api in sorted(wanted)]
    kind = (
        "BatchEnableServicesResponse" if len(apis) != 1 or "servicesId" not in call.params else "EnableServiceResponse"
    )
    body: dict[str, Any] = {"services": services} if kind.startswith("Batch") else {"service": services[0]}
    return _done(kind, body, project)


def _disable(call: Call) -> Object:
    project = _project(call)
    api = _known(project, call.params["servicesId"])
    with call.world.store.lock:
        on = enabled(call.world, project)
        under = sorted(other for other in on if api in NEEDS.get(other, ()))
        if under and not call.body.get("disableDependentServices", False):
            raise failed_precondition(
                f"The service {api} is depended on by the following active service(s): {', '.join(under)} . "
                "Please specify disableDependentServices=true if you want to proceed with disabling all services."
            )
        _save(call.world, project, on - {api, *under})
    return _done("DisableServiceResponse", {"service": _service(project, api, False)}, project)


def _done(kind: str, body: Object, project: str) -> Object:
    response = {"@type": f"type.googleapis.com/google.api.serviceusage.v1.{kind}", **body}
    return {"name": f"operations/acat.p2-{number(project)}-{number(str(body))}", "done": True, "response": response}


def _batch_get(call: Call) -> Object:
    project = _project(call)
    names = [name.rsplit("/", 1)[-1] for name in call.query.get("names", "").split(",") if name]
    return {"services": [_service(project, _known(project, n), n in enabled(call.world, project)) for n in names]}


HANDLERS: dict[str, Handler] = {
    "serviceusage.services.list": _list,
    "serviceusage.services.get": _get,
    "serviceusage.services.enable": _enable,
    "serviceusage.services.disable": _disable,
    "serviceusage.services.batchEnable": _batch_enable,
    "serviceusage.services.batchGet": _batch_get,
}
