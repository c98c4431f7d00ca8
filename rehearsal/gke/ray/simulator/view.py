"""What the pods and the RayCluster object say about a Ray cluster (labels of kuberay's controllers/ray/utils/constant.go)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

Object = dict[str, Any]

DASHBOARD_PORT = 8265
FAILS = "rehearsal/ray-jobs-fail"
"""An annotation of a head's pod: its jobs fail with this text as their last words."""


def label(pod: Object, name: str) -> str:
    return str((pod["metadata"].get("labels") or {}).get(f"ray.io/{name}", ""))


def cluster(pod: Object) -> tuple[str, str]:
    """(namespace, name) of the Ray cluster that a pod belongs to; the name is "" when it belongs to none."""
    return pod["metadata"]["namespace"], label(pod, "cluster")


def started(pod: Object) -> bool:
    status = pod.get("status") or {}
    return status.get("phase") == "Running" and bool(status.get("podIP")) and "deletionTimestamp" not in pod["metadata"]


def ready(pod: Object) -> bool:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def runs(pod: Object) -> bool:
    return started(pod) and ready(pod)


def unready(pod: Object) -> bool:
    """Whether a pod is not ready although all of its containers run."""
    states = [status.get("state", {}) for status in pod["status"].get("containerStatuses") or []]
    return not ready(pod) and all("running" in state for state in states)


def made_ready(pod: Object, at: str) -> Object:
    """What makes a started pod's status that of one whose probes have succeeded."""
    kinds = ("ContainersReady", "Ready")
    conditions = [c for c in pod["status"].get("conditions") or [] if c["type"] not in kinds]
    conditions += [{"type": kind, "status": "True", "lastTransitionTime": at} for kind in kinds]
    statuses = [{**status, "ready": True, "started": True} for status in pod["status"].get("containerStatuses") or []]
    return {"conditions": conditions, "containerStatuses": statuses}


def is_head(pod: Object) -> bool:
    return label(pod, "node-type") == "head"


def workers(pods: Iterable[Object], of: tuple[str, str]) -> set[str]:
    """The uids of a cluster's workers that run."""
    return {
        pod["metadata"]["uid"]
        for pod in pods
        if cluster(pod) == of and label(pod, "node-type") == "worker" and runs(pod)
    }


def wanted(ray_cluster: Object) -> int:
    """How many worker pods a RayCluster should have (kuberay's GetWorkerGroupDesiredReplicas)."""
    return sum(_wanted(group) for group in ray_cluster["spec"].get("workerGroupSpecs") or [])


def _wanted(group: Object) -> int:
    if group.get("suspend"):
        return 0
    least, most = int(group.get("minReplicas", 0)), int(group.get("maxReplicas", 2**31 - 1))
    replicas = max(least, min(most, int(group.get("replicas", least))))
    return replicas * int(group.get("numOfHosts", 1))


def dashboard_port(pod: Object) -> int:
    named = (p for p in pod["spec"]["containers"][0].get("ports") or [] if p.get("name") == "dashboard")
    return int(next(named, {"containerPort": DASHBOARD_PORT})["containerPort"])


def ray_version(pod: Object) -> str:
    """The version in the image's tag, such as 2.53.0 in `rayproject/ray:2.53.0-py311`; "" when it names none."""
    found = re.search(r":(\d+\.\d+\.\d+)", pod["spec"]["containers"][0]["image"])
    return found.group(1) if found else ""


def fails(pod: Object) -> str | None:
    annotations = pod["metadata"].get("annotations") or {}
    return str(annotations[FAILS]) if FAILS in annotations else None
