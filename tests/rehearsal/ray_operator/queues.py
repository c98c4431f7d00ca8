"""A queue over the tests' two pools: the head of a Ray cluster fits on the first flavor, its workers on the second."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

QUEUE = "user-queue"
_API = "kueue.x-k8s.io/v1beta2"
_POOLS = {"default-cpu": ("default-pool", ("10", "40Gi", "0")), "on-demand": ("v6e", ("40", "75Gi", "16"))}


def objects() -> list[tuple[str, Object]]:
    """(path of the collection, object), in the order in which they are made."""
    base = f"/apis/{_API}"
    resources = ("cpu", "memory", "google.com/tpu")
    flavors = [
        {"name": name, "resources": [{"name": r, "nominalQuota": q} for r, q in zip(resources, quotas, strict=True)]}
        for name, (_, quotas) in _POOLS.items()
    ]
    groups = [{"coveredResources": list(resources), "flavors": flavors}]
    made = [
        (f"{base}/resourceflavors", _object("ResourceFlavor", name, nodeLabels={"cloud.google.com/gke-nodepool": pool}))
        for name, (pool, _) in _POOLS.items()
    ]
    queue = _object("ClusterQueue", "cluster-queue", namespaceSelector={}, resourceGroups=groups)
    local = _object("LocalQueue", QUEUE, clusterQueue="cluster-queue")
    return [*made, (f"{base}/clusterqueues", queue), (f"{base}/namespaces/default/localqueues", local)]


def _object(kind: str, name: str, **spec: Any) -> Object:
    return {"apiVersion": _API, "kind": kind, "metadata": {"name": name}, "spec": spec}
