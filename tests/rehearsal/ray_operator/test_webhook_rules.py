"""What the Ray TPU webhook puts into pods, and which RayClusters it denies."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.gke.ray.webhook.clusters import MISMATCH, refusal
from rehearsal.gke.ray.webhook.pods import patches
from rehearsal.gke.ray.webhook.shared import Refused
from tests.rehearsal.ray_operator.manifests import ray_cluster

pytestmark = pytest.mark.unit

Object = dict[str, Any]
NUMBERED = {
    "ray.io/worker-group-replica-index": "1",
    "ray.io/replica-host-index": "2",
    "ray.io/worker-group-replica-name": "tpus-x1",
}


def worker(labels: Object | None = None, env: list[Object] | None = None, **selector: str) -> Object:
    chosen = {"gke-tpu-accelerator": "tpu-v6e-slice", "gke-tpu-topology": "4x4", **selector}
    container: Object = {"name": "ray-worker", "resources": {"limits": {"google.com/tpu": "4"}}}
    if env is not None:
        container["env"] = env
    return {
        "metadata": {"labels": {"ray.io/cluster": "demo", "ray.io/group": "tpus", **(labels or {})}},
        "spec": {
            "nodeSelector": {f"cloud.google.com/{key.replace('_', '-')}": value for key, value in chosen.items()},
            "containers": [container],
        },
    }


def no_siblings(cluster: str, group: str) -> list[Object]:
    return []


def applied(pod: Object, made: list[Object]) -> Object:
    """The pod with a patch that only adds."""
    for patch in made:
        assert patch["op"] == "add"
        *path, last = patch["path"].strip("/").split("/")
        at: Any = pod
        for key in path:
            at = at[int(key)] if isinstance(at, list) else at[key]
        if last == "-":
            at.append(patch["value"])
        else:
            at[last] = patch["value"]
    return pod


def env(pod: Object, container: int = 0) -> dict[str, str]:
    return {e["name"]: e.get("value", "") for e in pod["spec"]["containers"][container]["env"]}


def test_a_numbered_pod_gets_its_place_in_the_slice() -> None:
    pod = applied(worker(NUMBERED), patches(worker(NUMBERED), no_siblings))
    found = env(pod)
    assert (found["TPU_WORKER_ID"], found["TPU_NAME"]) == ("2", "tpus-1")
    assert found["TPU_WORKER_HOSTNAMES"] == ",".join(f"tpus-1-{n}.demo-headless" for n in range(4))
    assert found["TPU_DEVICE_PLUGIN_ADDR"] == "$(TPU_DEVICE_PLUGIN_HOST_IP):2112"
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("tpus-1-2", "demo-headless")
    together = pod["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert together[0]["topologyKey"] == "cloud.google.com/gke-nodepool"
    assert together[0]["labelSelector"]["matchExpressions"][0]["values"] == ["tpus-x1"]
    assert "replicaIndex" not in pod["metadata"]["labels"]
    assert "MEGASCALE_SLICE_ID" not in found


def test_a_pod_of_several_slices_gets_its_slice() -> None:
    stated = [{"name": "MEGASCALE_NUM_SLICES", "value": "2"}]
    found = env(applied(worker(NUMBERED, stated), patches(worker(NUMBERED, stated), no_siblings)))
    assert found["MEGASCALE_SLICE_ID"] == "1"
    assert found["MEGASCALE_COORDINATOR_ADDRESS"] == "tpus-0-0.demo-headless"
    assert found["MEGASCALE_PORT"] == "8081"


def test_pods_without_numbers_take_the_lowest_free_place() -> None:
    there: list[Object] = []
    places = []
    for _ in range(6):
        pod = worker()
        there.append(applied(pod, patches(pod, lambda cluster, group: list(there))))
        places.append((pod["metadata"]["labels"]["replicaIndex"], env(pod)["TPU_WORKER_ID"]))
    first, second = [("tpus-0", str(n)) for n in range(4)], [("tpus-1", "0"), ("tpus-1", "1")]
    assert places == first + second
    del there[1]
    again = worker()
    assert env(applied(again, patches(again, lambda cluster, group: list(there))))["TPU_WORKER_ID"] == "1"


def test_a_single_host_needs_no_neighbours() -> None:
    pod = worker(gke_tpu_topology="2x2")
    applied(pod, patches(pod, no_siblings))
    assert env(pod)["TPU_WORKER_ID"] == "0"
    assert "TPU_WORKER_HOSTNAMES" not in env(pod)
    assert "hostname" not in pod["spec"] and "affinity" not in pod["spec"]


def test_ironwoods_containers_are_processes_of_their_own() -> None:
    pod = worker(NUMBERED, gke_tpu_accelerator="tpu7x", gke_tpu_topology="2x2x2")
    half = {"name": "a", "resources": {"limits": {"google.com/tpu": "2"}}}
    pod["spec"]["containers"] = [half, {"name": "sidecar"}, {**half, "name": "b"}]
    applied(pod, patches(pod, no_siblings))
    assert [env(pod, n)["TPU_WORKER_ID"] for n in (0, 2)] == ["4", "5"]
    assert [env(pod, n)["TPU_PROCESS_PORT"] for n in (0, 2)] == ["8471", "8472"]
    assert env(pod)["TPU_PROCESS_ADDRESSES"].split(",")[:2] == [
        "tpus-1-0.demo-headless:8471",
        "tpus-1-0.demo-headless:8472",
    ]
    assert "env" not in pod["spec"]["containers"][1]


def test_what_the_pod_states_stays() -> None:
    stated = [{"name": "TPU_NAME", "value": "mine"}, {"name": "TPU_WORKER_HOSTNAMES", "value": "a,b,c,d"}]
    made = patches(worker(NUMBERED, stated), no_siblings)
    names = [patch["value"]["name"] for patch in made if patch["path"].endswith("/-")]
    assert "TPU_NAME" not in names and "TPU_WORKER_HOSTNAMES" not in names and "TPU_WORKER_ID" in names


def test_a_pod_without_chips_is_left_alone() -> None:
    assert patches({"metadata": {}, "spec": {"containers": [{"name": "x"}]}}, no_siblings) == []


@pytest.mark.parametrize(
    ("labels", "topology", "why"),
    [
        ({"ray.io/cluster": ""}, "4x4", "missing RayCluster label"),
        ({"ray.io/group": ""}, "4x4", "missing Group label"),
        ({}, "", "missing TPU topology nodeSelector"),
        ({}, "four", "not a topology"),
    ],
)
def test_pods_that_the_webhook_cannot_place(labels: Object, topology: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        patches(worker(labels, gke_tpu_topology=topology), no_siblings)


@pytest.mark.parametrize(("hosts", "why"), [(4, ""), (3, MISMATCH), (1, MISMATCH)])
def test_a_group_has_as_many_hosts_as_its_topology(hosts: int, why: str) -> None:
    assert refusal(ray_cluster("demo", hosts)) == why


def test_groups_without_chips_are_let_in() -> None:
    demo = ray_cluster("demo", 3)
    demo["spec"]["workerGroupSpecs"][0]["template"]["spec"]["containers"][0]["resources"] = {}
    assert refusal(demo) == ""
    assert refusal({"spec": {}}) == ""


def test_a_group_without_a_topology_is_an_error() -> None:
    demo = ray_cluster("demo", 4)
    del demo["spec"]["workerGroupSpecs"][0]["template"]["spec"]["nodeSelector"]
    with pytest.raises(Refused, match="TPU topology not specified"):
        refusal(demo)
