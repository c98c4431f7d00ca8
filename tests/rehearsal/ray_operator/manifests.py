"""Ray's objects as Google's tutorial on Ray, DWS and Kueue has them, with the names of the tests' cluster."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]

IMAGE = "rayproject/ray:2.53.0-py311"


def ray_cluster_spec(hosts: int = 4, topology: str = "4x4") -> Object:
    head = {"name": "ray-head", "image": IMAGE, "resources": _resources("2", "4Gi")}
    head["ports"] = [
        {"containerPort": 6379, "name": "gcs-server"},
        {"containerPort": 8265, "name": "dashboard"},
        {"containerPort": 10001, "name": "client"},
    ]
    worker = {"name": "ray-worker", "image": IMAGE, "resources": _resources("8", "16Gi", "4")}
    group = {
        "replicas": 1, "minReplicas": 1, "maxReplicas": 2, "numOfHosts": hosts, "groupName": "tpu-group", "rayStartParams": {},
        "template": {"spec": {
            "tolerations": [{"key": "google.com/tpu", "operator": "Exists", "effect": "NoSchedule"}],
            "nodeSelector": {
                "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice", "cloud.google.com/gke-tpu-topology": topology,
            },
            "containers": [worker],
        }},
    }  # fmt: skip
    on_cpu = {"nodeSelector": {"cloud.google.com/gke-nodepool": "default-pool"}, "containers": [head]}
    return {"headGroupSpec": {"rayStartParams": {}, "template": {"spec": on_cpu}}, "workerGroupSpecs": [group]}


def _resources(cpu: str, memory: str, chips: str = "") -> Object:
    amounts = {"cpu": cpu, "memory": memory, **({"google.com/tpu": chips} if chips else {})}
    return {"limits": amounts, "requests": amounts}


def ray_cluster(name: str, hosts: int) -> Object:
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": name},
        "spec": ray_cluster_spec(hosts),
    }


def ray_job(name: str, **spec: Any) -> Object:
    return {
        "apiVersion": "ray.io/v1",
        "kind": "RayJob",
        "metadata": {"name": name},
        "spec": {
            "shutdownAfterJobFinishes": True,
            "entrypoint": "python /app/train.py",
            "runtimeEnvYAML": "pip:\n  - jax[tpu]==0.8.2\n",
            "rayClusterSpec": ray_cluster_spec(),
            **spec,
        },
    }
