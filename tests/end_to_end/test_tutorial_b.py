"""Tutorial B beyond its happy path: jobs that wait, Plan B that fails, comes late or never, jobs that grow, and a clean end
in the middle of it. The platform stands without jobs of its own here; each test submits what it needs."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from operations.jobs.timeline import JobLine
from operations.jobs.watch import Watcher
from operations.stack.up import given_up
from rehearsal import lifecycle
from rehearsal.host import sandbox
from settings.catalogue.versions import JOBSET_API, KUEUE_API, RAY_API
from settings.plan.jobs import JobSetPlan
from settings.plan.ray_jobs import RayJobPlan
from tests.end_to_end.conftest import Checkout, submit, until
from workloads.jobset.manifest import multislice_jobset
from workloads.rayjob.manifest import ray_job

pytestmark = pytest.mark.rehearsal

ENDS_S = 90.0
"""A job: its nodes, its pods, its played running time."""
GIVES_UP_S = 120.0
STAYS_S = 12.0
"""How long something that must not happen is watched for."""
SHRINKS_S = 60.0

RAY, JOBSETS = f"/apis/{RAY_API}/namespaces/default/rayjobs", f"/apis/{JOBSET_API}/namespaces/default/jobsets"
CLUSTERS = f"/apis/{RAY_API}/namespaces/default/rayclusters"
WORKLOADS = f"/apis/{KUEUE_API}/namespaces/default/workloads"
PODS = "/api/v1/namespaces/default/pods"
REQUESTS = "/apis/autoscaling.x-k8s.io/v1/namespaces/default/provisioningrequests"


def quietly(config: dict[str, Any]) -> None:
    config["tpu-platform:workloads"] = []
    config["tpu-platform:ray"] = {"operator": "addon", "jobs": []}


class Platform:
    """The platform, and jobs as its plan would have them."""

    def __init__(self, checkout: Checkout, plan: Any) -> None:
        self.checkout, self.plan = checkout, plan
        self.cluster = checkout.cluster()
        self._watchers: dict[tuple[str, ...], Watcher] = {}

    def google(self, method: str, path: str, body: Any = None) -> Any:
        return lifecycle.google(self.checkout.layout, method, path, body)

    def job(self, name: str, **changes: Any) -> RayJobPlan:
        first: RayJobPlan = self.plan.of(RayJobPlan)[0]
        return replace(first, name=name, after=(), **changes)

    def submit(self, name: str, **changes: Any) -> None:
        submit(self.cluster, RAY, ray_job(self.job(name, **changes)))

    def hold_plan_a(self) -> None:
        """A Ray cluster that takes the slice on demand until it is deleted."""
        manifest = ray_job(self.job("holder"))
        body = {
            "apiVersion": RAY_API,
            "kind": "RayCluster",
            "metadata": {"name": "holder", "labels": manifest["metadata"]["labels"]},
            "spec": manifest["spec"]["rayClusterSpec"],
        }
        self.cluster.call("POST", CLUSTERS, body)
        until("Plan A is taken", ENDS_S, lambda: self.used("on-demand") == 16)

    def lines(self, *names: str) -> list[JobLine]:
        if names not in self._watchers:
            jobs = tuple(self.job(name) for name in names)
            self._watchers[names] = Watcher(self.cluster, replace(self.plan, jobs=jobs))
        return self._watchers[names].lines()

    def line(self, name: str) -> JobLine:
        return self.lines(name)[0]

    def used(self, flavor: str, resource: str = "google.com/tpu") -> int:
        """What the queue counts as reserved of a flavor."""
        queue = self.cluster.call("GET", f"/apis/{KUEUE_API}/clusterqueues/cluster-queue")
        usage = {f["name"]: f["resources"] for f in queue["status"]["flavorsReservation"]}
        return int(next(r for r in usage[flavor] if r["name"] == resource)["total"])

    def nodes(self, pool: str) -> list[Any]:
        return self.cluster.list("/api/v1/nodes", labelSelector=f"cloud.google.com/gke-nodepool={pool}")

    def workload(self, name: str) -> Any:
        return self.cluster.get(f"{WORKLOADS}/{self.line(name).workload}")

    def clear(self) -> None:
        for path in (RAY, CLUSTERS, JOBSETS):
            for item in self.cluster.list(path):
                self.cluster.call("DELETE", f"{path}/{item['metadata']['name']}")
        self.google("DELETE", "/_rehearsal/faults")
        until("all quota is free again", ENDS_S, lambda: self.used("on-demand") == self.used("dws") == 0)
        until("the head's quota too", ENDS_S, lambda: self.used("default-cpu", "cpu") == 0)
        # A job of the next test that found the nodes of this one would be refused a moment longer, as on GKE.
        until("the pools are empty", SHRINKS_S, lambda: not self.nodes("on-demand-pool") and not self.nodes("dws-pool"))


@pytest.fixture(scope="module")
def standing(checkout: Checkout) -> Iterator[Platform]:
    checkout.make("tools")
    plan = checkout.plan
    undo = checkout.config(quietly)
    checkout.make("up")
    platform = Platform(checkout, plan)
    yield platform
    undo()


@pytest.fixture
def platform(standing: Platform) -> Iterator[Platform]:
    yield standing
    standing.clear()


def watched(seconds: float, holds: Callable[[], bool]) -> bool:
    """Whether a fact holds at every look for a while."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not holds():
            return False
        time.sleep(0.5)
    return True


