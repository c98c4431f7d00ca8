"""`kind: job`: the plan, what is registered, how its end is read, and what is refused."""

from __future__ import annotations

import pytest

from settings.plan.jobs import IndexedJobPlan
from settings.validation.problem import ConfigurationError
from tests.support.platforms import plan_with
from workloads.job.manifest import headless_service, indexed_job
from workloads.kinds import kind_of

pytestmark = pytest.mark.unit


def job() -> IndexedJobPlan:
    (found,) = plan_with(workloads=[{"name": "plain", "slices": 1, "kind": "job"}]).of(IndexedJobPlan)
    return found


def test_the_pods_meet_at_the_first_of_them_by_the_headless_service() -> None:
    spec = indexed_job(job())["spec"]
    variables = {each["name"]: each.get("value") for each in spec["template"]["spec"]["containers"][0]["env"]}
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    assert variables["COORDINATOR_ADDRESS"] == "plain-0.plain:8476"
    assert variables["SLICE_INDEX"] == "0"
    service = headless_service(job())
    assert service["metadata"]["name"] == spec["template"]["spec"]["subdomain"] == "plain"
    assert service["spec"]["selector"] == {"batch.kubernetes.io/job-name": "plain"}


def test_its_end_is_the_jobs_own_condition() -> None:
    ended = {"type": "Complete", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = kind_of(job()).status({"status": {"conditions": [ended]}}, None, [{"metadata": {}}, {"metadata": {}}])
    assert (status.wanted, status.succeeded, [slice_ for slice_, _ in status.pods]) == (1, True, ["0", "0"])
    failed = kind_of(job()).status({"status": {"conditions": [{**ended, "type": "Failed"}]}}, None, [])
    assert (failed.ended is not None, failed.succeeded) == (True, False)


def test_several_slices_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"workloads\[0\]\.kind"):
        plan_with(workloads=[{"name": "plain", "slices": 2, "kind": "job"}])
