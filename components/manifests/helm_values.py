"""Helm values of the two controllers. Pure: what is not stated keeps the chart's default.

The charts in the controllers' Go modules name staging images by branch, so the released image and its tag are always
stated; the released OCI charts then get the same values.
"""

from __future__ import annotations

from typing import Any

import yaml

from settings.catalogue import versions
from settings.plan.host_requests import DISK
from settings.schema.stack import KueueSection

KUEUE_NAMESPACE = "kueue-system"
JOBSET_NAMESPACE = "jobset-system"
KUBERAY_NAMESPACE = "ray-system"
KUEUE_DEPLOYMENT = "kueue-controller-manager"
JOBSET_DEPLOYMENT = "jobset-controller"
KUBERAY_DEPLOYMENT = "kuberay-operator"

FRAMEWORKS = ("batch/job", "jobset.x-k8s.io/jobset")
RAY_FRAMEWORKS = ("ray.io/rayjob", "ray.io/raycluster")
"""What Kueue queues, the second only where there is Ray. The chart's default also takes plain pods, Deployments and
StatefulSets: then nothing in the cluster starts while Kueue is down."""

WITHOUT_PODS_READY = "DisableWaitForPodsReady"
"""The gate by which Kueue 0.19 and 0.20 leave out the check that has become their default."""


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


def kuberay_values(*, kubernetes_proxy: bool) -> dict[str, Any]:
    """KubeRay by its own chart. One replica with leader election, as its chart has it."""
    proxy = {"useKubernetesProxy": True} if kubernetes_proxy else {}
    return {
        **proxy,
        "image": {
            "repository": versions.KUBERAY_IMAGE,
            "tag": f"v{versions.KUBERAY_VERSION}",
            "pullPolicy": "IfNotPresent",
        },
        "resources": {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
    }


def kueue_values(
    kueue: KueueSection, *, ray: bool, fair_sharing: bool = False, autopilot: bool = False
) -> dict[str, Any]:
    return {
        "controllerManager": {
            "replicas": 1,
            "featureGates": [{"name": name, "enabled": on} for name, on in feature_gates(kueue).items()],
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
        "managerConfig": {
            "controllerManagerConfigYaml": yaml.safe_dump(
                kueue_configuration(kueue, ray=ray, fair_sharing=fair_sharing, autopilot=autopilot), sort_keys=True
            )
        },
    }


def feature_gates(kueue: KueueSection) -> dict[str, bool]:
    """The stated gates, and the one that switches off the check for ready pods."""
    off = {} if kueue.pods_ready.enabled else {WITHOUT_PODS_READY: True}
    return dict(sorted({**kueue.feature_gates, **off}.items()))


def kueue_configuration(
    kueue: KueueSection, *, ray: bool, fair_sharing: bool = False, autopilot: bool = False
) -> dict[str, Any]:
    """Kueue's configuration file. The chart takes it whole, so its defaults are repeated where it states them."""
    configuration: dict[str, Any] = {
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
        "integrations": {"frameworks": [*FRAMEWORKS, *(RAY_FRAMEWORKS if ray else ())]},
    }
    if fair_sharing:
        # v1beta2 has no `enable`: the section is what switches it on. Both strategies, in the order of Kueue's own example.
        configuration["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
    if autopilot:
        # Pods must ask for disk there (`settings.host_share`), and no queue gives it out: a job that asks for what its queue does not
        # have waits for ever.
        configuration["resources"] = {"excludeResourcePrefixes": [DISK]}
    if kueue.pods_ready.enabled:
        configuration["waitForPodsReady"] = {
            "timeout": kueue.pods_ready.timeout,
            "recoveryTimeout": kueue.pods_ready.recovery_timeout,
            # One job that is slow to start must not hold up the others: each has a slice of its own.
            "blockAdmission": False,
            # No limit on how often: a job that waits for chips is never deactivated for it.
            "requeuingStrategy": {"timestamp": "Eviction", "backoffBaseSeconds": 60, "backoffMaxSeconds": 3600},
        }
    return configuration
