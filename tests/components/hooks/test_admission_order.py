"""A job's turn: it comes when Kueue has admitted the jobs that it follows."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kubernetes.client import ApiException

from components.hooks.admission_order import Predecessor, wait_for_turn, why_not_admitted
from components.hooks.webhook_ready import GateError

pytestmark = pytest.mark.unit

ONE = Predecessor("RayJob", "default", "ray-1")


def workload(
    *conditions: tuple[str, str, str], kind: str = "RayJob", name: str = "ray-1", **status: Any
) -> dict[str, Any]:
    said = [{"type": type_, "status": value, "message": message} for type_, value, message in conditions]
    owner = {"kind": kind, "name": name}
    return {"metadata": {"ownerReferences": [owner]}, "status": {"conditions": said, **status}}


FULL = workload(("QuotaReserved", "False", "couldn't assign flavors: insufficient unused quota"))
ADMITTED = workload(("QuotaReserved", "True", ""), ("Admitted", "True", ""))


class FakeApi:
    """Answers with one list of workloads after the other, the last one for ever."""

    def __init__(self, *answers: list[dict[str, Any]] | Exception) -> None:
        self._answers = list(answers)
        self.asked = 0

    def workloads(self, namespace: str) -> list[dict[str, Any]]:
        assert namespace == "default"
        self.asked += 1
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def wait(api: FakeApi, *predecessors: Predecessor, timeout: float = 60) -> float:
    now = [0.0]

    async def sleep(pause: float) -> None:
        now[0] += pause

    asyncio.run(wait_for_turn(api, "ray-2", predecessors, timeout, sleep, lambda: now[0]))  # type: ignore[arg-type]
    return now[0]


def test_the_turn_comes_with_the_admission() -> None:
    assert wait(FakeApi([ADMITTED]), ONE) == 0
    api = FakeApi([], [FULL], ApiException(status=503), [FULL, ADMITTED])
    assert wait(api, ONE) > 0
    assert api.asked == 4


def test_a_finished_job_holds_nobody_up() -> None:
    assert why_not_admitted([workload(("Admitted", "False", "gone"), ("Finished", "True", "done"))], ONE) is None


@pytest.mark.parametrize(
    "other",
    [
        workload(("Admitted", "True", ""), kind="JobSet"),
        workload(("Admitted", "True", ""), name="ray-10"),
    ],
    ids=["another kind", "another name"],
)
def test_the_admission_of_another_job_is_not_ours(other) -> None:
    assert why_not_admitted([other], ONE) == "Kueue has not looked at it yet"


def test_all_jobs_must_have_been_admitted() -> None:
    with pytest.raises(GateError, match="ray-0: Kueue has not looked at it yet"):
        wait(FakeApi([ADMITTED]), ONE, Predecessor("RayJob", "default", "ray-0"))


def test_a_timeout_says_whom_it_waited_for_and_why() -> None:
    check = {"name": "dws-prov", "state": "Pending", "message": "Waiting for resources"}
    pending = workload(("QuotaReserved", "True", ""), ("Admitted", "False", ""), admissionChecks=[check])
    for answer, reason in (([FULL], "insufficient unused quota"), ([pending], "dws-prov: Waiting for resources")):
        with pytest.raises(GateError) as caught:
            wait(FakeApi(answer), ONE)
        text = str(caught.value)
        assert "ray-2 was not submitted" in text
        assert reason in text
        assert "run `pulumi up` again" in text
