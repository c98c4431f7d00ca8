"""Helm values of the two controllers. Pure: what is not stated keeps the chart's default.

The charts in the controllers' Go modules name staging images by branch, so the released image and its tag are always
stated; the released OCI charts then get the same values.
"""

from __future__ import annotations

from typing import Any

import yaml

from settings import versions

KUEUE_NAMESPACE = "kueue-system"
JOBSET_NAMESPACE = "jobset-system"
KUEUE_DEPLOYMENT = "kueue-controller-manager"
JOBSET_DEPLOYMENT = "jobset-controller"

FRAMEWORKS = ("batch/job", "jobset.x-k8s.io/jobset")
"""What Kueue queues. The chart's default also takes plain pods, Deployments and StatefulSets: then nothing in the
cluster starts while Kueue is down. Ray joins with the issue that brings KubeRay."""

PODS_READY_TIMEOUT = "30m"
"""From admission to all pods ready. Kueue 0.19 made this check a default; it is stated so that an upgrade cannot
change it unseen. Half an hour covers a slice's nodes being repaired and the image being pulled; a job that exceeds
it gives its quota back and is queued again."""


def jobset_values() -> dict[str, Any]:
    return {
        "image": {
            "repository": versions.JOBSET_IMAGE,
            "tag": f"v{versions.JOBSET_VERSION}",
            "pullPolicy": "IfNotPresent",
        },
        "controller": {
            "replicas": 1,
            # The manager caches every pod and JobSet: its limit is what ends it under load, not its request.
            "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "4Gi"}},
        },
    }


def kueue_values() -> dict[str, Any]:
    return {
        "controllerManager": {
            "replicas": 1,
            "manager": {
                "image": {
                    "repository": versions.KUEUE_IMAGE,
                    "tag": f"v{versions.KUEUE_VERSION}",
                    "pullPolicy": "IfNotPresent",
                },
                # The chart's 512Mi is its request and its limit: too little once there are thousands of workloads.
                "resources": {"requests": {"cpu": "500m", "memory": "512Mi"}, "limits": {"cpu": "2", "memory": "2Gi"}},
            },
        },
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(kueue_configuration(), sort_keys=True)},
    }


def kueue_configuration() -> dict[str, Any]:
    """Kueue's configuration file. The chart takes it whole, so its defaults are repeated where it states them."""
    return {
        "apiVersion": versions.KUEUE_CONFIG_API,
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443"},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "controller": {
            "groupKindConcurrency": {
                "Job.batch": 5,
                "Pod": 5,
                "Workload.kueue.x-k8s.io": 10,
                "LocalQueue.kueue.x-k8s.io": 5,
                "ClusterQueue.kueue.x-k8s.io": 5,
                "ResourceFlavor.kueue.x-k8s.io": 1,
            }
        },
        "clientConnection": {"qps": 300, "burst": 500},
        "integrations": {"frameworks": list(FRAMEWORKS)},
        "waitForPodsReady": {
            "timeout": PODS_READY_TIMEOUT,
            "recoveryTimeout": PODS_READY_TIMEOUT,
            # One job that is slow to start must not hold up the others: each has a slice of its own.
            "blockAdmission": False,
        },
    }
