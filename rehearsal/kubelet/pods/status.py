"""A pod's status as the kubelet reports it: a pure function of the pod and the records of its containers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rehearsal.kubelet.containers.container_records import Record

Pod = Mapping[str, Any]


@dataclass(frozen=True)
class View:
    """What the status is made from, besides the pod itself."""

    records: Mapping[str, Record]
    pod_ip: str
    host_ip: str
    started: str
    initialized: bool
    phase: str | None = None
    """How the pod ended, when it has."""
    sandbox: bool = True
    reason: str | None = None
    message: str | None = None


def container_status(container: Mapping[str, Any], record: Record, uid: str) -> dict[str, Any]:
    """One entry of containerStatuses or initContainerStatuses."""
    status: dict[str, Any] = {
        "name": record.name,
        "image": container["image"],
        "imageID": container["image"],
        "ready": record.ready,
        "started": record.started,
        "restartCount": record.restart_count,
        "state": record.state,
        "lastState": record.last_state,
    }
    if record.runs:
        status["containerID"] = container_id(uid, record)
    return status


def container_id(uid: str, record: Record) -> str:
    return f"rehearsal://{uid}/{record.name}/{record.runs - 1}"


def phase(pod: Pod, view: View) -> str:
    """Pending until the containers were created, then Running, then how the pod ended."""
    if view.phase is not None:
        return view.phase
    records = [view.records[container["name"]] for container in pod["spec"]["containers"]]
    begun = all(record.running or record.ended is not None for record in records)
    return "Running" if view.initialized and begun else "Pending"


def build(pod: Pod, view: View, now: str) -> dict[str, Any]:
    """The status to report; conditions that stay as they are keep the time of their last change."""
    spec, uid = pod["spec"], pod["metadata"]["uid"]
    result: dict[str, Any] = {
        "phase": phase(pod, view),
        "startTime": view.started,
        "conditions": conditions(pod, view, now),
        "containerStatuses": [container_status(c, view.records[c["name"]], uid) for c in spec["containers"]],
    }
    if "generation" in pod["metadata"]:
        result["observedGeneration"] = pod["metadata"]["generation"]
    if spec.get("initContainers"):
        entries = [container_status(c, view.records[c["name"]], uid) for c in spec["initContainers"]]
        result["initContainerStatuses"] = entries
    if view.host_ip:
        result |= {"hostIP": view.host_ip, "hostIPs": [{"ip": view.host_ip}]}
    if view.pod_ip:
        result |= {"podIP": view.pod_ip, "podIPs": [{"ip": view.pod_ip}]}
    if view.reason is not None:
        result |= {"reason": view.reason, "message": view.message or ""}
    return result


def conditions(pod: Pod, view: View, now: str) -> list[dict[str, Any]]:
    spec = pod["spec"]
    initializing = [c["name"] for c in spec.get("initContainers") or [] if not _done(c, view.records[c["name"]])]
    sidecars = [c["name"] for c in spec.get("initContainers") or [] if c.get("restartPolicy") == "Always"]
    unready = [n for n in [*sidecars, *(c["name"] for c in spec["containers"])] if not view.records[n].ready]
    over = view.phase in ("Succeeded", "Failed")
    held = {c["type"]: c for c in (pod.get("status") or {}).get("conditions") or []}
    gates = [g["conditionType"] for g in spec.get("readinessGates") or []]
    closed = [gate for gate in gates if (held.get(gate) or {}).get("status") != "True"]
    initialized = view.initialized or view.phase == "Succeeded"
    contained = _why(over, view.phase, unready, "ContainersNotReady", "containers with unready status")
    shut = ("ReadinessGatesNotReady", f"readiness gates that are not True: {_listed(closed)}") if closed else None
    incomplete = ("ContainersNotInitialized", f"containers with incomplete status: {_listed(initializing)}")
    wanted: list[tuple[str, tuple[str, str] | None]] = [
        ("PodReadyToStartContainers", None if view.sandbox and not over else ("", "")),
        ("Initialized", None if initialized else incomplete),
        ("ContainersReady", contained),
        ("Ready", contained or shut),
    ]
    return [_condition(kind, why, held.get(kind), now) for kind, why in wanted]


def _why(over: bool, ended: str | None, names: Sequence[str], reason: str, text: str) -> tuple[str, str] | None:
    """(reason, message) of a condition that is false; None when it is true."""
    if over:
        return ("PodCompleted" if ended == "Succeeded" else "PodFailed", "")
    return (reason, f"{text}: {_listed(names)}") if names else None


def _listed(names: Sequence[str]) -> str:
    return "[" + " ".join(names) + "]"


def _done(container: Mapping[str, Any], record: Record) -> bool:
    if container.get("restartPolicy") == "Always":
        return record.started
    return record.ended is not None and record.ended["exitCode"] == 0


def _condition(kind: str, why: tuple[str, str] | None, held: Mapping[str, Any] | None, now: str) -> dict[str, Any]:
    state = "True" if why is None else "False"
    changed = (
        held["lastTransitionTime"] if held and held.get("status") == state and held.get("lastTransitionTime") else now
    )
    result: dict[str, Any] = {"type": kind, "status": state, "lastTransitionTime": changed, "lastProbeTime": None}
    reason, message = why if why is not None else ("", "")
    return {**result, "reason": reason or None, "message": message or None}
