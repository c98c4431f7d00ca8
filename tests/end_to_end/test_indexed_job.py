"""`kind: job`: an indexed Job gets a slice as a JobSet does, beside JobSets, and is changed and removed like one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from operations.kubernetes import Cluster
from tests.end_to_end.conftest import Checkout

pytestmark = pytest.mark.rehearsal

COUNTING = {"slices": 1, "program": "device-count", "sleepSeconds": 5}
PLAIN = {**COUNTING, "name": "plain", "kind": "job", "flavor": "vlp-24"}
GROWN = {**COUNTING, "name": "grown", "kind": "job", "flavor": "on-demand"}
"""Its pool has no nodes until a job waits for them."""
BESIDE = {**COUNTING, "name": "beside", "slices": 2, "flavor": "vlp-24"}
"""A JobSet on the other two slices of the same flavor."""


@pytest.fixture(scope="module")
def platform(fresh: Callable[..., Checkout]) -> Checkout:
    checkout = fresh("indexed")

    def jobs(config: dict[str, Any]) -> None:
        config["tpu-platform:workloads"] = [PLAIN, GROWN, BESIDE]
        config["tpu-platform:ray"] = {"operator": "addon"}

    checkout.config(jobs)
    checkout.make("up")
    return checkout


def jobs_of(cluster: Cluster) -> set[str]:
    return {job["metadata"]["name"] for job in cluster.list("/apis/batch/v1/namespaces/default/jobs")}


def test_each_job_ran_on_slices_of_its_own(platform: Checkout) -> None:
    lines = platform.lines()
    assert {name: line.succeeded for name, line in lines.items()} == {"plain": True, "grown": True, "beside": True}
    assert lines["grown"].pools == ["on-demand-pool"]
    assert len({*lines["plain"].pools, *lines["beside"].pools}) == 3


def test_nothing_is_left_to_do(platform: Checkout) -> None:
    assert platform.changes() == {}


def test_a_changed_job_is_submitted_anew_and_the_others_are_left_alone(platform: Checkout) -> None:
    def longer(config: dict[str, Any]) -> None:
        config["tpu-platform:workloads"][1]["sleepSeconds"] = 6

    undo = platform.config(longer)
    try:
        changed = {name for names in platform.changes().values() for name in names}
        assert changed == {"grown-job"}
    finally:
        undo()


def test_a_removed_job_goes_with_its_service(platform: Checkout) -> None:
    def without_plain(config: dict[str, Any]) -> None:
        del config["tpu-platform:workloads"][0]

    platform.config(without_plain)
    platform.pulumi("up", "--yes", "--skip-preview")
    cluster = platform.cluster()
    assert "plain" not in jobs_of(cluster)
    services = {found["metadata"]["name"] for found in cluster.list("/api/v1/namespaces/default/services")}
    assert "grown" in services
    assert "plain" not in services
