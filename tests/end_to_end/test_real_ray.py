"""Ray for real: heads, workers and submitters are processes under the real KubeRay, and what their programs did is read from the
API server. The tutorial's program runs by Plan A, the training of multislice jobs with checkpoints by Plan B.

It takes some three minutes on two idle cores, of which the two jobs are one and a half; the limits here are for busy machines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from operations.jobs import job_logs
from settings.catalogue.versions import KUEUE_API, RAY_API
from tests.end_to_end.conftest import Checkout, until

pytestmark = pytest.mark.rehearsal

ENDS_S = 1500.0
"""Both jobs, one after the other: on two cores one Ray cluster runs at a time."""
GONE_S = 120.0
CHIPS = 16
FIRST, SECOND = "fits-a-line", "trains"
STEPS = 6
RAY, CLUSTERS = f"/apis/{RAY_API}/namespaces/default/rayjobs", f"/apis/{RAY_API}/namespaces/default/rayclusters"
PODS = "/api/v1/namespaces/default/pods"


def only_ray(config: dict[str, Any]) -> None:
    trains = {
        "name": SECOND,
        "program": "training",
        "training": {"config": "tiny", "steps": STEPS, "checkpointEvery": STEPS // 2},
        "after": [FIRST],
    }
    config["tpu-platform:workloads"] = []
    config["tpu-platform:ray"] = {"operator": "addon", "jobs": [{"name": FIRST}, trains]}


@pytest.fixture(scope="module")
def real(fresh: Callable[..., Checkout]) -> Checkout:
    """The platform with both jobs, when these have ended."""
    made = fresh("real-ray", pods="real")
    made.config(only_ray)
    made.make("tools")
    up = made.start("up")
    try:
        ended = up.wait(ENDS_S)
    finally:
        up.kill()
    assert ended == 0, (made.folder / "background.log").read_text()[-6000:]
    return made


def jobs(checkout: Checkout) -> list[dict[str, Any]]:
    found = {job["metadata"]["name"]: {"status": {}, **job} for job in checkout.cluster().list(RAY)}
    return [found.get(name, {"status": {}}) for name in (FIRST, SECOND)]


def told(checkout: Checkout, job: str) -> job_logs.LogSummary:
    """What the submitter's log says, as `kubectl logs` shows it."""
    pods = checkout.cluster().list(PODS, labelSelector=f"batch.kubernetes.io/job-name={job}")
    found = job_logs.read(checkout.cluster(), "default", [pod["metadata"]["name"] for pod in pods])
    assert found is not None, "the submitter was played"
    return found


def test_both_jobs_succeed(real: Checkout) -> None:
    states = [(job["status"].get("jobStatus"), job["status"].get("jobDeploymentStatus")) for job in jobs(real)]
    assert states == [("SUCCEEDED", "Complete")] * 2, [job["status"].get("message") for job in jobs(real)]


@pytest.mark.parametrize("job", [FIRST, SECOND])
def test_all_chips_are_one_jax_program_that_learns(real: Checkout, job: str) -> None:
    found = told(real, job)
    assert set(found.devices) == {CHIPS}
    assert found.losses[0] > found.losses[1]
    assert found.complete


def test_the_last_step_is_in_the_bucket(real: Checkout) -> None:
    bucket = real.plan.checkpoints
    assert bucket is not None
    listed = real.google(f"/storage/v1/b/{bucket.bucket}/o?prefix=default/{SECOND}/{STEPS}/")
    assert listed.get("items")


def test_the_clusters_end_with_their_jobs_and_their_quota_is_free(real: Checkout) -> None:
    cluster = real.cluster()
    until("the Ray clusters are gone", GONE_S, lambda: not cluster.list(CLUSTERS))
    until("their pods too", GONE_S, lambda: not cluster.list(PODS, labelSelector="ray.io/cluster"))

    def used() -> set[str]:
        status = cluster.call("GET", f"/apis/{KUEUE_API}/clusterqueues/cluster-queue")["status"]
        return {resource["total"] for flavor in status["flavorsReservation"] for resource in flavor["resources"]}

    until("nothing is reserved", GONE_S, lambda: used() == {"0"})
