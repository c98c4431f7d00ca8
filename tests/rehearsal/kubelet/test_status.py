"""Decisions about containers, and the status that follows from them."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.kubelet.api.reporter import replacing
from rehearsal.kubelet.containers.container_records import Record, adopted, lost
from rehearsal.kubelet.pods import restart_policy
from rehearsal.kubelet.pods.status import View, build
from rehearsal.kubernetes.time import stamp

pytestmark = pytest.mark.unit
NOW = 1_800_000_000.0


def pod(
    policy: str = "Always", init: list[dict[str, Any]] | None = None, names: tuple[str, ...] = ("c",)
) -> dict[str, Any]:
    spec = {
        "restartPolicy": policy,
        "initContainers": init or [],
        "containers": [{"name": n, "image": "x"} for n in names],
    }
    return {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": spec}


def ran(name: str, code: int, seconds: float = 1.0, ago: float = 0.0, crashes: int = 0) -> Record:
    times = {"startedAt": stamp(NOW - ago - seconds), "finishedAt": stamp(NOW - ago)}
    return Record(name, runs=1, crashes=crashes, state={"terminated": {"exitCode": code, **times}})


def runs(name: str, started: bool = True, ready: bool = True) -> Record:
    return Record(name, runs=1, state={"running": {"startedAt": stamp(NOW)}}, started=started, ready=ready)


def plan(subject: dict[str, Any], *records: Record) -> restart_policy.Plan:
    return restart_policy.plan(subject, {record.name: record for record in records}, NOW, 1.0)


@pytest.mark.parametrize(("crashes", "seconds"), [(0, 0), (1, 10), (2, 20), (5, 160), (6, 300), (99, 300)])
def test_delays_double_up_to_five_minutes(crashes: int, seconds: float) -> None:
    assert restart_policy.delay(crashes, 1.0) == seconds


def test_new_containers_start_and_running_ones_are_left_alone() -> None:
    assert plan(pod(names=("a", "b")), Record("a"), runs("b")).start == ["a"]


def test_the_first_restart_is_at_once_and_the_second_waits() -> None:
    assert plan(pod(), ran("c", 1)).start == ["c"]
    waiting = plan(pod(), ran("c", 1, crashes=1))
    assert waiting.start == []
    assert waiting.waiting["c"][0] == "CrashLoopBackOff"
    assert waiting.look_again_at == NOW + 10
    assert plan(pod(), ran("c", 1, ago=11, crashes=1)).start == ["c"]


def test_a_long_run_ends_the_back_off() -> None:
    assert plan(pod(), ran("c", 1, seconds=700, crashes=5)).start == ["c"]


@pytest.mark.parametrize(
    ("policy", "code", "phase"),
    [
        ("Never", 0, "Succeeded"),
        ("Never", 3, "Failed"),
        ("OnFailure", 0, "Succeeded"),
        ("OnFailure", 3, None),
        ("Always", 0, None),
    ],
)
def test_how_a_pod_ends(policy: str, code: int, phase: str | None) -> None:
    assert plan(pod(policy), ran("c", code)).phase == phase


def test_a_pod_goes_on_while_one_container_does() -> None:
    assert plan(pod("Never", names=("a", "b")), ran("a", 1), runs("b")).phase is None


def test_initialization_is_in_order() -> None:
    subject = pod(init=[{"name": "i", "image": "x"}, {"name": "j", "image": "x"}])
    first = plan(subject, Record("i"), Record("j"), Record("c"))
    assert (first.start, first.initialized) == (["i"], False)
    assert plan(subject, runs("i"), Record("j"), Record("c")).start == []
    assert plan(subject, ran("i", 0), ran("j", 0), Record("c")).start == ["c"]
    failed = pod("Never", init=[{"name": "i", "image": "x"}])
    assert plan(failed, ran("i", 1), Record("c")).phase == "Failed"


def test_sidecars_let_the_rest_start_once_they_have() -> None:
    subject = pod(init=[{"name": "s", "image": "x", "restartPolicy": "Always"}])
    assert plan(subject, runs("s", started=False), Record("c")).start == []
    assert plan(subject, runs("s"), Record("c")).start == ["c"]
    assert plan(subject, ran("s", 0), runs("c")).start == ["s"]


def status(subject: dict[str, Any], *records: Record, **view: Any) -> dict[str, Any]:
    known = {record.name: record for record in records}
    return build(subject, View(known, "10.64.1.9", "10.128.0.1", "t0", view.pop("initialized", True), **view), "t1")


def conditions(found: dict[str, Any]) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in found["conditions"]}


def test_a_ready_pod() -> None:
    found = status(pod(), runs("c"))
    assert (found["phase"], found["podIPs"], found["hostIP"]) == ("Running", [{"ip": "10.64.1.9"}], "10.128.0.1")
    assert set(conditions(found).values()) == {"True"}
    assert found["containerStatuses"][0]["containerID"] == "rehearsal://u/c/0"


def test_a_node_without_an_address_gives_none() -> None:
    """The API server refuses an empty one, and with it the whole status."""
    known = {"c": runs("c")}
    found = build(pod(), View(known, "10.64.1.9", "", "t0", initialized=True), "t1")
    assert not {"hostIP", "hostIPs"} & set(found)
    assert found["podIP"] == "10.64.1.9"


def test_a_pod_that_is_not_ready_says_which_container() -> None:
    found = status(pod(names=("a", "b")), runs("a"), runs("b", ready=False))
    ready = next(condition for condition in found["conditions"] if condition["type"] == "Ready")
    assert (ready["status"], ready["reason"]) == ("False", "ContainersNotReady")
    assert ready["message"] == "containers with unready status: [b]"


def test_readiness_gates_hold_the_pod_but_not_its_containers() -> None:
    subject = pod()
    subject["spec"]["readinessGates"] = [{"conditionType": "g"}]
    assert conditions(status(subject, runs("c")))["Ready"] == "False"
    assert conditions(status(subject, runs("c")))["ContainersReady"] == "True"
    subject["status"] = {"conditions": [{"type": "g", "status": "True"}]}
    assert conditions(status(subject, runs("c")))["Ready"] == "True"


def test_conditions_that_stay_keep_their_time() -> None:
    subject = pod()
    held = [{"type": "Ready", "status": "True", "lastTransitionTime": "t-1"}]
    subject["status"] = {"conditions": held}
    times = {
        condition["type"]: condition["lastTransitionTime"] for condition in status(subject, runs("c"))["conditions"]
    }
    assert (times["Ready"], times["ContainersReady"]) == ("t-1", "t1")


def test_phases() -> None:
    assert status(pod(), Record("c"))["phase"] == "Pending"
    assert status(pod(), runs("c"), initialized=False)["phase"] == "Pending"
    assert status(pod(), ran("c", 1))["phase"] == "Running"
    ended = status(pod("Never"), ran("c", 0), phase="Succeeded", sandbox=False)
    assert (ended["phase"], conditions(ended)["Ready"]) == ("Succeeded", "False")


def test_a_container_that_was_lost_starts_again_without_delay() -> None:
    record = runs("c")
    record.crashes = 4
    lost(record, stamp(NOW))
    assert (record.state["terminated"]["exitCode"], record.ready) == (137, False)
    assert plan(pod(), record).start == ["c"]
    assert plan(pod("Never"), record).phase == "Failed"


def test_records_can_be_taken_from_the_api_server() -> None:
    found = adopted({"name": "c", "restartCount": 2, "state": {"running": {"startedAt": stamp(NOW)}}, "lastState": {}})
    assert (found.restart_count, found.runs, found.running) == (2, 3, True)
    assert adopted({"name": "c", "restartCount": 0, "state": {"waiting": {"reason": "x"}}}).runs == 0


def test_addresses_replace_earlier_ones() -> None:
    assert replacing({"phase": "Running", "podIPs": [{"ip": "a"}]})["podIPs"] == [{"ip": "a"}, {"$patch": "replace"}]
