"""An indexed Job of one slice and the headless Service by which its pods find each other, as plain data."""

from __future__ import annotations

from typing import Any

from settings.catalogue.labels import NODEPOOL_LABEL
from settings.plan.jobs import IndexedJobPlan
from workloads.failure_policy import MAX_RESTARTS, job_failure_policy
from workloads.queueing import queued_metadata
from workloads.slice_pod import slice_pod

JOB_LABEL = "batch.kubernetes.io/job-name"
NO_WAIT = {"pulumi.com/skipAwait": "true"}
"""The Kubernetes provider would wait until a Job is finished."""


def indexed_job(job: IndexedJobPlan) -> dict[str, Any]:
    """One pod a host, all chips of the host for its pod. GKE's webhook sets TPU_WORKER_ID and TPU_WORKER_HOSTNAMES for a Job that is
    indexed, has a subdomain and several pods."""
    pod = slice_pod(job)
    return {
        "apiVersion": job.kind.api_version,
        "kind": job.kind.kind,
        "metadata": queued_metadata(job, NO_WAIT),
        "spec": {
            "completionMode": "Indexed",
            "parallelism": job.shape.hosts,
            "completions": job.shape.hosts,
            # The other hosts end when one is lost, and each end counts.
            **job_failure_policy(job, retries=MAX_RESTARTS * job.shape.hosts),
            "template": {**pod, "spec": {**pod["spec"], "subdomain": job.name, "affinity": _one_pool(job)}},
        },
    }


def _one_pool(job: IndexedJobPlan) -> dict[str, Any]:
    """All pods on one node pool, which is one slice, and no other job's pods there: what JobSet's exclusive topology states too."""
    own = [{"key": JOB_LABEL, "operator": "In", "values": [job.name]}]
    others = [{"key": JOB_LABEL, "operator": "Exists"}, {"key": JOB_LABEL, "operator": "NotIn", "values": [job.name]}]
    together = {"labelSelector": {"matchExpressions": own}, "topologyKey": NODEPOOL_LABEL}
    apart = {"labelSelector": {"matchExpressions": others}, "namespaceSelector": {}, "topologyKey": NODEPOOL_LABEL}
    key = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"podAffinity": {key: [together]}, "podAntiAffinity": {key: [apart]}}


def headless_service(job: IndexedJobPlan) -> dict[str, Any]:
    """Gives each pod the DNS name `<job>-<index>.<job>`, before it is ready too: the programs meet before they are."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": job.name, "namespace": job.namespace, "annotations": NO_WAIT},
        "spec": {"clusterIP": "None", "selector": {JOB_LABEL: job.name}, "publishNotReadyAddresses": True},
    }
