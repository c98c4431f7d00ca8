"""Controllers from their charts: those that TEST_CHARTS names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pulumi
import pulumi_kubernetes as k8s
import yaml

# The engine starts this program in its own folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

from settings.catalogue.versions import KUEUE_VERSION

CONFIGURATION = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": False},
    "integrations": {"frameworks": ["batch/job", "ray.io/rayjob"]},
}
IMAGE = {"repository": "registry.k8s.io/kueue/kueue", "tag": f"v{KUEUE_VERSION}", "pullPolicy": "IfNotPresent"}
GATES = [{"name": "ElasticJobsViaWorkloadSlices", "enabled": True}]

VALUES = {
    "kueue": {
        "controllerManager": {"replicas": 1, "featureGates": GATES, "manager": {"image": IMAGE}},
        "managerConfig": {"controllerManagerConfigYaml": yaml.safe_dump(CONFIGURATION)},
    },
    "kuberay-operator": {
        "useKubernetesProxy": True,
        "leaderElectionEnabled": False,
        "readinessProbe": {"initialDelaySeconds": 0, "periodSeconds": 1},
    },
}

provider = k8s.Provider("cluster", kubeconfig=os.environ["TEST_KUBECONFIG"])
for name in os.environ["TEST_CHARTS"].split(","):
    k8s.helm.v3.Release(
        name,
        name=name,
        namespace=f"{name}-system",
        create_namespace=True,
        chart=f"{os.environ['TEST_CHART_FOLDER']}/{name}",
        values=VALUES[name],
        timeout=120,
        opts=pulumi.ResourceOptions(provider=provider),
    )
