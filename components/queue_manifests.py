"""Kueue's objects as plain data. Every name is stated: jobs refer to queues, and queues to flavors, by literal name."""

from __future__ import annotations

from typing import Any

from settings.accelerators import TPU_RESOURCE
from settings.queue_plan import COVERED, CheckPlan, FlavorPlan, QueuePlan
from settings.versions import KUEUE_API

PROVISIONING_CLASS = "queued-provisioning.gke.io"
PROVISIONING_CONTROLLER = "kueue.x-k8s.io/provisioning-request"
PROVISIONING_LABEL = "autoscaling.gke.io/provisioning-request"


def resource_flavor(flavor: FlavorPlan) -> dict[str, Any]:
    """A kind of node, recognised by the labels that GKE gives it."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "ResourceFlavor",
        "metadata": {"name": flavor.name},
        "spec": {"nodeLabels": dict(flavor.labels)},
    }


def cluster_queue(queue: QueuePlan) -> dict[str, Any]:
    """One queue over its flavors. Kueue tries them in the order of the stack file, among those whose labels agree with
    the job's node selector. An empty namespace selector admits every namespace."""
    spec: dict[str, Any] = {
        "namespaceSelector": {},
        "queueingStrategy": queue.strategy,
        "resourceGroups": [
            {"coveredResources": list(COVERED), "flavors": [_quota(flavor) for flavor in queue.flavors]}
        ],
    }
    checks = [
        {"name": flavor.check.name, "onFlavors": [flavor.name]} for flavor in queue.flavors if flavor.check is not None
    ]
    if checks:
        # On its own flavor only: a check on the whole queue would hold back every job of the others.
        spec["admissionChecksStrategy"] = {"admissionChecks": checks}
    return {
        "apiVersion": KUEUE_API,
        "kind": "ClusterQueue",
        "metadata": {"name": queue.cluster_queue},
        "spec": spec,
    }


def local_queue(queue: QueuePlan) -> dict[str, Any]:
    """What jobs of a namespace name."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "LocalQueue",
        "metadata": {"name": queue.local_queue, "namespace": queue.namespace},
        "spec": {"clusterQueue": queue.cluster_queue},
    }


def admission_check(check: CheckPlan) -> dict[str, Any]:
    """Holds a job that has its quota until a ProvisioningRequest has brought its nodes."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "AdmissionCheck",
        "metadata": {"name": check.name},
        "spec": {
            "controllerName": PROVISIONING_CONTROLLER,
            "parameters": {
                "apiGroup": KUEUE_API.split("/")[0],
                "kind": "ProvisioningRequestConfig",
                "name": check.config,
            },
        },
    }


def provisioning_config(check: CheckPlan) -> dict[str, Any]:
    """How Kueue asks GKE for nodes.

    Only pods with chips are part of a request: GKE takes one pod set a request, and Ray's head is another. The update
    puts the request's name on the pods' node selector, so that they run on the nodes that were brought for them and on
    no others (GKE's guide on flex-start with queued provisioning; `tpu-topology` as in Google's cluster toolkit).
    """
    retry = check.retry
    return {
        "apiVersion": KUEUE_API,
        "kind": "ProvisioningRequestConfig",
        "metadata": {"name": check.config},
        "spec": {
            "provisioningClassName": PROVISIONING_CLASS,
            "managedResources": [TPU_RESOURCE],
            "parameters": {"tpu-topology": check.topology},
            "podSetUpdates": {
                "nodeSelector": [{"key": PROVISIONING_LABEL, "valueFromProvisioningClassDetail": "ResizeRequestName"}]
            },
            "retryStrategy": {
                "backoffLimitCount": retry.limit,
                "backoffBaseSeconds": retry.base_seconds,
                "backoffMaxSeconds": retry.max_seconds,
            },
        },
    }


def _quota(flavor: FlavorPlan) -> dict[str, Any]:
    """Kueue wants the resources of a flavor in the order of coveredResources."""
    quota = dict(flavor.quota)
    return {"name": flavor.name, "resources": [{"name": name, "nominalQuota": quota[name]} for name in COVERED]}
