"""What becomes of a ProvisioningRequest, step by step, in GKE's words."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rehearsal.gcp import capacity
from rehearsal.gcp.capacity import FreeChips
from rehearsal.gcp.nodes import pool_nodes, shapes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler.scale_up import Growth
from rehearsal.gke.provisioning import provisioning, requests
from rehearsal.gke.provisioning.provisioning import Observation, Refusal
from tests.rehearsal.gke.builders import QUEUED, ZONE, cpu_pool, pool, queued_pool, request, worker

pytestmark = pytest.mark.unit

START = 1_000_000.0
NAME = "gke-team-job-1-c8a44d05ff095b0e"


def seconds(name: str) -> float:
    return capacity.TIMES[name] / 100


def observation(now: float, **more: Any) -> Observation:
    return Observation(now=now, seconds=seconds, **{"pool": queued_pool(), **more})


def choose(count: int, pools: list[Any], promised: Counter[str] | None = None, **more: Any) -> Growth | Refusal:
    pod = worker("w", **{"tolerations": [QUEUED], **more})
    return provisioning.choose(request(count=count), pod, pools, promised if promised is not None else Counter())


def conditions(step: provisioning.Step) -> list[tuple[str, str, str]]:
    return [(c["type"], c["status"], c["reason"]) for c in step.conditions]


# -- which pool -------------------------------------------------------------------------------------------------------


def test_a_request_is_queued_for_a_whole_slice() -> None:
    for count in (1, 4):
        outcome = choose(count, [pool("plain"), cpu_pool(), queued_pool()])
        assert isinstance(outcome, Growth)
        assert (outcome.pool["name"], outcome.zone, outcome.count) == ("dws", ZONE, 4)


@pytest.mark.parametrize(
    ("count", "pools", "reason", "message"),
    [
        (4, [pool("plain")], "NoQueuedNodepoolAvailable", "No nodepool with QueuedProvisioning enabled is available for scale up"),
        (
            8, [queued_pool()], "ProvisioningRequestSingleZoneInfeasible",
            "Provisioning Request cannot be scheduled in a single zone of a single nodepool, affected nodepools: dws",
        ),
        (
            4, [pool_nodes.grown(queued_pool(), ZONE, 4, Member(0, ZONE))], "NodepoolSizeReached",
            "Max nodepool size reached, affected nodepools: dws",
        ),
        (
            4, [queued_pool(status="PROVISIONING")], "NodepoolNotReady", "Nodepool not ready for scale-up, affected nodepools: dws",
        ),
        (
            4, [queued_pool(placementPolicy={"tpuTopology": "2x4"})], "ProvisioningRequestNotSchedulableInNodepool",
            "Provisioning Request's pods cannot be scheduled in the nodepool. Predicate checking errors: "
            "dws (node(s) didn't match Pod's node affinity/selector)",
        ),
    ],
)  # fmt: skip
def test_why_no_pool_takes_a_request(count: int, pools: list[Any], reason: str, message: str) -> None:
    assert choose(count, pools) == Refusal(reason, message)


def test_what_queued_requests_wait_for_counts_as_taken() -> None:
    outcome = choose(4, [queued_pool()], Counter({queued_pool()["_name"]: 4}))
    assert isinstance(outcome, Refusal)
    assert outcome.reason == "NodepoolSizeReached"


def test_a_refusal_is_retried_for_a_while_before_the_request_fails() -> None:
    refusal = Refusal("NodepoolSizeReached", "Max nodepool size reached, affected nodepools: dws")
    asked = request(conditions=[("Accepted", "False", START)], created=START)
    assert provisioning.enqueue(asked, refusal, observation(START + 1.1)) == (provisioning.NOTHING, {})
    step, told = provisioning.enqueue(asked, refusal, observation(START + 1.3))
    assert conditions(step) == [("Failed", "True", "NodepoolSizeReached")]
    assert told == {}


def test_accepted_says_where() -> None:
    outcome = choose(4, [queued_pool()])
    step, told = provisioning.enqueue(request(), outcome, observation(START))
    assert conditions(step) == [("Accepted", "True", "SuccessfullyQueued")]
    assert told == {
        "AcceleratorType": "tpu-v6e-slice",
        "NodeGroupName": "gke-demo-dws-1-grp",
        "NodePoolAutoProvisioned": "false",
        "NodePoolName": "dws",
        "PodTemplateName": "ppt-job-1-main",
        "ProvisioningMode": "resize_request",
        "ResizeRequestName": NAME,
        "SelectedZone": ZONE,
    }


def test_the_name_of_a_resize_request_is_gke_s() -> None:
    """The first is an example in the tests of GKE's autoscaler."""
    assert requests.resize_request("default", "acc-provisioned") == "gke-default-acc-provisioned-408ac6c1e929cc97"
    long = requests.resize_request("a-namespace-of-many-letters", "jobset-multislice-3slice-8d1f2-dws-1")
    assert long.startswith("gke-a-namespace-of-many--jobset-multislice-3s-") and len(long) <= 63


@pytest.mark.parametrize(("stated", "fails"), [("3600", False), ("1h", True)])
def test_a_run_duration_that_is_no_number_fails(stated: str, fails: bool) -> None:
    asked = request(parameters={"maxRunDurationSeconds": stated})
    step, _ = provisioning.enqueue(asked, choose(4, [queued_pool()]), observation(START))
    reason = "InvalidArgumentMaxRunDurationParseError" if fails else "SuccessfullyQueued"
    assert [c["reason"] for c in step.conditions] == [reason]


