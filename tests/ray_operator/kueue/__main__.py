"""Kueue, and a queue whose first flavor is the CPU pool and whose second is the slice."""

from __future__ import annotations

import os

import pulumi
import pulumi_kubernetes as k8s
import yaml

CONFIGURATION = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": False},
    "integrations": {"frameworks": ["batch/job", "ray.io/rayjob"]},
}
IMAGE = {"repository": "registry.k8s.io/kueue/kueue", "tag": "v0.19.1", "pullPolicy": "IfNotPresent"}
GATES = [{"name": "ElasticJobsViaWorkloadSlices", "enabled": True}]

provider = k8s.Provider("cluster", kubeconfig=os.environ["TEST_KUBECONFIG"])
release = k8s.helm.v3.Release(
    "kueue",
    name="kueue",
    namespace="kueue-system",
    create_namespace=True,
    chart=os.environ["TEST_KUEUE_CHART"],
    values={
        "controllerManager": {"replicas": 1, "featureGates": GATES, "manager": {"image": IMAGE}},
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(CONFIGURATION)},
    },
    timeout=120,
    opts=pulumi.ResourceOptions(provider=provider),
)
