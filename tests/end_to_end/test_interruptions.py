"""A training job that is disturbed: a process killed, a node deleted, evicted by a higher priority, admitted on another pool. It goes
on from its last checkpoint each time, and ends where an undisturbed one does. And one that no restart helps, which is not started
again. All pods are real processes.

Takes some four minutes on two idle cores; the limits are for busy machines.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client

from operations.jobs import job_logs
from operations.jobs.timeline import job_line
from operations.jobs.wait_reasons import with_failure
from rehearsal.host import sandbox
from settings.catalogue.labels import NODEPOOL_LABEL
from settings.catalogue.versions import JOBSET_API, KUEUE_API
from settings.plan.jobs import JobSetPlan
from tests.end_to_end.conftest import Checkout, submit, until
from workloads.jobset.manifest import multislice_jobset
from workloads.jobset.status import JOBSET_LABEL
from workloads.kinds import KINDS
from workloads.status import condition

pytestmark = pytest.mark.rehearsal

STARTS_S = 240.0
"""From a restart to the next checkpoint: a pod installs what it has, JAX is imported, the processes meet."""
ENDS_S = 480.0
STEPS, EVERY = 400, 20
SAME = 1e-4
"""Relative. The same sums in the same order on the same number of devices differ in nothing but what the compiler does, which may
differ from one process to the next."""

JOBSETS, PODS = f"/apis/{JOBSET_API}/namespaces/default/jobsets", "/api/v1/namespaces/default/pods"
WORKLOADS = f"/apis/{KUEUE_API}/namespaces/default/workloads"
DISTURBED = "disturbed"
PLACE = Path(__file__).parent / "place_program.py"


def two_slices(config: dict[str, Any]) -> None:
    config["tpu-platform:slices"] = [{**config["tpu-platform:slices"][0], "pools": ["nodepool1", "nodepool2"]}]
    config["tpu-platform:queues"] = [
        {**config["tpu-platform:queues"][0], "preemption": {"withinClusterQueue": "LowerPriority"}}
    ]
    config["tpu-platform:priorities"] = [{"name": "low", "value": 10}, {"name": "high", "value": 1000}]
    training = {"config": "tiny", "steps": STEPS, "checkpointEvery": EVERY}
    config["tpu-platform:workloads"] = [{"name": "steady", "slices": 1, "priority": "low", "training": training}]
    config.pop("tpu-platform:ray")


class Stage:
    """The platform after `steady` has ended undisturbed."""

    def __init__(self, checkout: Checkout) -> None:
        self.checkout, self.plan, self.cluster = checkout, checkout.plan, checkout.cluster()
        self.steady = self.told("steady")  # now: the logs of a node go with it

    def job(self, name: str, **changes: Any) -> JobSetPlan:
        return replace(self.plan.of(JobSetPlan)[0], name=name, after=(), **changes)

    def submit(self, job: JobSetPlan, before: str = "") -> None:
        """`before` is a program that its pods run first, if they run the tutorial's payload."""
        made = multislice_jobset(job)
        (container,) = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
        for entry in container["env"]:
            if entry["name"] == "TRAINING_PROGRAM":
                entry["value"] = f"{before}\n{entry['value']}"
        submit(self.cluster, JOBSETS, made)

    def jobset(self, name: str = DISTURBED) -> Any:
        return self.cluster.call("GET", f"{JOBSETS}/{name}")

    def pods(self, name: str = DISTURBED) -> list[Any]:
        return self.cluster.list(PODS, labelSelector=f"{JOBSET_LABEL}={name}")

    def running(self, name: str) -> int:
        return sum(pod["status"].get("phase") in ("Running", "Succeeded") for pod in self.pods(name))

    def told(self, name: str) -> job_logs.LogSummary:
        """What a job's programs have said."""
        found = job_logs.read(self.cluster, "default", [pod["metadata"]["name"] for pod in self.pods(name)])
        assert found is not None, "its pods were played"
        return found

    def restarts(self, name: str = DISTURBED) -> int:
        return int(self.jobset(name).get("status", {}).get("restarts", 0))

    def fails(self, name: str) -> str:
        """Waits until a job has failed; what `make up` says of it."""
        until(f"{name} fails", STARTS_S, lambda: condition(self.jobset(name), "Failed") is not None)
        line = job_line(KINDS[JobSetPlan], self.jobset(name), None, self.pods(name), {}, None)
        return with_failure(line, self.jobset(name), self.pods(name)).note

    def saved(self) -> int:
        """The newest checkpoint that is whole, by its step; -1 for none."""
        bucket = self.plan.checkpoints
        assert bucket is not None
        listed = self.checkout.google(f"/storage/v1/b/{bucket.bucket}/o?prefix=default/{DISTURBED}/")
        names = [item["name"] for item in listed.get("items", [])]
        steps = [re.fullmatch(rf"default/{DISTURBED}/(\d+)/commit_success.txt", name) for name in names]
        return max((int(found[1]) for found in steps if found), default=-1)

    def steps(self) -> list[int]:
        """The steps that the present attempt has told."""
        for pod in self.pods():
            try:
                log = self.cluster.text(f"{PODS}/{pod['metadata']['name']}/log") or ""
            except client.ApiException:
                continue  # it has not started
            found = [int(json.loads(line)["step"]) for line in job_logs.STEP.findall(log)]
            if found:
                return found
        return []

    def pools(self, name: str = DISTURBED) -> set[str]:
        nodes = {
            n["metadata"]["name"]: n["metadata"]["labels"][NODEPOOL_LABEL] for n in self.cluster.list("/api/v1/nodes")
        }
        return {nodes[pod["spec"]["nodeName"]] for pod in self.pods(name) if pod["spec"].get("nodeName") in nodes}

    @contextmanager
    def cordoned(self, pool: str) -> Iterator[None]:
        """No pod comes to the nodes of a pool."""
        nodes = [
            n["metadata"]["name"] for n in self.cluster.list("/api/v1/nodes", labelSelector=f"{NODEPOOL_LABEL}={pool}")
        ]
        try:
            self._cordon(nodes, True)
            yield
        finally:
            self._cordon(nodes, False)

    def _cordon(self, nodes: list[str], closed: bool) -> None:
        for node in nodes:
            self.cluster.call("PATCH", f"/api/v1/nodes/{node}", {"spec": {"unschedulable": closed}})

    def goes_on(self, before: int) -> int:
        """Waits until the job trains again, and beyond what was saved `before`; the step that it went on with."""
        until("it trains again", STARTS_S, lambda: bool(self.steps()))
        first = self.steps()[0]
        until("it saves again", STARTS_S, lambda: self.saved() > max(before, first))
        return first


