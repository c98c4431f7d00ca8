"""Why a job waits or has failed: in numbers, in the words of Google's autoscaler and of its refusals, and by exit codes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operations.jobs.timeline import JobLine, merged
from operations.jobs.wait_reasons import free_chips, refusals_of, with_failure, with_room, with_scale_up
from workloads.status import moment

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


def ended_pod(name: str, second: int, code: int, message: str = "") -> dict:
    end = {"exitCode": code, "finishedAt": at(second), **({"message": message} if message else {})}
    return {"metadata": {"name": name}, "status": {"containerStatuses": [{"state": {"terminated": end}}]}}


def test_a_failed_job_says_what_its_first_program_ended_with():
    failed = {"status": {"conditions": [condition("Failed", 5, "applying the policy (first failed job: two-slice-0)")]}}
    row_of_it = replace(row(1, 5), succeeded=False)
    pods = [
        ended_pod("two-slice-0-0", 4, 143),
        ended_pod("two-slice-0-1", 4, 6, "Global device count: 4\nerror: 4 devices are here, 8 are expected\n"),
        ended_pod("two-slice-0-2", 5, 8, "error: another process of this job is gone"),
        {"metadata": {"name": "two-slice-1-0"}, "status": {"containerStatuses": [{"state": {"running": {}}}]}},
    ]
    words = "applying the policy (first failed job: two-slice-0)"
    told = "two-slice-0-1 ended with 6: error: 4 devices are here, 8 are expected"
    assert with_failure(row_of_it, failed, pods).note == f"{words}; {told}"
    assert with_failure(row_of_it, failed, [ended_pod("a", 4, 1)]).note == f"{words}; a ended with 1"
    assert with_failure(row_of_it, failed, []).note == words
    for other in (row(1), row(1, 5)):
        assert with_failure(other, failed, pods) == other


def test_a_failed_ray_job_says_it_on_one_line_of_some_length():
    failed = replace(row(1, 5), succeeded=False)
    ray = {"status": {"jobStatus": "FAILED", "message": "Job failed,\nlast logs:\n" + "x" * 1000}}
    note = with_failure(failed, ray, []).note
    assert note.startswith("Job failed, last logs: xxx")
    assert note.endswith("x...")
    assert len(note) < 420


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
