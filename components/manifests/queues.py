"""Kueue's objects as plain data. Every name is stated: jobs refer to queues, and queues to flavors, by literal name."""

from __future__ import annotations

from typing import Any

from settings.catalogue.labels import TPU_RESOURCE
from settings.catalogue.versions import KUEUE_API
from settings.plan.queues import COVERED, CheckPlan, FlavorPlan, QueuePlan
from settings.schema.teams import PreemptionSection, PrioritySection

PROVISIONING_CLASS = "queued-provisioning.gke.io"
PROVISIONING_CONTROLLER = "kueue.x-k8s.io/provisioning-request"
NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""Kubernetes' own label of every namespace, which nobody can give to another."""
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
    the job's node selector. A team's takes jobs of the team's namespace only, the others those of every namespace."""
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchLabels": {NAMESPACE_NAME: queue.namespace}} if queue.team is not None else {},
        "queueingStrategy": queue.strategy,
        "resourceGroups": [
            {"coveredResources": list(COVERED), "flavors": [_quota(flavor) for flavor in queue.flavors]}
        ],
    }
    checks = [
        {"name": flavor.check.name, "onFlavors": [flavor.name]} for flavor in queue.flavors if flavor.check is not None
    ]
    if queue.cohort is not None:
        spec["cohortName"] = queue.cohort
    if queue.preemption is not None:
        spec["preemption"] = _preemption(queue.preemption)
    if queue.weight is not None:
        spec["fairSharing"] = {"weight": str(queue.weight)}
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


def workload_priority_class(priority: PrioritySection) -> dict[str, Any]:
    """Moves jobs in their queues, and nothing of their pods."""
    return {
        "apiVersion": KUEUE_API,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": priority.name},
        "value": priority.value,
        "description": priority.description,
    }


def priority_class(priority: PrioritySection) -> dict[str, Any]:
    """Moves pods: where nodes are short, Kubernetes' scheduler evicts those of a lower one."""
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": priority.name},
        "value": priority.value,
        "description": priority.description,
    }


def _preemption(preemption: PreemptionSection) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "withinClusterQueue": preemption.within_cluster_queue,
        "reclaimWithinCohort": preemption.reclaim_within_cohort,
    }
    borrowing = preemption.borrow_within_cohort
    if borrowing is not None:
        within_cohort: dict[str, Any] = {"policy": borrowing.policy}
        if borrowing.max_priority_threshold is not None:
            within_cohort["maxPriorityThreshold"] = borrowing.max_priority_threshold
        spec["borrowWithinCohort"] = within_cohort
    return spec


def _quota(flavor: FlavorPlan) -> dict[str, Any]:
    """Kueue wants the resources of a flavor in the order of coveredResources."""
    limits = {"nominalQuota": flavor.quota, "borrowingLimit": flavor.borrow, "lendingLimit": flavor.lend}
    stated = {key: dict(amounts) for key, amounts in limits.items() if amounts is not None}
    resources = [{"name": name, **{key: amounts[name] for key, amounts in stated.items()}} for name in COVERED]
    return {"name": flavor.name, "resources": resources}
