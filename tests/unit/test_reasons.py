"""Why a job waits: in numbers, and in the words of Google's autoscaler and of its refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operations.reasons import free_chips, refusals_of, with_room, with_scale_up
from operations.timeline import JobLine, merged, moment

pytestmark = pytest.mark.unit


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def row(admitted: int | None = None, finished: int | None = None) -> JobLine:
    """A job that was queued after a second."""
    times = [moment(at(second)) if second is not None else None for second in (1, admitted, admitted, finished)]
    return JobLine("two", {}, 1, *times, succeeded=finished is not None, note="")


def waiting_pod(uid: str, node: str | None = None) -> dict:
    return {"metadata": {"uid": uid}, "spec": {"nodeName": node} if node else {}}


def scale_up(uid: str, second: int, message: str) -> dict:
    return {"involvedObject": {"uid": uid}, "lastTimestamp": at(second), "message": message}


def test_the_autoscaler_says_why_there_are_no_nodes():
    admitted = row(1)
    events = [scale_up("a", 3, "stock-out"), scale_up("a", 2, "quota"), scale_up("b", 9, "of another job")]
    assert with_scale_up(admitted, [waiting_pod("a")], events).note == "stock-out"
    assert with_scale_up(replace(admitted, note="waits"), [waiting_pod("a")], events).note == "waits; stock-out"
    assert with_scale_up(admitted, [waiting_pod("a", "node-1")], events) == admitted
    ended = row(1, 5)
    assert with_scale_up(ended, [waiting_pod("a")], events) == ended


def condition(kind: str, second: int, message: str) -> dict:
    return {"type": kind, "status": "True", "lastTransitionTime": at(second), "message": message}


def request(name: str, second: int, *conditions: dict) -> dict:
    return {"metadata": {"name": name, "creationTimestamp": at(second)}, "status": {"conditions": list(conditions)}}


def test_what_google_refused_is_remembered_when_the_job_runs_elsewhere():
    failed = condition("Failed", 5, "no capacity in us-central1-b")
    refusals = refusals_of([request("second", 4, condition("Accepted", 4, "")), request("first", 2, failed)])
    assert refusals == ("first: no capacity in us-central1-b",)
    waiting = replace(row(), refusals=refusals)
    elsewhere = row(6)
    assert merged(waiting, elsewhere).refusals == refusals
    again = replace(elsewhere, refusals=(*refusals, "third: x"))
    assert merged(waiting, again).refusals == ("first: no capacity in us-central1-b", "third: x")


def test_a_job_without_quota_is_told_how_much_is_free():
    def flavors(key: str, one: int, two: int) -> list[dict]:
        tpu = [("on-demand", one), ("dws", two), ("default-cpu", 0)]
        return [{"name": name, "resources": [{"name": "google.com/tpu", key: str(n)}]} for name, n in tpu]

    queue = {
        "spec": {"resourceGroups": [{"flavors": flavors("nominalQuota", 16, 32)}]},
        "status": {"flavorsReservation": flavors("total", 16, 24)},
    }
    free = free_chips(queue)
    assert free == {"on-demand": (0, 16), "dws": (8, 32)}
    waiting = row()
    assert with_room(waiting, 16, free).note == "it waits for 16 chips; free are: on-demand 0 of 16, dws 8 of 32"
    assert with_room(waiting, 8, free) == waiting
    over = row(1, 2)
    assert with_room(over, 16, free) == over