@pytest.fixture(scope="module")
def stage(fresh: Callable[..., Checkout]) -> Stage:
    made = fresh("interruptions", pods="real")
    made.config(two_slices)
    made.make("up")
    found = Stage(made)
    found.submit(found.job(DISTURBED))
    until("it saves", STARTS_S, lambda: found.saved() >= EVERY)
    return found


def training_processes(checkout: Checkout) -> list[int]:
    """The training's processes, as this machine numbers them."""
    found = []
    for pid in {
        *sandbox.processes_named(checkout.layout, "python"),
        *sandbox.processes_named(checkout.layout, "python3"),
    }:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if b"training" in words and b"-m" in words:
            found.append(pid)
    return sorted(found)


def test_a_killed_process_brings_all_back_to_the_last_checkpoint(stage: Stage) -> None:
    processes = training_processes(stage.checkout)
    assert len(processes) == 2
    before = stage.saved()
    os.kill(processes[0], signal.SIGKILL)
    until("the JobSet starts again", STARTS_S, lambda: stage.restarts() == 1)
    saved = stage.saved()
    first = stage.goes_on(saved)
    assert first == saved + 1 > before, "each step after the last checkpoint once more, and none before it"


def test_a_node_deleted_under_it_does_too(stage: Stage) -> None:
    node = stage.pods()[0]["spec"]["nodeName"]
    stage.cluster.call("DELETE", f"/api/v1/nodes/{node}")
    until("the JobSet starts again", STARTS_S, lambda: stage.restarts() == 2)
    saved = stage.saved()
    assert stage.goes_on(saved) == saved + 1


