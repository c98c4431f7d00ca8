"""Autopilot in the settings and the components: what follows from the mode. What does not go with it: `test_autopilot_faults.py`."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from settings.plan.ray_jobs import RayJobPlan
from tests.support.autopilot import autopilot, slices
from tests.support.platforms import TUTORIAL, plan_with
from workloads.rayjob.manifest import ray_job

pytestmark = pytest.mark.unit

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
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


def without_requests(spec: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(spec)
    (container,) = found["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    container["resources"].pop("requests", None)
    return found


def test_jobs_are_the_same_but_for_requests_and_flavors_know_nodes_by_their_labels(recorded, tutorial) -> None:
    recording = recorded(**autopilot())
    for job in TUTORIAL["workloads"]:
        name = f"{job['name']}-jobset"
        on_autopilot, on_standard = (r.named(name).inputs["spec"] for r in (recording, tutorial))
        assert without_requests(on_autopilot) == on_standard == without_requests(on_standard)
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
    spec = ray_job(plan.of(RayJobPlan)[0])["spec"]
    assert "nodeSelector" not in spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    assert "nodeSelector" not in spec["submitterPodTemplate"]["spec"]


def test_ray_has_disk_for_what_it_installs_there_and_only_there() -> None:
    ray = {"operator": "addon", "jobs": [{"name": "ray-1"}]}
    cpu = [{"cpu": {"cpu": 5, "memory": "20Gi"}}]
    for plan, wanted in ((plan_with(**autopilot(queues=cpu, ray=ray)), "8Gi"), (plan_with(queues=cpu, ray=ray), None)):
        cluster = ray_job(plan.of(RayJobPlan)[0])["spec"]["rayClusterSpec"]
        for group in (cluster["headGroupSpec"], cluster["workerGroupSpecs"][0]):
            (container,) = group["template"]["spec"]["containers"]
            for amounts in container["resources"].values():
                assert amounts.get("ephemeral-storage") == wanted