def test_gcloud_reads_flex_start_back(platform: Platform) -> None:
    if shutil.which("gcloud") is None:
        pytest.fail("gcloud is not on this machine; the README names it as a prerequisite of the tests")
    exports = platform.checkout.make("-s", "gcloud-env").stdout
    flags = "--cluster=tpu-cluster --location=us-central1 --project=rehearsal-project"
    command = f'{exports}\ngcloud container node-pools describe dws-pool {flags} --format="value(config.flexStart)"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_third_job_waits_for_quota_and_runs_when_a_slice_is_free(platform: Platform) -> None:
    names = ("first", "second", "third")
    for name in names:
        platform.submit(name)
        until(f"{name} is queued", ENDS_S, lambda name=name: platform.line(name).queued is not None)  # type: ignore[misc]
    until("both slices are taken", ENDS_S, lambda: platform.used("on-demand") == platform.used("dws") == 16)
    waiting = [line for line in platform.lines(*names) if line.reserved is None]
    assert len(waiting) == 1
    assert waiting[0].note == "it waits for 16 chips; free are: on-demand 0 of 16, dws 0 of 16"
    seen_inactive = False

    def all_over() -> bool:
        nonlocal seen_inactive
        lines = platform.lines(*names)
        seen_inactive |= any(line.deactivated for line in lines)
        return all(line.finished for line in lines)

    until("all three end", 2 * ENDS_S, all_over)
    lines = platform.lines(*names)
    assert not seen_inactive
    assert all(line.succeeded for line in lines)
    last = next(line for line in lines if line.name == waiting[0].name)
    others = [line for line in lines if line is not last]
    ends = [line.finished for line in others if line.finished is not None]
    assert len(ends) == len(others) and last.reserved is not None
    assert last.reserved >= min(ends)
    assert {frozenset(line.pools) for line in others} == {frozenset({"on-demand-pool"}), frozenset({"dws-pool"})}
    assert len(last.pools) == 1


def test_plan_b_that_fails_once_is_asked_for_again(platform: Platform) -> None:
    platform.hold_plan_a()
    platform.google("PUT", "/_rehearsal/faults", [{"fault": "dws-fail", "times": 1}])
    platform.submit("unlucky")
    until("it ends", 2 * ENDS_S, lambda: platform.line("unlucky").finished is not None)
    line = platform.line("unlucky")
    assert line.succeeded
    assert line.pools == ["dws-pool"]
    assert line.request is not None
    assert line.request.name.endswith("-dws-prov-2")
    assert line.request.pod_sets == (4,)


def test_plan_b_that_fails_to_the_end_is_given_up_and_the_others_go_on(platform: Platform) -> None:
    platform.hold_plan_a()
    platform.google("PUT", "/_rehearsal/faults", [{"fault": "dws-fail", "times": 100}])
    platform.submit("hopeless")
    jobset = multislice_jobset(replace(platform.plan.of(JobSetPlan)[-1], name="bystander", after=()))
    platform.cluster.call("POST", JOBSETS, jobset)
    until("Kueue gives up", GIVES_UP_S, lambda: platform.line("hopeless").deactivated)
    line = platform.line("hopeless")
    assert "insufficient capacity" in line.note
    assert line.workload in given_up(line)
    until("its quota is free", ENDS_S, lambda: platform.used("dws") == 0)
    assert not platform.nodes("dws-pool")

    def bystander_done() -> bool:
        conditions = platform.cluster.call("GET", f"{JOBSETS}/bystander").get("status", {}).get("conditions", [])
        return any(c["type"] == "Completed" and c["status"] == "True" for c in conditions)

    until("the other queue's job ends", ENDS_S, bystander_done)
    platform.google("DELETE", "/_rehearsal/faults")
    platform.cluster.call("DELETE", f"{WORKLOADS}/{line.workload}")  # what the message tells a user to do
    until("it runs after all", 2 * ENDS_S, lambda: platform.line("hopeless").finished is not None)
    assert platform.line("hopeless").succeeded


def test_plan_b_that_never_answers_waits_and_says_so(platform: Platform) -> None:
    platform.hold_plan_a()
    platform.google("PUT", "/_rehearsal/faults", [{"fault": "dws-silent", "times": 1}])
    platform.submit("patient")
    until("Google has queued the request", ENDS_S, lambda: _state(platform, "patient") == "Accepted")
    assert watched(STAYS_S, lambda: platform.line("patient").admitted is None and not platform.nodes("dws-pool"))
    line = platform.line("patient")
    assert not line.deactivated
    assert "waits for capacity" in line.note
    assert line.request is not None and line.request.name in line.note
    platform.cluster.call("DELETE", f"{RAY}/patient")
    until("its request is gone", ENDS_S, lambda: not platform.cluster.list(REQUESTS))
    assert watched(STAYS_S, lambda: not platform.nodes("dws-pool"))