def test_one_that_is_evicted_saves_first_and_goes_on_where_it_is_admitted_again(stage: Stage) -> None:
    (pool,) = stage.pools()
    told = stage.steps()[-1]
    high = next(p for p in stage.plan.settings.priorities if p.name == "high")
    stage.submit(stage.job("urgent", slices=2, priority=high, training=None, sleep_seconds=1), PLACE.read_text())

    def evicted() -> bool:
        conditions = _workload(stage)["status"].get("conditions", [])
        return any(c["type"] == "Evicted" and c["reason"] == "Preempted" and c["status"] == "True" for c in conditions)

    until("it is evicted", STARTS_S, evicted)
    until("its pods are gone", STARTS_S, lambda: not stage.pods())
    saved = stage.saved()
    assert saved >= told, "it saved where it was stopped"
    urgent = 2 * stage.plan.of(JobSetPlan)[0].shape.hosts
    until("the urgent one runs", STARTS_S, lambda: stage.running("urgent") == urgent)
    with stage.cordoned(pool):
        until("the urgent one ends", ENDS_S, lambda: condition(stage.jobset("urgent"), "Completed") is not None)
        _knew_their_places(stage, "urgent", slices=2)
        assert stage.goes_on(saved) == saved + 1
    assert stage.pools() == {"nodepool1", "nodepool2"} - {pool}


def _knew_their_places(stage: Stage, name: str, slices: int) -> None:
    """The pods had their numbers by GKE's variables, and the names in those led to the pods with these numbers."""
    logs = [stage.cluster.text(f"{PODS}/{pod['metadata']['name']}/log") or "" for pod in stage.pods(name)]
    told = [json.loads(line) for log in logs for line in log.splitlines() if line.startswith('{"place"')]
    hosts = stage.plan.of(JobSetPlan)[0].shape.hosts
    at = {tuple(one["place"]): one["own"] for one in told}
    assert sorted(at) == [(slice_, worker) for slice_ in range(slices) for worker in range(hosts)]
    for one in told:
        assert one["hosts"] == [at[one["place"][0], worker] for worker in range(hosts)]
        assert (one["slices"], one["first"]) == (slices, at[0, 0])


def _workload(stage: Stage) -> Any:
    uid = stage.jobset()["metadata"]["uid"]
    found = stage.cluster.list(WORKLOADS)
    return next(w for w in found if any(o["uid"] == uid for o in w["metadata"].get("ownerReferences", [])))


def test_it_ends_where_an_undisturbed_one_does(stage: Stage) -> None:
    until("it ends", ENDS_S, lambda: condition(stage.jobset(), "Completed") is not None)
    disturbed, steady = stage.told(DISTURBED), stage.steady
    assert disturbed.complete
    assert steady.complete
    assert disturbed.losses[-1] == pytest.approx(steady.losses[-1], rel=SAME)
    assert stage.saved() == STEPS


def container_of(jobset: Any) -> Any:
    (job,) = jobset["spec"]["replicatedJobs"]
    return job["template"]["spec"]["template"]["spec"]["containers"][0]


def test_one_that_no_restart_helps_is_not_started_again(stage: Stage) -> None:
    job = stage.job("mistaken")
    made = multislice_jobset(job)
    (chips,) = (entry for entry in container_of(made)["env"] if entry["name"] == "CHIPS_PER_HOST")
    chips["value"] = str(2 * int(chips["value"]))
    submit(stage.cluster, JOBSETS, made)
    told = stage.fails("mistaken")
    wanted = f"ended with 6: error: {job.devices} devices are here, {2 * job.devices} are expected"
    assert wanted in told
    assert stage.restarts("mistaken") == 0


FAILS = """trap 'exit 143' TERM
[ "$SLICE_INDEX$HOST_INDEX" = 11 ] && exit 3
sleep 900 & wait
"""


def test_one_process_that_ends_so_takes_all_slices_with_it(stage: Stage) -> None:
    made = multislice_jobset(stage.job("alone", slices=2))
    container_of(made)["command"] = ["bash", "-c", FAILS]
    submit(stage.cluster, JOBSETS, made)
    assert "alone-slice-1-1" in (told := stage.fails("alone"))
    assert "ended with 3" in told
    until(
        "the others are gone",
        STARTS_S,
        lambda: not [p for p in stage.pods("alone") if p["status"]["phase"] == "Running"],
    )
    assert stage.restarts("alone") == 0
