"""Which pools Autopilot makes for which pods: pure, over a store without Kubernetes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from rehearsal.gcp.container import autopilot as rest
from rehearsal.gcp.container import defaults
from rehearsal.gcp.core import CloudState, ServerSettings, Store
from rehearsal.gcp.nodes import shapes
from rehearsal.gke.autopilot import autopilot
from rehearsal.gke.autoscaler import scale_up
from tests.rehearsal.gke.builders import CLUSTER, ZONE, pod, worker

pytestmark = pytest.mark.unit

V5E = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "2x4"}


@pytest.fixture
def world(tmp_path: Path) -> CloudState:
    return CloudState(Store(tmp_path), ServerSettings())


def cluster(location: str = "us-east5", **fields: Any) -> dict[str, Any]:
    stated = {"name": "demo", "autopilot": {"enabled": True}, **fields}
    name, zones = CLUSTER.replace("us-east5", location), [f"{location}-{letter}" for letter in "abc"]
    made = defaults.cluster(stated, name, "1.36.3-gke.1", location, zones, "")
    return {**rest.completed(made, stated), "_name": name}


def plan(world: CloudState, *pods: Any, where: Any = None, refusal: str = "", resting: Any = ()) -> scale_up.Plan:
    waiting = [(each, Counter[str]()) for each in pods]
    where = where if where is not None else cluster()
    return autopilot.plan(world, where, waiting, [], lambda pool, zone, count: refusal, set(resting))


def exclusive(name: str, job: str) -> Any:
    """The first pod of a job of a JobSet with exclusive placement, as JobSet's webhook makes it."""

    def term(operator: str) -> Any:
        own = {"key": "jobset.sigs.k8s.io/job-key", "operator": operator, "values": [job]}
        any_ = {"key": "jobset.sigs.k8s.io/job-key", "operator": "Exists"}
        selector = {"matchExpressions": [own] if operator == "In" else [any_, own]}
        return {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": selector, "topologyKey": "cloud.google.com/gke-nodepool", "namespaceSelector": {}}
            ]
        }

    affinity = {"podAffinity": term("In"), "podAntiAffinity": term("NotIn")}
    return worker(name, labels={"jobset.sigs.k8s.io/job-key": job}, affinity=affinity)


def test_the_pods_of_a_slice_bring_one_slice_in_a_pool_of_its_own(world: CloudState) -> None:
    found = plan(world, *(worker(f"w-{n}") for n in range(4)))
    (made,) = found.growths
    assert (made.count, made.zone, found.unhelped) == (4, "us-east5-a", [])
    assert made.pool["name"].startswith("nap-")
    assert made.pool["placementPolicy"] == {"tpuTopology": "4x4", "type": "COMPACT"}
    labels = shapes.labels(made.pool, "n", made.zone)
    assert labels["cloud.google.com/gke-nodepool"] == made.pool["name"]
    assert labels["node.kubernetes.io/instance-type"] == "ct6e-standard-4t"


def test_each_job_with_exclusive_placement_gets_a_slice_of_its_own(world: CloudState) -> None:
    found = plan(world, exclusive("a-0", "a"), exclusive("b-0", "b"), exclusive("c-0", "c"))
    assert [growth.count for growth in found.growths] == [4, 4, 4]
    assert len({growth.pool["name"] for growth in found.growths}) == 3


def test_more_pods_than_a_slice_has_hosts_bring_a_second_slice(world: CloudState) -> None:
    found = plan(world, *(worker(f"w-{n}") for n in range(5)))
    assert [growth.count for growth in found.growths] == [4, 4]
    assert len({growth.pool["name"] for growth in found.growths}) == 2


def test_the_chips_of_a_pod_say_which_machine(world: CloudState) -> None:
    where = cluster("us-west4")
    whole, half = (plan(world, pod("p", tpu=n, nodeSelector=V5E), where=where) for n in (8, 4))
    assert [(g.pool["config"]["machineType"], g.count) for g in whole.growths] == [("ct5lp-hightpu-8t", 1)]
    assert [(g.pool["config"]["machineType"], g.count) for g in half.growths] == [("ct5lp-hightpu-4t", 2)]
    assert "placementPolicy" not in whole.growths[0].pool


