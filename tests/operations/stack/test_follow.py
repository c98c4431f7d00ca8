"""What the API server's refusals say about a job that is followed."""

from __future__ import annotations

import json

import pytest
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.stack.engine import OperationError
from operations.stack.up import ABSENT_TIMEOUT_S, PRINT_EVERY_S, MissingJob, ProgressPrinter, Reading, absentee

pytestmark = pytest.mark.unit


def refused(status: int, details: dict[str, str]) -> ApiException:
    return ApiException(status=status, reason=json.dumps({"kind": "Status", "details": details}))


def test_a_job_that_is_not_there_is_named() -> None:
    details = {"name": "one", "group": "jobset.x-k8s.io", "kind": "jobsets"}
    assert absentee(refused(404, details)) == 'jobsets.jobset.x-k8s.io "one" is not there'


@pytest.mark.parametrize(
    "error",
    [
        HTTPError("connection refused"),
        ApiException(status=404, reason="404 page not found"),
        refused(404, {}),
        refused(503, {"name": "one", "group": "jobset.x-k8s.io", "kind": "jobsets"}),
    ],
)
def test_a_server_that_does_not_answer_says_nothing_about_jobs(error: ApiException | HTTPError) -> None:
    assert absentee(error) is None


def test_a_job_may_be_absent_for_a_while_and_come_back() -> None:
    missing = MissingJob(0.0)
    missing.check("one", ABSENT_TIMEOUT_S)
    missing.check(None, ABSENT_TIMEOUT_S)
    missing.check("one", 2 * ABSENT_TIMEOUT_S)
    with pytest.raises(OperationError, match="one: it was deleted"):
        missing.check("one", 2 * ABSENT_TIMEOUT_S + 0.1)


def test_progress_is_printed_when_it_changes_and_again_after_a_while(capsys: pytest.CaptureFixture[str]) -> None:
    printer = ProgressPrinter()
    for text, now in (("a", 0.0), ("a", 1.0), ("b", 2.0), ("b", 3.0), ("b", 2.1 + PRINT_EVERY_S)):
        printer.show(Reading(text), now)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()] == ["a", "b", "b"]


def test_only_a_whole_reading_can_show_the_end() -> None:
    assert not Reading("the cluster does not answer").ended
    assert Reading("", complete=True).ended
