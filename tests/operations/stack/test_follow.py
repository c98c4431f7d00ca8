"""What the API server's refusals say about a job that is followed."""

from __future__ import annotations

import json

import pytest
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.stack.up import absentee

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