# -- in the queue -----------------------------------------------------------------------------------------------------

ACCEPTED = [("Accepted", "True", START)]
PROVISIONED = [*ACCEPTED, ("Provisioned", "True", START)]


def test_nodes_come_when_the_wait_is_over_and_there_are_chips() -> None:
    asked, room = request(conditions=ACCEPTED), FreeChips(16, 30.0)
    assert provisioning.next_step(asked, observation(START + 29, room=room, chips=16)) == provisioning.NOTHING
    assert provisioning.next_step(asked, observation(START + 30, room=room, chips=16)).grow


def test_without_chips_a_request_waits_and_says_why() -> None:
    step = provisioning.next_step(
        request(conditions=ACCEPTED), observation(START + 31, room=FreeChips(15, 30.0), chips=16)
    )
    assert not step.grow
    assert conditions(step) == [("Provisioned", "False", "ResourcePoolExhausted")]
    assert f"zones/{ZONE}' does not have enough resources available" in step.conditions[0]["message"]


def test_provisioned_is_when_the_last_node_is_ready() -> None:
    full = pool_nodes.grown(queued_pool(), ZONE, 4, Member(0, ZONE, request=NAME))
    named = shapes.named(full)
    asked = request(conditions=ACCEPTED)
    assert (
        provisioning.next_step(asked, observation(START + 1, members=named, ready=set(list(named)[1:])))
        == provisioning.NOTHING
    )
    step = provisioning.next_step(asked, observation(START + 1, members=named, ready=set(named)))
    assert conditions(step) == [("Provisioned", "True", "Provisioned")]


def test_a_pool_that_goes_fails_its_requests_after_a_while() -> None:
    asked = request(conditions=ACCEPTED)
    assert provisioning.next_step(asked, observation(START + 1, pool=None, missing_since=START)) == provisioning.NOTHING
    step = provisioning.next_step(asked, observation(START + 1.3, pool=None, missing_since=START))
    assert conditions(step) == [("Failed", "True", "MissingResizeRequest")]


def test_booking_expires_and_capacity_is_revoked_in_time() -> None:
    asked = request(conditions=PROVISIONED, parameters={"maxRunDurationSeconds": "3600"})
    assert provisioning.next_step(asked, observation(START + 5)) == provisioning.NOTHING
    assert conditions(provisioning.next_step(asked, observation(START + 6))) == [
        ("BookingExpired", "True", "BookingExpired")
    ]
    expired = request(
        conditions=[*PROVISIONED, ("BookingExpired", "True", START + 6)], parameters={"maxRunDurationSeconds": "3600"}
    )
    assert provisioning.next_step(expired, observation(START + 35)) == provisioning.NOTHING
    step = provisioning.next_step(expired, observation(START + 36))
    assert step.drop and conditions(step) == [("CapacityRevoked", "True", "CapacityRevoked")]


def test_without_a_stated_run_nodes_stay_seven_days() -> None:
    expired = request(conditions=[*PROVISIONED, ("BookingExpired", "True", START + 6)])
    week = 7 * 24 * 36.0
    assert provisioning.next_step(expired, observation(START + week - 1)) == provisioning.NOTHING
    assert provisioning.next_step(expired, observation(START + week)).drop


# -- faults -----------------------------------------------------------------------------------------------------------


def test_a_request_that_google_refuses_to_queue() -> None:
    step, told = provisioning.enqueue(
        request(), choose(4, [queued_pool()]), observation(START, fault={"fault": "dws-fail"})
    )
    assert conditions(step) == [("Failed", "True", "QueuingInfeasibleNoCapacity")]
    assert told["NodePoolName"] == "dws"


def test_a_request_that_is_never_served() -> None:
    far = observation(START + 10**6, fault={"fault": "dws-silent"})
    assert provisioning.next_step(request(conditions=ACCEPTED), far) == provisioning.NOTHING


def test_nodes_that_are_taken_away() -> None:
    asked, fault = request(conditions=PROVISIONED), {"fault": "dws-revoke", "after_s": 2}
    assert provisioning.next_step(asked, observation(START + 1, fault=fault)) == provisioning.NOTHING
    step = provisioning.next_step(asked, observation(START + 2, fault=fault))
    assert step.drop
    assert [kind for kind, _, _ in conditions(step)] == ["BookingExpired", "CapacityRevoked"]


@pytest.mark.parametrize("kind", ["Failed", "CapacityRevoked"])
def test_ends_are_ends(kind: str) -> None:
    before = ACCEPTED if kind == "Failed" else [*PROVISIONED, ("BookingExpired", "True", START)]
    asked = request(conditions=[*before, (kind, "True", START)])
    assert provisioning.next_step(asked, observation(START + 10**8)) == provisioning.NOTHING


def test_a_condition_that_says_the_same_keeps_its_time() -> None:
    asked = request(conditions=[])
    asked["status"]["conditions"] = requests.with_conditions(asked, [requests.initial()])
    asked["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    assert requests.with_conditions(asked, [requests.initial()]) == asked["status"]["conditions"]
    changed = requests.with_conditions(asked, [requests.reached("Accepted")])
    assert changed[0]["lastTransitionTime"] > "2026-01-01T00:00:00Z"
