"""Pools, pods and requests as the store and the API server hold them."""

from __future__ import annotations

from typing import Any

from rehearsal.kubernetes.time import stamp

CLUSTER = "projects/p-one/locations/us-east5/clusters/demo"
ZONE = "us-east5-b"
QUEUED = {"key": "cloud.google.com/gke-queued", "operator": "Exists"}
TPU = {"key": "google.com/tpu", "operator": "Exists"}


def pool(
    name: str, machine: str = "ct6e-standard-4t", topology: str = "4x4", most: int = 4, **more: Any
) -> dict[str, Any]:
    """An autoscaled pool without nodes. `config` and other fields by name."""
    config = {"machineType": machine, "diskType": "pd-balanced", "diskSizeGb": 100, **more.pop("config", {})}
    group = (
        f"https://www.googleapis.com/compute/v1/projects/p-one/zones/{ZONE}/instanceGroupManagers/gke-demo-{name}-1-grp"
    )
    found = {
        "name": name, "_name": f"{CLUSTER}/nodePools/{name}", "_cluster": CLUSTER, "_size": 0, "locations": [ZONE],
        "networkConfig": {}, "config": config, "status": "RUNNING", "instanceGroupUrls": [group],
        "autoscaling": {"enabled": True, "maxNodeCount": most},
    }  # fmt: skip
    if topology:
        found["placementPolicy"] = {"tpuTopology": topology}
    return {**found, **more}


def cpu_pool(name: str = "cpu", most: int = 3, **more: Any) -> dict[str, Any]:
    return pool(name, "e2-standard-4", "", most, **more)


def queued_pool(name: str = "dws", **more: Any) -> dict[str, Any]:
    return pool(name, config={"flexStart": True}, queuedProvisioning={"enabled": True}, **more)


def pod(name: str, tpu: int = 0, cpu: str = "1", **more: Any) -> dict[str, Any]:
    """A pod that the scheduler found no node for. `labels`, `annotations` and fields of the spec by name."""
    resources = {"cpu": cpu, **({"google.com/tpu": str(tpu)} if tpu else {})}
    metadata = {"name": name, "namespace": "default", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"}
    metadata |= {key: more.pop(key) for key in ("labels", "annotations", "ownerReferences") if key in more}
    spec = {"containers": [{"name": "main", "resources": {"requests": resources}}], **more}
    if tpu:
        spec["tolerations"] = [TPU, *spec.get("tolerations", [])]
    waiting = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Pending", "conditions": [waiting]}}


def worker(name: str, **more: Any) -> dict[str, Any]:
    """A pod of a 4x4 v6e slice: all chips of its host."""
    selector = {"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": "4x4"}
    return pod(name, tpu=4, nodeSelector=selector, **more)


def request(name: str = "job-1", count: int = 4, **more: Any) -> dict[str, Any]:
    """A ProvisioningRequest that nobody has looked at; `conditions` as (type, status, seconds since the epoch), `parameters`, `details`."""
    conditions = [
        {"type": kind, "status": status, "reason": "x", "message": "x", "lastTransitionTime": stamp(at)}
        for kind, status, at in more.get("conditions", [])
    ]
    return {
        "metadata": {
            "name": name,
            "namespace": "team",
            "uid": name,
            "creationTimestamp": stamp(more.get("created", 1000)),
        },
        "spec": {
            "provisioningClassName": "queued-provisioning.gke.io",
            "parameters": more.get("parameters", {}),
            "podSets": [{"count": count, "podTemplateRef": {"name": f"ppt-{name}-main"}}],
        },
        "status": {"conditions": conditions, "provisioningClassDetails": more.get("details", {"SelectedZone": ZONE})},
    }
