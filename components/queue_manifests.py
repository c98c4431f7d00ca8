"""Kueue's objects as plain data. Every name is stated: jobs refer to queues, and queues to flavors, by literal name."""

from __future__ import annotations

from typing import Any

from settings.accelerators import TPU_RESOURCE
from settings.plan import FlavorPlan, QueuePlan
from settings.versions import KUEUE_API

COVERED = (TPU_RESOURCE, "cpu", "memory")


def resource_flavor(flavor: FlavorPlan) -> dict[str, Any]:
    """A kind of slice, recognised by the labels that GKE gives its nodes."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "ResourceFlavor",
        "metadata": {"name": flavor.name},
        "spec": {"nodeLabels": flavor.shape.node_labels},
    }


def cluster_queue(queue: QueuePlan) -> dict[str, Any]:
    """One queue over all slices. Kueue tries flavors in the order of the stack file, among those whose labels agree
    with the job's node selector. An empty namespace selector admits every namespace."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "ClusterQueue",
        "metadata": {"name": queue.cluster_queue},
        "spec": {
            "namespaceSelector": {},
            "queueingStrategy": queue.strategy,
            "resourceGroups": [
                {"coveredResources": list(COVERED), "flavors": [_quota(flavor) for flavor in queue.flavors]}
            ],
        },
    }


def local_queue(queue: QueuePlan) -> dict[str, Any]:
    """What jobs of a namespace name."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "LocalQueue",
        "metadata": {"name": queue.local_queue, "namespace": queue.namespace},
        "spec": {"clusterQueue": queue.cluster_queue},
    }


def _quota(flavor: FlavorPlan) -> dict[str, Any]:
    """Kueue wants the resources of a flavor in the order of coveredResources."""
    quota = dict(flavor.quota)
    return {"name": flavor.name, "resources": [{"name": name, "nominalQuota": quota[name]} for name in COVERED]}
