"""Pools that grow and shrink, and ProvisioningRequests, against a real API server and scheduler."""

from __future__ import annotations

import pytest
from kubernetes import client

from rehearsal.errors import RehearsalError
from tests.rehearsal.gke.builders import ZONE, pod, worker
from tests.rehearsal.gke.conftest import INITIAL, World, until

pytestmark = pytest.mark.rehearsal

WORKERS = [f"w-{n}" for n in range(4)]
ON_DEMAND = {"zone": ZONE, "family": "v6e", "kind": "on-demand"}
FLEX = {"zone": ZONE, "family": "v6e", "kind": "flex-start"}


def test_the_file_of_capacity_is_what_google_has(world: World) -> None:
    assert world.google("GET", "/_rehearsal/capacity") == INITIAL
    with pytest.raises(RehearsalError, match="no such zone"):
        world.google("PUT", "/_rehearsal/capacity", {"chips": [{**ON_DEMAND, "zone": "mars-1"}]})
    assert world.google("GET", "/_rehearsal/capacity") == INITIAL


def test_pods_bring_a_whole_slice_and_it_goes_when_they_do(world: World) -> None:
    for name in WORKERS:
        world.submit(worker(name))
    until("the workers run", lambda: world.running(*WORKERS))
    assert (world.size("slice"), len(world.nodes("slice")), world.size("dws"), world.size("cpu")) == (4, 4, 0, 0)
    said = [world.events(name).get("TriggeredScaleUp", "") for name in WORKERS]
    assert any(text.startswith("pod triggered scale-up: [{https://") and "0->4 (max: 4)" in text for text in said)
    world.remove(*WORKERS)
    until("the slice is gone", lambda: world.size("slice") == 0 and not world.nodes("slice"))


def test_a_plain_pool_grows_node_by_node_up_to_its_limit(world: World) -> None:
    names = [f"p-{n}" for n in range(3)]
    for name in names:
        world.submit(pod(name, cpu="3"))
    until("two run", lambda: sum(world.running(name) for name in names) == 2)
    left = next(name for name in names if not world.running(name))
    until(
        "the third is told why not",
        lambda: "1 max node group size reached" in world.events(left).get("NotTriggerScaleUp", ""),
    )
    assert world.size("cpu") == 2
    world.remove(*names)
    until("the nodes are gone", lambda: world.size("cpu") == 0 and not world.nodes("cpu"))


def test_a_request_is_queued_provisioned_used_and_its_nodes_go(world: World) -> None:
    world.capacity({**FLEX, "chips": 16, "wait_s": 2})
    world.ask("job", 4)
    until("it is queued", lambda: world.state("job") == "Accepted")
    assert world.size("dws") == 0
    until("it is provisioned", lambda: world.state("job") == "Provisioned")
    told = world.asked("job")["status"]["provisioningClassDetails"]
    assert (told["NodePoolName"], told["SelectedZone"]) == ("dws", ZONE)
    nodes = world.nodes("dws")
    assert {n["metadata"]["labels"]["autoscaling.gke.io/provisioning-request"] for n in nodes} == {
        told["ResizeRequestName"]
    }
    assert all(
        ("cloud.google.com/gke-queued", "true") in {(t["key"], t["value"]) for t in n["spec"]["taints"]} for n in nodes
    )
    users = world.users("job")
    until("its pods run", lambda: world.running(*users))
    assert world.size("slice") == 0
    until("the booking ends", lambda: world.state("job") == "BookingExpired")
    assert world.running(*users)
    world.remove(*users)
    until("the nodes are gone", lambda: world.size("dws") == 0 and not world.nodes("dws"))
    world.withdraw("job")


def test_gke_refuses_more_than_one_pod_set_and_leaves_other_classes_alone(world: World) -> None:
    with pytest.raises(client.ApiException) as refused:
        world.ask("two-sets", 2, 2)
    assert "denied by provisioning-request-cr-validation" in refused.value.reason
    world.ask("other", 2, 2, kind="check-capacity.autoscaling.x-k8s.io")
    world.ask("unknown", 8)
    until("the request that fits no pool fails", lambda: world.state("unknown") == "Failed")
    assert world.state("other") == ""
    for name in ("other", "unknown"):
        world.withdraw(name)


def test_a_request_that_is_withdrawn_brings_nothing(world: World) -> None:
    world.capacity({**FLEX, "wait_s": 2})
    world.ask("queued", 4)
    until("it is queued", lambda: world.state("queued") == "Accepted")
    world.withdraw("queued")
    world.capacity(boot_s=5)
    world.ask("booting", 4)
    until("its nodes boot", lambda: world.size("dws") == 4)
    assert world.nodes("dws") == []
    world.withdraw("booting")
    until("nothing comes", lambda: world.size("dws") == 0)
    assert world.nodes("dws") == []


def test_faults_of_dws(world: World) -> None:
    world.capacity(booking_s=1)
    faults = [{"fault": "dws-fail", "match": {"name": "dws"}}, {"fault": "dws-revoke"}]
    world.google("PUT", "/_rehearsal/faults", faults)
    world.ask("refused", 4)
    until("the first fails", lambda: world.state("refused") == "Failed")
    world.ask("revoked", 4)
    until("the second loses its nodes", lambda: world.state("revoked") == "CapacityRevoked")
    until("they are gone", lambda: world.size("dws") == 0 and not world.nodes("dws"))
    for name in ("refused", "revoked"):
        world.withdraw(name)


def test_a_stock_out_is_told_and_ends(world: World) -> None:
    world.capacity({**ON_DEMAND, "chips": 15})
    world.google("PUT", "/_rehearsal/faults", [{"fault": "quota", "match": {"name": "slice"}}])
    for name in WORKERS:
        world.submit(worker(name))
    quota = "associated with this pod failed: GCE quota exceeded."
    until("the quota is told", lambda: any(quota in world.events(n).get("FailedScaleUp", "") for n in WORKERS))
    text = "Node scale up in zones us-east5-b associated with this pod failed: GCE out of resources."
    until("the failure is told", lambda: any(text in world.events(n).get("FailedScaleUp", "") for n in WORKERS))
    fixed = {
        "initialNodeCount": 4,
        "placementPolicy": {"tpuTopology": "4x4"},
        "config": {"machineType": "ct6e-standard-4t"},
    }
    operation = world.ended(world.add_pool("fixed", **fixed))
    assert "GCE_STOCKOUT" in operation["error"]["message"]
    assert world.size("slice") == 0
    world.capacity({**ON_DEMAND, "chips": 16})
    until("the workers run", lambda: world.running(*WORKERS))
    operation = world.ended(world.add_pool("second", **fixed))
    assert "GCE_STOCKOUT" in operation["error"]["message"], "the slice holds all chips"
    world.remove(*WORKERS)
    until("the slice is gone", lambda: world.size("slice") == 0)