@pytest.mark.parametrize(
    ("tpu", "selector"),
    [
        (3, V5E),
        (4, {**V5E, "cloud.google.com/gke-tpu-topology": "3x4"}),
        (4, {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice"}),
        (4, {}),
        (4, {**V5E, "topology.kubernetes.io/zone": "us-west4-b"}),
        (4, {**V5E, "team": "a"}),
        (0, {"cloud.google.com/gke-nodepool": "default-pool"}),
    ],
)
def test_pods_that_no_pool_of_gke_would_take_wait(world: CloudState, tpu: int, selector: dict[str, str]) -> None:
    found = plan(world, pod("p", tpu=tpu, nodeSelector=selector), where=cluster("us-west4"))
    assert (found.growths, len(found.unhelped)) == ([], 1)


def test_pods_without_chips_share_a_node_and_large_ones_get_a_large_one(world: CloudState) -> None:
    found = plan(world, pod("a", cpu="0.5"), pod("b", cpu="0.5"), pod("c", cpu="6"))
    assert [g.pool["config"]["machineType"] for g in found.growths] == ["e2-standard-2", "e2-standard-8"]
    assert shapes.named({**found.growths[0].pool, "_size": 1}).popitem()[0].startswith("gk3-demo-nap-")


@pytest.mark.parametrize(
    ("selector", "config"),
    [
        ({"cloud.google.com/gke-spot": "true"}, {"spot": True}),
        ({"cloud.google.com/gke-flex-start": "true"}, {"flexStart": True}),
        (
            {"cloud.google.com/gke-flex-start": "true", "cloud.google.com/gke-max-run-duration-seconds": "3600"},
            {"flexStart": True, "maxRunDuration": "3600s"},
        ),
        (
            {"cloud.google.com/reservation-name": "mine", "cloud.google.com/reservation-affinity": "specific"},
            {
                "reservationAffinity": {
                    "consumeReservationType": "SPECIFIC_RESERVATION",
                    "key": "compute.googleapis.com/reservation-name",
                    "values": ["mine"],
                }
            },
        ),
    ],
)
def test_a_selector_says_what_capacity(world: CloudState, selector: dict[str, str], config: dict[str, Any]) -> None:
    asked = worker("w")
    asked["spec"]["nodeSelector"] |= selector
    (made,) = plan(world, asked).growths
    assert {key: made.pool["config"].get(key) for key in config} == config
    assert selector.items() <= shapes.labels(made.pool, "n", made.zone).items()


def test_nodes_have_the_account_and_the_tags_of_the_cluster(world: CloudState) -> None:
    where = cluster(
        autoscaling={"autoprovisioningNodePoolDefaults": {"serviceAccount": "a@b.c"}},
        nodePoolAutoConfig={"networkTags": {"tags": ["t"]}},
    )
    (made,) = plan(world, worker("w"), where=where).growths
    assert (made.pool["config"]["serviceAccount"], made.pool["config"]["tags"]) == ("a@b.c", ["t"])


def test_without_capacity_the_pod_waits_and_the_pool_rests(world: CloudState) -> None:
    found = plan(world, worker("w"), refusal="GCE out of resources")
    assert (found.growths, len(found.unhelped)) == ([], 1)
    assert {short.zone for short in found.short} == {"us-east5-a", ZONE}
    again = plan(world, worker("w"), resting={short.pool["_name"] for short in found.short})
    assert (again.growths, again.short) == ([], [])
    assert again.unhelped[0][1] == Counter({scale_up.BACKOFF: 2})


def test_a_pool_is_forgotten_when_its_last_node_has_gone(world: CloudState) -> None:
    (made,) = plan(world, worker("w")).growths
    autopilot.store(world, made.pool)
    pool = world.store.get("pools", made.pool["_name"])
    assert pool is not None
    node = {"metadata": {"labels": {"cloud.google.com/gke-nodepool": pool["name"]}}}
    autopilot.forget_empty(world, {pool["_name"]: pool}, {"n": node})
    assert world.store.get("pools", pool["_name"]) is not None
    autopilot.forget_empty(world, {pool["_name"]: pool}, {})
    assert world.store.get("pools", pool["_name"]) is None
