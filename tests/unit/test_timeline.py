"""The timeline and its promises, from objects as the API server gives them."""

from __future__ import annotations

import pytest

from operations.timeline import job_line, overlap, own_pools, promises, ran_after, table

pytestmark = pytest.mark.unit

CHIPS = {"three": 24, "two": 16, "one": 8}
AFTER: dict[str, list[str]] = {"three": [], "two": ["three"], "one": ["three"]}


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def true(kind: str, second: int) -> dict:
    return {"type": kind, "status": "True", "lastTransitionTime": at(second)}


def line(
    name: str, slices: dict[int, list[str]], queued: int, admitted: int | None, finished: int | None, ok: bool = True
):
    """A job whose slice i has one pod on each of the named pools."""
    end = [] if finished is None else [true("Completed" if ok else "Failed", finished)]
    jobset = {
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [{"replicas": len(slices)}]},
        "status": {"conditions": end},
    }
    conditions = [] if admitted is None else [true("Admitted", admitted)]
    workload = {"metadata": {"creationTimestamp": at(queued)}, "status": {"conditions": conditions}}
    pods = [
        {"metadata": {"labels": {"jobset.sigs.k8s.io/job-index": str(i)}}, "spec": {"nodeName": f"node-{pool}"}}
        for i, pools in slices.items()
        for pool in pools
    ]
    return job_line(jobset, workload, pods, {f"node-{p}": p for p in ("p1", "p2", "p3")})


def as_promised():
    return [
        line("three", {0: ["p1", "p1"], 1: ["p2", "p2"], 2: ["p3", "p3"]}, 0, 0, 10),
        line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 10, 20),
        line("one", {0: ["p3", "p3"]}, 1, 10, 20),
    ]


def test_all_promises_hold_when_the_tutorial_happens_as_promised():
    made = promises(as_promised(), AFTER, CHIPS, 24)
    assert [promise.text for promise in made if not promise.held] == []
    assert len(made) == 9


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (
            lambda: line("two", {0: ["p1", "p1"], 1: ["p1", "p1"]}, 1, 10, 20),
            "two: each of its 2 slices had a pool of its own",
        ),
        (
            lambda: line("two", {0: ["p1", "p2"], 1: ["p3", "p3"]}, 1, 10, 20),
            "two: each of its 2 slices had a pool of its own",
        ),
        (lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 5, 20), "two waited until three had finished"),
        (lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 21, 30), "one and two ran together"),
        (lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 10, 20, ok=False), "two succeeded"),
    ],
)
def test_a_broken_promise_is_named(broken, text):
    three, _, one = as_promised()
    made = promises([three, broken(), one], AFTER, CHIPS, 24)
    assert [promise.text for promise in made if not promise.held] == [text]


def test_a_job_that_was_never_admitted_keeps_no_promise_of_order():
    waiting = line("two", {}, 1, None, None)
    three, _, one = as_promised()
    assert not ran_after(waiting, three)
    assert not overlap(waiting, one)
    assert not own_pools(waiting)


def test_times_are_told_from_the_first_queueing():
    rows = table(as_promised()).splitlines()
    assert rows[0].split() == ["job", "slices", "pools", "queued", "admitted", "finished"]
    assert rows[2].split() == ["two", "2", "p1,", "p2", "1", "s", "10", "s", "20", "s"]


def test_the_queue_says_why_a_job_waits():
    reserved = {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota"}
    jobset = {"metadata": {"name": "two"}, "spec": {"replicatedJobs": [{"replicas": 2}]}}
    workload = {"metadata": {"creationTimestamp": at(0)}, "status": {"conditions": [reserved]}}
    assert job_line(jobset, workload, [], {}).note == "insufficient unused quota"
