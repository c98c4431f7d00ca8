"""The JobSet of a multislice job as plain data, derived from its plan."""

from __future__ import annotations

from typing import Any

from settings.catalogue.labels import NODEPOOL_LABEL, REPLICATED_JOB
from settings.plan.jobs import JobSetPlan
from workloads.failure_policy import job_failure_policy, jobset_failure_policy
from workloads.queueing import queued_metadata
from workloads.slice_pod import slice_pod

EXCLUSIVE_TOPOLOGY = "alpha.jobset.sigs.k8s.io/exclusive-topology"


def multislice_jobset(job: JobSetPlan) -> dict[str, Any]:
    """A JobSet of one replicated job: one replica a slice, one pod a host, all chips of the host for its pod."""
    return {
        "apiVersion": job.kind.api_version,
        "kind": job.kind.kind,
        # Exclusive topology puts each slice's pods on a node pool of their own, which is what makes a slice.
        "metadata": queued_metadata(job, {EXCLUSIVE_TOPOLOGY: NODEPOOL_LABEL}),
        "spec": {
            "failurePolicy": jobset_failure_policy(job),
            "replicatedJobs": [
                {
                    "name": REPLICATED_JOB,
                    "replicas": job.slices,
                    "template": {
                        "spec": {
                            "parallelism": job.shape.hosts,
                            "completions": job.shape.hosts,
                            **job_failure_policy(job, retries=0),
                            "template": slice_pod(job),
                        }
                    },
                }
            ],
        },
    }
