"""RayOperator in a rehearsal: the real KubeRay, under the real Kueue, against a played Ray. The tests follow one cluster's life."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes import client

from rehearsal.host import supervisor
from tests.rehearsal.ray_operator import queues
from tests.rehearsal.ray_operator.conftest import CLUSTER, LONG_S, Charts, Rehearsal, until
from tests.rehearsal.ray_operator.manifests import ray_cluster, ray_job

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


def runs(ray: Rehearsal, name: str) -> None:
    """Waits until a RayJob runs, and goes on running until `ends`."""
    until(f"{name} runs", lambda: ray.ray_job(name).get("jobStatus") == "RUNNING")


def ends(ray: Rehearsal, *names: str) -> list[Object]:
    """Lets played jobs end, waits until these have, and gives their last statuses."""
    ray.jobs_take(1)
    found = [until(f"{name} ends", lambda name=name: ended(ray.ray_job(name))) for name in names]
    ray.jobs_take(LONG_S)
    return found


def ended(status: Object) -> Object | None:
    return status if status.get("jobDeploymentStatus") in ("Complete", "Failed") else None


def test_the_add_on_is_there_as_google_hosts_it(ray: Rehearsal) -> None:
    addons = ray.google("GET", CLUSTER)["addonsConfig"]
    assert addons["rayOperatorConfig"] == {"enabled": True, "rayClusterLoggingConfig": {"enabled": True}}
    assert {crd["metadata"]["name"] for crd in ray.cluster.list(CRDS)} >= RAY_CRDS
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
    workers = until(
        "four workers", lambda: len(w := ray.pods(WORKERS)) == 4 and all(p["status"].get("podIP") for p in w) and w
    )
    by_id = {environment(pod)["TPU_WORKER_ID"]: pod for pod in workers}
    assert set(by_id) == {"0", "1", "2", "3"}
    assert len({pod["spec"]["nodeName"] for pod in workers}) == 4
    for number, pod in by_id.items():
        assert pod["spec"]["hostname"] == f"tpu-group-0-{number}"
        assert len(environment(pod)["TPU_WORKER_HOSTNAMES"].split(",")) == 4
    runs(ray, "plain")
    ray.kill("kuberay")
    (status,) = ends(ray, "plain")
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("SUCCEEDED", "Complete")
    until("the pods are gone", lambda: not [p for p in ray.pods() if "ray.io/cluster" in p["metadata"]["labels"]])


def test_a_job_by_http_fails_when_it_is_told_to(ray: Rehearsal) -> None:
    wanted = ray_job("http", submissionMode="HTTPMode")
    head = wanted["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]
    head["metadata"] = {"annotations": {"rehearsal/ray-jobs-fail": "RESOURCE_EXHAUSTED: out of HBM"}}
    ray.create(wanted)
    (status,) = ends(ray, "http")
    assert (status["jobStatus"], status["reason"]) == ("FAILED", "AppFailed")
    assert "RESOURCE_EXHAUSTED: out of HBM" in status["message"]


def test_a_job_can_be_submitted_beside_its_head(ray: Rehearsal) -> None:
    ray.create(ray_job("beside", submissionMode="SidecarMode"))
    assert [status["jobStatus"] for status in ends(ray, "beside")] == ["SUCCEEDED"]


def test_a_job_that_loses_a_worker_fails(ray: Rehearsal) -> None:
    ray.create(ray_job("loser"))
    runs(ray, "loser")
    victim = next(pod for pod in ray.pods(WORKERS) if environment(pod)["TPU_WORKER_ID"] == "2")
    ray.cluster.call("DELETE", f"/api/v1/namespaces/default/pods/{victim['metadata']['name']}")
    status = until("the job ends", lambda: ended(ray.ray_job("loser")))
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("FAILED", "Failed")
    assert "ActorDiedError" in status["message"]


def elastic(name: str) -> Object:
    """A RayJob of the queue whose Ray cluster may grow, as in the tutorial."""
    wanted = ray_job(name)
    wanted["metadata"] |= {
        "labels": {"kueue.x-k8s.io/queue-name": queues.QUEUE},
        "annotations": {"kueue.x-k8s.io/elastic-job": "true"},
    }
    wanted["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] = True
    return wanted


def test_kueue_queues_elastic_ray_jobs(ray: Rehearsal, charts: Charts) -> None:
    ray.create(elastic("elastic-1"))
    runs(ray, "elastic-1")
    ray.create(elastic("elastic-2"))
    until("the second waits", lambda: ray.ray_job("elastic-2").get("jobDeploymentStatus") == "Suspended")
    assert ray.ray_job("elastic-1")["jobDeploymentStatus"] == "Running"
    head = next(pod for pod in ray.pods("ray.io/node-type=head"))
    assert [c["name"] for c in head["spec"]["containers"]] == ["ray-head", "autoscaler"]
    assert [status["jobStatus"] for status in ends(ray, "elastic-1", "elastic-2")] == ["SUCCEEDED", "SUCCEEDED"]
    workloads = ray.cluster.list("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")
    finished = [w for w in workloads if any(c["type"] == "Finished" for c in w["status"]["conditions"])]
    assert len(finished) == len(workloads) == 2


def test_switched_off_nothing_of_it_is_left(ray: Rehearsal) -> None:
    ray.create(ray_job("late"))
    runs(ray, "late")
    ray.addons(rayOperatorConfig={"enabled": False})
    assert ray.google("GET", CLUSTER)["addonsConfig"]["rayOperatorConfig"].get("enabled", False) is False
    assert not RAY_CRDS & {crd["metadata"]["name"] for crd in ray.cluster.list(CRDS)}
    assert units(ray) == set()
    kinds = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
    left = [o for kind in kinds for o in ray.cluster.list(f"/apis/admissionregistration.k8s.io/v1/{kind}")]
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    left += [o for kind in ("clusterroles", "clusterrolebindings") for o in ray.cluster.list(f"{rbac}/{kind}")]
    assert not [o["metadata"]["name"] for o in left if "kuberay" in o["metadata"]["name"]]
    until("the pods are gone", lambda: not [p for p in ray.pods() if "ray.io/cluster" in p["metadata"]["labels"]])


def test_kuberay_can_come_from_a_chart_instead(ray: Rehearsal, charts: Charts) -> None:
    charts.install("kueue", "kuberay-operator")
    pods = ray.cluster.list("/api/v1/namespaces/kuberay-operator-system/pods")
    assert [pod["status"]["phase"] for pod in pods] == ["Running"]
    wanted = ray_job("helm")
    wanted["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": queues.QUEUE}
    ray.create(wanted)
    assert [status["jobStatus"] for status in ends(ray, "helm")] == ["SUCCEEDED"]
    workloads = ray.cluster.list("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads")
    assert [w["metadata"]["ownerReferences"][0]["name"] for w in workloads] == ["helm"]


def test_a_deleted_cluster_leaves_no_program(ray: Rehearsal) -> None:
    ray.run("DELETE", CLUSTER)
    assert {unit["name"] for unit in supervisor.units(ray.layout).values()} <= {"google", "gateway", "gcp-provider"}
    assert list(ray.layout.clusters.iterdir()) == []