def _state(platform: Platform, name: str) -> str:
    request = platform.line(name).request
    return request.state if request is not None else ""


def test_an_elastic_job_runs_and_what_does_not_fit_waits_without_taking_quota(platform: Platform) -> None:
    platform.submit("elastic", elastic=True, max_slices=2)
    # KubeRay starts a job when all workers are ready, so one that grows before would not start.
    until(
        "it runs",
        ENDS_S,
        lambda: platform.cluster.call("GET", f"{RAY}/elastic").get("status", {}).get("jobStatus") == "RUNNING",
    )
    (made,) = platform.cluster.list(CLUSTERS)
    path = f"{CLUSTERS}/{made['metadata']['name']}"
    grown = [{"op": "replace", "path": "/spec/workerGroupSpecs/0/replicas", "value": 2}]
    platform.cluster.call("PATCH", path, grown, patch="json")
    most = 0

    def over() -> bool:
        nonlocal most
        most = max(most, platform.used("on-demand"), platform.used("dws"))
        return platform.line("elastic").finished is not None

    until("it ends", 2 * ENDS_S, over)
    assert platform.line("elastic").succeeded
    assert most == 16
    until("its quota is back", ENDS_S, lambda: platform.used("on-demand") == platform.used("dws") == 0)
    until("the head's too", ENDS_S, lambda: platform.used("default-cpu", "cpu") == 0)


def test_only_pools_that_scale_go_back_to_nothing(platform: Platform) -> None:
    """That the others do is seen after each test."""
    assert watched(STAYS_S, lambda: len(platform.nodes("nodepool1")) == 2)


def test_the_operator_goes_with_its_addon(standing: Platform) -> None:
    """Last of those that need it: the add-on is switched off in the stack, and nothing of it is left in the cluster."""

    def without(config: dict[str, Any]) -> None:
        del config["tpu-platform:ray"]

    undo = standing.checkout.config(without)
    try:
        standing.checkout.make("up")
        until("Ray's kinds are gone", ENDS_S, lambda: standing.cluster.get(f"/apis/{RAY_API}") is None)
    finally:
        undo()


def test_kuberay_by_helm_runs_rays_jobs_too(standing: Platform) -> None:
    """Where the add-on is not to be had. The webhook for TPU workers is not part of it."""
    ray = {"operator": "helm", "kubernetesProxy": True, "jobs": []}
    undo = standing.checkout.config(lambda config: config.update({"tpu-platform:ray": ray}))
    try:
        standing.checkout.make("up")
        standing.submit("by-helm")
        until("it ends", 2 * ENDS_S, lambda: standing.line("by-helm").finished is not None)
        line = standing.line("by-helm")
        assert line.succeeded
        assert line.pools == ["on-demand-pool"]
        standing.clear()
    finally:
        undo()


def test_down_leaves_nothing_while_a_request_waits_and_nodes_boot(checkout: Checkout, standing: Platform) -> None:
    """Two Ray jobs of the stack: the first one's nodes take their time, the second one's request is never answered."""
    google = standing.google
    checkout.pulumi("up", "--yes", "--skip-preview")  # without jobs: the release of the test before goes (docs/ray.md)
    google("PUT", "/_rehearsal/capacity", {"times": {"boot_s": 100_000}})
    google("PUT", "/_rehearsal/faults", [{"fault": "dws-silent", "times": 1}])
    jobs = [{"name": "slow"}, {"name": "waiting", "after": ["slow"]}]
    undo = checkout.config(lambda config: config.update({"tpu-platform:ray": {"operator": "addon", "jobs": jobs}}))
    checkout.pulumi("up", "--yes", "--skip-preview")
    until("the request waits", ENDS_S, lambda: "Accepted" in _requests(standing))
    until("nodes boot", ENDS_S, lambda: _booting(standing))
    (slow,) = standing.cluster.list(CLUSTERS)
    own = f"ray.io/cluster={slow['metadata']['name']}"
    until("a head and four workers", ENDS_S, lambda: len(standing.cluster.list(PODS, labelSelector=own)) == 5)
    assert watched(STAYS_S / 4, lambda: len(standing.cluster.list(PODS, labelSelector=own)) == 5), "one operator runs"
    checkout.make("down")
    undo()
    assert sandbox.first_process(checkout.layout) is None
    assert not list(checkout.layout.clusters.iterdir())


def _requests(platform: Platform) -> list[str]:
    conditions = [c for r in platform.cluster.list(REQUESTS) for c in r.get("status", {}).get("conditions", [])]
    return [c["type"] for c in conditions if c["status"] == "True"]


def _booting(platform: Platform) -> bool:
    """Google has begun to make the slice, and the cluster does not have its nodes yet."""
    pools = platform.google("GET", "/_rehearsal/state")["pools"]
    pool = next(p for name, p in pools.items() if name.endswith("/on-demand-pool"))
    ready = [n for n in platform.nodes("on-demand-pool") if _ready(n)]
    return bool(pool.get("_members")) and not ready


def _ready(node: Any) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
