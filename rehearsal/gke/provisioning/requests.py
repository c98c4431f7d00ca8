"""ProvisioningRequests of GKE's own class, as its autoscaler reads and answers them. Pure functions of plain objects.

States, reasons and messages are those of GKE's autoscaler, which Google publishes (k8s.io/gke-autoscaling: provreqstate, queuedwrapper,
scaleup/reasons, reconciler); Kueue copies the messages into its workloads.
"""

from __future__ import annotations

import hashlib

from rehearsal.gcp.core import Object
from rehearsal.gcp.nodes import shapes
from rehearsal.kubernetes.time import seconds_of, stamp

CLASS = "queued-provisioning.gke.io"
PATH = "/apis/autoscaling.x-k8s.io/v1"

_INITIAL = ("NotAccepted", "Provisioning Request wasn't accepted.")
_TRUE = {
    "Accepted": ("SuccessfullyQueued", "Provisioning Request was successfully queued."),
    "Provisioned": ("Provisioned", "Provisioning Request was successfully provisioned."),
    "BookingExpired": (
        "BookingExpired",
        "Capacity booking for the Provisioning Request has expired and the nodes are now candidates for scale down when underutilized.",
    ),
    "CapacityRevoked": (
        "CapacityRevoked",
        "Capacity provisioned for the Provisioning Request was reclaimed and is no longer available in the cluster.",
    ),
}
_STATES = ("CapacityRevoked", "BookingExpired", "Failed", "Provisioned", "Accepted")


def state(request: Object) -> str:
    """The furthest condition that is True; "Pending" when there are only others, "" when nobody has looked at the request yet."""
    conditions = request.get("status", {}).get("conditions") or []
    held = {c["type"] for c in conditions if c["status"] == "True"}
    return next((name for name in _STATES if name in held), "Pending" if conditions else "")


def since(request: Object, kind: str) -> float:
    """When a condition became what it is, in seconds since the epoch."""
    found = next(c for c in request["status"]["conditions"] if c["type"] == kind)
    return seconds_of(found["lastTransitionTime"])


def created(request: Object) -> float:
    return seconds_of(request["metadata"]["creationTimestamp"])


def initial() -> Object:
    return {"type": "Accepted", "status": "False", "reason": _INITIAL[0], "message": _INITIAL[1]}


def reached(kind: str) -> Object:
    reason, message = _TRUE[kind]
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def failed(reason: str, message: str) -> Object:
    return {"type": "Failed", "status": "True", "reason": reason, "message": message}


def exhausted(message: str) -> Object:
    """Still waiting: the last attempt found no machines."""
    return {"type": "Provisioned", "status": "False", "reason": "ResourcePoolExhausted", "message": message}


def with_conditions(request: Object, changes: list[Object]) -> list[Object]:
    """The request's conditions after changes; one that says what it said before keeps its time."""
    found = {c["type"]: c for c in request.get("status", {}).get("conditions") or []}
    for change in changes:
        before = found.get(change["type"], {})
        if any(before.get(key) != value for key, value in change.items()):
            generation = request["metadata"].get("generation", 1)
            found[change["type"]] = {**change, "lastTransitionTime": stamp(), "observedGeneration": generation}
    return list(found.values())


def resize_request(namespace: str, name: str) -> str:
    """The name that GKE gives the resize request of a ProvisioningRequest."""
    digest = hashlib.sha256(f"{namespace}/{name}".encode()).hexdigest()[:16]
    return f"gke-{namespace[:20]}-{name[:20]}-{digest}"


def resize_request_of(request: Object) -> str:
    return resize_request(request["metadata"]["namespace"], request["metadata"]["name"])


def details(request: Object, pool: Object, zone: str) -> dict[str, str]:
    """What GKE says of where a request was queued."""
    group = next(url for url in pool["instanceGroupUrls"] if f"/zones/{zone}/" in url).rsplit("/", 1)[-1]
    accelerator = shapes.labels(pool, "", zone).get("cloud.google.com/gke-tpu-accelerator", "")
    found = {
        "AcceleratorType": accelerator,
        "NodeGroupName": group,
        "NodePoolAutoProvisioned": "false",
        "NodePoolName": pool["name"],
        "PodTemplateName": template_name(request),
        "ProvisioningMode": "resize_request",
        "ResizeRequestName": resize_request_of(request),
        "SelectedZone": zone,
    }
    return {key: value for key, value in found.items() if value}


def template_name(request: Object) -> str:
    return str(request["spec"]["podSets"][0]["podTemplateRef"]["name"])


def longest_run(request: Object, default_s: float) -> float | None:
    """Seconds of Google's time that the nodes may stay; None when the parameter is no number."""
    stated = request["spec"].get("parameters", {}).get("maxRunDurationSeconds")
    if stated is None:
        return default_s
    return float(stated) if stated.isdigit() else None
