"""Autopilot in the settings and the components: what follows from the mode, and what does not go with it."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import TUTORIAL, changed, plan_with
from faulty import faults_in, only_fault

from workloads.ray_manifest import ray_job

pytestmark = pytest.mark.unit

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
SLICE = {key: value for key, value in TUTORIAL["slices"][0].items() if key != "pools"}


def slices(**more: Any) -> list[dict[str, Any]]:
    merged = {**SLICE, "count": 3, **more}
    return [{key: value for key, value in merged.items() if value is not None}]


def autopilot(**changes: Any) -> dict[str, Any]:
    """The tutorial on Autopilot with some top-level keys replaced."""
    cluster = {"name": "multislice-cluster", "mode": "autopilot"}
    return changed(**{"cluster": cluster, "slices": slices(), **changes})


def cluster(**more: Any) -> dict[str, Any]:
    return {"name": "multislice-cluster", "mode": "autopilot", **more}


# -- what follows -----------------------------------------------------------------------------------------------------


def test_the_cluster_is_autopilots_and_nothing_of_nodes_is_stated(recorded) -> None:
    recording = recorded(**autopilot())
    (resource,) = recording.of_type(CLUSTER)
    inputs = resource.inputs
    assert inputs["enableAutopilot"] is True
    taken = {
        "removeDefaultNodePool",
        "initialNodeCount",
        "nodeConfig",
        "nodePoolDefaults",
        "nodeLocations",
        "nodePools",
    }
    assert not taken & set(inputs)
    assert recording.of_type(POOL) == []
    assert inputs["privateClusterConfig"]["enablePrivateNodes"] is True
    assert inputs["nodePoolAutoConfig"] == {"networkTags": {"tags": ["multislice-cluster-node"]}}
    nodes = inputs["clusterAutoscaling"]["autoProvisioningDefaults"]
    assert nodes["serviceAccount"].startswith("multislice-cluster-nodes@")
    assert nodes["oauthScopes"] == ["https://www.googleapis.com/auth/cloud-platform"]


def test_controllers_wait_for_the_cluster_itself(recorded) -> None:
    recording = recorded(**autopilot())
    (made,) = recording.of_type(CLUSTER)
    assert recording.needs(recording.named("jobset-release"), made)


def test_jobs_are_the_same_in_both_modes_and_flavors_know_nodes_by_their_labels(recorded, tutorial) -> None:
    recording = recorded(**autopilot())
    for job in TUTORIAL["workloads"]:
        name = f"{job['name']}-jobset"
        assert recording.named(name).inputs["spec"] == tutorial.named(name).inputs["spec"]
    flavor = recording.named("queue-vlp-24").inputs["spec"]
    assert flavor == {
        "nodeLabels": {
            "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
            "cloud.google.com/gke-tpu-topology": "2x4",
            "topology.kubernetes.io/zone": "us-west4-a",
        }
    }
    queues = [r.named("queue-cluster-queue").inputs["spec"] for r in (recording, tutorial)]
    assert queues[0] == queues[1]


@pytest.mark.parametrize(
    ("more", "labels"),
    [
        ({"capacity": "spot"}, {"cloud.google.com/gke-spot": "true"}),
        ({"capacity": "flex-start"}, {"cloud.google.com/gke-flex-start": "true"}),
        (
            {"capacity": "flex-start", "maxRunDuration": "2h"},
            {"cloud.google.com/gke-flex-start": "true", "cloud.google.com/gke-max-run-duration-seconds": "7200"},
        ),
        (
            {"capacity": "reservation", "reservation": "mine"},
            {"cloud.google.com/reservation-name": "mine", "cloud.google.com/reservation-affinity": "specific"},
        ),
        ({}, {}),
    ],
)
def test_a_flavor_selects_its_kind_of_capacity(more: dict[str, Any], labels: dict[str, str]) -> None:
    ((flavor,),) = (queue.flavors for queue in plan_with(**autopilot(slices=slices(**more))).queues)
    shape = {"cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology", "topology.kubernetes.io/zone"}
    assert {key: value for key, value in flavor.labels if key not in shape} == labels


def test_rays_head_may_be_anywhere() -> None:
    queues = [{"cpu": {"cpu": 10, "memory": "20Gi"}}]
    plan = plan_with(**autopilot(queues=queues, ray={"operator": "addon", "jobs": [{"name": "ray-1"}]}))
    cpu = plan.queues[0].flavors[0]
    assert (cpu.name, cpu.labels, dict(cpu.quota)["cpu"]) == ("default-cpu", (), "10")
    spec = ray_job(plan.ray_jobs[0])["spec"]
    assert "nodeSelector" not in spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert "nodeSelector" not in spec["submitterPodTemplate"]["spec"]


# -- what does not go with it -----------------------------------------------------------------------------------------

FAULTS: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("a zone", {"location": "us-west4-a"}, "location", "Autopilot clusters are regional", "write us-west4"),
    ("too old", {"cluster": cluster(version="1.28")}, "cluster.version", "1.29.2-gke.1521000", "1.29.2-gke.1521000"),
    ("a default pool", {"cluster": cluster(defaultPool={"nodes": 3})}, "cluster.defaultPool", "by itself", "remove"),
    ("pools", {"slices": slices(count=None, pools=["a", "b", "c"])}, "slices[0].pools", "no pools", "`count: 3`"),
    (
        "pools and a count",
        {"slices": slices(pools=["a"]), "workloads": []},
        "slices[0].pools",
        "no pools",
        "remove the key",
    ),
    ("no count", {"slices": slices(count=None)}, "slices[0].count", "how many slices", "add `count`"),
    ("a count of nothing", {"slices": slices(count=0)}, "slices[0].count", "from 1 to 256", "write 1 or more"),
    ("bounds", {"slices": slices(autoscaling={"min": 0})}, "slices[0].autoscaling", "goes after it", "remove the key"),
    (
        "queued",
        {"slices": slices(capacity="queued"), "workloads": []},
        "slices[0].capacity",
        "node pools",
        "write flex-start",
    ),
    (
        "a longest run",
        {"slices": slices(maxRunDuration="2h")},
        "slices[0].maxRunDuration",
        "flex-start",
        "remove the key",
    ),
    ("too large a quota", {"slices": slices(quota=32)}, "slices[0].quota", "what 3 slices have, 24 chips", "write 24"),
    (
        "a privileged job",
        {"workloads": [{"name": "j", "slices": 1, "privileged": True}]},
        "workloads[0].privileged",
        "privileged containers",
        "remove the key",
    ),
    (
        "too many slices",
        {"workloads": [{"name": "j", "slices": 4}]},
        "workloads[0].slices",
        "at most 3: slices[0] counts 3",
        "write 3, or raise slices[0].count to 4",
    ),
    ("open cores", {"queues": [{"cpu": {}}]}, "queues[0].cpu", "without an end", "add `cpu` (cores) and `memory`"),
]


@pytest.mark.parametrize(("values", "path", "wanted", "remedy"), [f[1:] for f in FAULTS], ids=[f[0] for f in FAULTS])
def test_one_mistake_is_one_fault(values: dict[str, Any], path: str, wanted: str, remedy: str) -> None:
    fault = only_fault(autopilot(**values))
    assert fault.path == path
    assert wanted in fault.wanted
    assert remedy in fault.remedy


def test_a_standard_cluster_has_no_count() -> None:
    fault = only_fault(changed(slices=[{**TUTORIAL["slices"][0], "count": 3}]))
    assert (fault.path, fault.remedy) == ("slices[0].count", "remove the key, or write cluster.mode: autopilot")
    fault = only_fault(changed(slices=slices()))
    assert fault.path == "slices[0].count"
    assert "list one name for each in `pools`" in fault.remedy


@pytest.mark.parametrize("pools", [None, []])
def test_a_standard_cluster_has_pools(pools: list[str] | None) -> None:
    fault = only_fault(changed(slices=slices(count=None, pools=pools)))
    assert fault.path == "slices[0].pools"


def test_an_unknown_mode_is_one_fault() -> None:
    fault = only_fault(autopilot(cluster=cluster(mode="autopilots")))
    assert (fault.path, fault.remedy) == ("cluster.mode", "write autopilot")


def test_all_that_does_not_go_with_autopilot_is_said_at_once() -> None:
    job = {"name": "j", "slices": 1, "privileged": True}
    values = changed(cluster=cluster(defaultPool={}), location="us-west4-a", workloads=[job])
    assert [fault.path for fault in faults_in(values)] == [
        "location", "cluster.defaultPool", "slices[0].pools", "workloads[0].privileged",
    ]  # fmt: skip
