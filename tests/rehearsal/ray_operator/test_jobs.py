"""Ray's jobs as a played head keeps them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import uvicorn

from rehearsal.gke.ray.simulator import submitters, view
from rehearsal.gke.ray.simulator.dashboard import Dashboard
from rehearsal.gke.ray.simulator.jobs import DuplicateJob, Jobs

pytestmark = pytest.mark.unit

REQUEST = {"entrypoint": "python train.py", "submission_id": "train-1", "runtime_env": {"pip": ["jax"]}}


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path / "jobs.json")


def status(jobs: Jobs) -> str:
    job = jobs.get("train-1")
    assert job is not None
    return job.status


def test_a_job_waits_for_all_workers_and_then_runs_its_time(jobs: Jobs) -> None:
    jobs.submit(REQUEST)
    jobs.advance({"a"}, 2, 0, None)
    assert status(jobs) == "PENDING"
    jobs.advance({"a", "b"}, 2, 60_000, None)
    assert status(jobs) == "RUNNING"
    jobs.advance({"a", "b"}, 2, 60_000, None)
    assert status(jobs) == "RUNNING"
    jobs.advance({"a", "b"}, 2, 0, None)
    assert status(jobs) == "SUCCEEDED"


def test_a_job_whose_worker_is_gone_has_failed(jobs: Jobs) -> None:
    jobs.submit(REQUEST)
    jobs.advance({"a", "b"}, 2, 60_000, None)
    jobs.advance({"b", "c"}, 2, 60_000, None)
    job = jobs.get("train-1")
    assert job is not None and (job.status, job.driver_exit_code) == ("FAILED", 1)
    assert "ActorDiedError" in job.message and job.end_time is not None


def test_a_job_can_be_made_to_fail(jobs: Jobs) -> None:
    jobs.submit(REQUEST)
    jobs.advance(set(), 0, 0, "no more memory")
    jobs.advance(set(), 0, 0, "no more memory")
    job = jobs.get("train-1")
    assert job is not None and job.status == "FAILED"
    assert job.message.endswith("no more memory\n")


def test_jobs_outlive_the_program(jobs: Jobs, tmp_path: Path) -> None:
    jobs.submit(REQUEST)
    jobs.advance({"a"}, 1, 60_000, None)
    again = Jobs(tmp_path / "jobs.json")
    assert again.get("train-1") == jobs.get("train-1")
    with pytest.raises(DuplicateJob):
        again.submit(REQUEST)


@pytest.fixture
def dashboard(jobs: Jobs) -> Iterator[str]:
    """A dashboard's address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(
        uvicorn.Config(Dashboard(jobs, "2.53.0", "session").app(), log_level="warning", lifespan="off")
    )
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    listener.listen()
    thread.start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/api"
    server.should_exit = True
    thread.join()


def test_the_dashboard_speaks_rays_jobs_api(dashboard: str) -> None:
    def call(verb: str, path: str, body: Any = None) -> requests.Response:
        return requests.request(verb, f"{dashboard}{path}", json=body, timeout=5)

    assert call("GET", "/jobs/train-1").status_code == 404
    assert call("GET", "/jobs/train-1").text == "Job train-1 does not exist"
    assert call("POST", "/jobs/", REQUEST).json() == {"job_id": "train-1", "submission_id": "train-1"}
    refused = call("POST", "/jobs/", REQUEST)
    assert refused.status_code == 500 and "Please use a different submission_id" in refused.text
    assert call("POST", "/jobs/", {}).status_code == 400
    shown = call("GET", "/jobs/train-1").json()
    assert (shown["status"], shown["type"], shown["runtime_env"]) == ("PENDING", "SUBMISSION", {"pip": ["jax"]})
    assert [job["submission_id"] for job in call("GET", "/jobs/").json()] == ["train-1"]
    assert call("DELETE", "/jobs/train-1").status_code == 500
    assert call("POST", "/jobs/train-1/stop").json() == {"stopped": True}
    assert call("POST", "/jobs/train-1/stop").json() == {"stopped": False}
    assert call("GET", "/jobs/train-1").json()["status"] == "STOPPED"
    assert call("GET", "/jobs/train-1/logs").json() == {"logs": ""}
    assert call("DELETE", "/jobs/train-1").json() == {"deleted": True}
    assert call("GET", "/version").json()["ray_version"] == "2.53.0"
    assert call("GET", "/gcs_healthz").text == "success"


COMMAND = (
    "if ! ray job status --address http://j-head-svc.default.svc.cluster.local:8265 j-x >/dev/null 2>&1 ; then "
    "ray job submit --address http://j-head-svc.default.svc.cluster.local:8265 --no-wait "
    '--runtime-env-json "{\\"pip\\":[\\"jax[tpu]==0.8.2\\"]}" --metadata-json "{\\"team\\":\\"a\\"}" --submission-id j-x -- '
    'python -c "print(1)" --flag ; fi ; ray job logs --address http://j-head-svc.default.svc.cluster.local:8265 --follow j-x'
)


def submitter(args: list[str]) -> dict[str, Any]:
    env = [
        {"name": "RAY_DASHBOARD_ADDRESS", "value": "j-head-svc.default.svc.cluster.local:8265"},
        {"name": "RAY_JOB_SUBMISSION_ID", "value": "j-x"},
    ]
    return {"spec": {"containers": [{"name": "s", "command": ["/bin/bash", "-ce", "--"], "args": args, "env": env}]}}


def test_a_submitter_submits_what_its_command_says() -> None:
    found = submitters.submission(submitter([COMMAND]))
    assert found is not None and found.service == ("default", "j-head-svc")
    assert found.request == {
        "submission_id": "j-x",
        "entrypoint": 'python -c "print(1)" --flag',
        "runtime_env": {"pip": ["jax[tpu]==0.8.2"]},
        "metadata": {"team": "a"},
    }


def test_a_sidecar_submits_to_its_own_head() -> None:
    line = "until true ; do sleep 2 ; done ; ray job submit --address http://127.0.0.1:8265 --submission-id j-x -- python a.py ;"
    pod = submitter([line])
    del pod["spec"]["containers"][0]["env"][0]["value"]
    found = submitters.submission(pod)
    assert found is not None and found.service is None
    assert found.request == {"submission_id": "j-x", "entrypoint": "python a.py"}


def test_a_submitters_own_command_is_its_entrypoint() -> None:
    found = submitters.submission(submitter(["exec my-submit"]))
    assert found is not None and found.request == {"submission_id": "j-x", "entrypoint": "exec my-submit"}
    assert submitters.submission({"spec": {"containers": [{"name": "x"}]}}) is None


@pytest.mark.parametrize(
    ("group", "pods"),
    [
        ({"replicas": 1, "numOfHosts": 4}, 4),
        ({"replicas": 0, "minReplicas": 2, "numOfHosts": 4}, 8),
        ({"replicas": 5, "maxReplicas": 2}, 2),
        ({"replicas": 3, "suspend": True}, 0),
        ({}, 0),
    ],
)
def test_how_many_workers_a_group_wants(group: dict[str, Any], pods: int) -> None:
    assert view.wanted({"spec": {"workerGroupSpecs": [group]}}) == pods
