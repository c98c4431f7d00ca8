"""RayOperator in a rehearsal: the real KubeRay, under the real Kueue, against a played Ray. The tests follow one cluster's life."""

from __future__ import annotations

import os
import time
from typing import Any

import pytest
from kubernetes import client

from rehearsal import lifecycle, supervisor
from rehearsal.layout import CHECKOUT
from tests.ray_operator import queues
from tests.ray_operator.conftest import CLUSTER, Rehearsal, until
from tests.ray_operator.manifests import ray_cluster, ray_job

pytestmark = pytest.mark.rehearsal

Object = dict[str, Any]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
RAY_CRDS = {f"{kind}.ray.io" for kind in ("rayclusters", "raycronjobs", "rayjobs", "rayservices")}
WORKERS = "ray.io/node-type=worker"


def units(ray: Rehearsal) -> set[str]:
    """The programs of the add-on that run."""
    running = supervisor.units(ray.layout).values()
    return {unit["name"].rsplit("-", 2)[0] for unit in running if "kuberay" in unit["name"]}


def environment(pod: Object) -> dict[str, str]:
    return {e["name"]: e.get("value", "") for e in pod["spec"]["containers"][0]["env"]}


def succeeded(ray: Rehearsal, name: str) -> Object:
    """Waits until a RayJob has ended and gives its last status."""
    status: Object = until(f"{name} ends", lambda: ended(ray.ray_job(name)))
    return status


def ended(status: Object) -> Object | None:
    return status if status.get("jobDeploymentStatus") in ("Complete", "Failed") else None


def test_the_add_on_is_there_as_google_hosts_it(ray: Rehearsal) -> None:
    addons = ray.google("GET", CLUSTER)["addonsConfig"]
    assert addons["rayOperatorConfig"] == {"enabled": True, "rayClusterLoggingConfig": {"enabled": True}}
    assert RAY_CRDS <= {crd["metadata"]["name"] for crd in ray.cluster.list(CRDS)}
    assert units(ray) == {"kuberay-operator", "kuberay-tpu-webhook"}
    deployments = ray.cluster.list("/apis/apps/v1/deployments")
    assert not [d for d in deployments if "kuberay" in d["metadata"]["name"]]


def test_the_webhook_refuses_a_group_with_too_few_hosts(ray: Rehearsal) -> None:
    with pytest.raises(client.ApiException) as refused:
        ray.create(ray_cluster("too-few", hosts=3))
    assert "Number of workers in worker group not equal to specified topology" in str(refused.value.reason)
    assert refused.value.status == 400


def test_a_ray_job_runs_on_the_slice_and_ends(ray: Rehearsal) -> None:
    ray.create(ray_job("plain"))
    workers = until("four workers", lambda: len(w := ray.pods(WORKERS)) == 4 and all(p["status"].get("podIP") for p in w) and w)
    by_id = {environment(pod)["TPU_WORKER_ID"]: pod for pod in workers}
    assert set(by_id) == {"0", "1", "2", "3"}
    assert len({pod["spec"]["nodeName"] for pod in workers}) == 4
    for number, pod in by_id.items():
        assert pod["spec"]["hostname"] == f"tpu-group-0-{number}"
        assert len(environment(pod)["TPU_WORKER_HOSTNAMES"].split(",")) == 4
    until("the job runs", lambda: ray.ray_job("plain").get("jobStatus") == "RUNNING")
    ray.kill("kuberay")
    status = succeeded(ray, "plain")
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("SUCCEEDED", "Complete")
    until("the pods are gone", lambda: not [p for p in ray.pods() if "ray.io/cluster" in p["metadata"]["labels"]])
