"""Priorities and teams on the real controllers: who makes room for whom, who borrows and gives back, and who may do what.
The platform stands without jobs of its own; each test submits those that it needs, as the plan has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from kubernetes.client import ApiException

from operations.kubernetes import Cluster
from rehearsal.host import sandbox
from settings.catalogue.versions import JOBSET_API, KUEUE_API, RAY_API
from settings.plan.jobs import Job, JobSetPlan
from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from tests.end_to_end.conftest import Checkout, submit, until
from workloads.jobset.manifest import multislice_jobset
from workloads.rayjob.manifest import WORKER_GROUP, ray_files, ray_job

pytestmark = pytest.mark.rehearsal

ADMITTED_S = 60.0
ENDS_S = 120.0
"""A job: its nodes, its pods, its played running time, and that of the one it makes room for."""
GONE_S = 60.0

TPU = "google.com/tpu"
ANN, BOB = "ann@example.com", "bob@example.com"


def job(name: str, flavor: str = "vlp-24", **keys: Any) -> dict[str, Any]:
    return {"name": name, "slices": 1, "flavor": flavor, **keys}


def teams_and_jobs(config: dict[str, Any]) -> None:
    """Three slices of one flavor: one for each of two teams, and one for everybody."""
    config["tpu-platform:priorities"] = [
        {"name": "low-priority", "value": 100, "description": "Makes room for others."},
        {"name": "high-priority", "value": 1000, "pods": True},
    ]
    everybody, fall_through = config["tpu-platform:queues"]
    everybody["preemption"] = {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
    config["tpu-platform:queues"] = [everybody, fall_through]
    config["tpu-platform:cluster"]["securityGroup"] = "gke-security-groups@example.com"
    config["tpu-platform:teams"] = [
        {
            "name": "team-a",
            "members": {"users": [ANN], "groups": ["a@example.com"]},
            "flavors": {"vlp-24": {"chips": 8, "borrow": 8}},
            "cpu": {},
        },
        {"name": "team-b", "members": {"users": [BOB]}, "flavors": {"vlp-24": {"chips": 8, "borrow": 8}}, "weight": 2},
    ]
    config["tpu-platform:ray"] = {
        "operator": "addon",
        "jobs": [{"name": "ray-a", "team": "team-a"}, {"name": "ray-lent", "queue": "user-queue", "flavors": ["dws"]}],
    }
    config["tpu-platform:workloads"] = [
        job("low", priority="low-priority"),
        job("high", priority="high-priority"),
        job("owner", team="team-a"),
        job("b-first", team="team-b"),
        job("b-second", team="team-b"),
        job("plan-a", "on-demand"),
        job("plan-b", "on-demand"),
    ]


def with_a_third(config: dict[str, Any]) -> None:
    teams = config["tpu-platform:teams"]
    config["tpu-platform:teams"] = [*teams, {"name": "team-c", "flavors": {"vlp-24": {"chips": 0, "borrow": 8}}}]


def quietly(config: dict[str, Any]) -> None:
    teams_and_jobs(config)
    config["tpu-platform:workloads"] = []
    config["tpu-platform:ray"] = {"operator": "addon"}


class Platform:
    """The platform, and the jobs of its plan by name."""

    def __init__(self, checkout: Checkout, plan: Plan) -> None:
        self.checkout = checkout
        self.cluster: Cluster = checkout.cluster()
        self.jobs: dict[str, Job] = {job.name: job for job in plan.jobs}

    def submit(self, name: str) -> None:
        job = self.jobs[name]
        if isinstance(job, JobSetPlan):
            submit(self.cluster, jobsets(job), multislice_jobset(job))
            return
        assert isinstance(job, RayJobPlan)
        code = ray_files()
        files = {"metadata": {"name": code.config_map}, "data": code.files}
        self.cluster.call("POST", f"/api/v1/namespaces/{job.namespace}/configmaps", files)
        submit(self.cluster, rayjobs(job.namespace), ray_job(job))

    def workload(self, name: str) -> dict[str, Any]:
        """The job's Workload, or nothing while Kueue has not made it."""
        namespace = self.jobs[name].namespace
        found = self.cluster.list(f"/apis/{KUEUE_API}/namespaces/{namespace}/workloads")
        own = [w for w in found if name in [owner["name"] for owner in w["metadata"]["ownerReferences"]]]
        return own[0] if own else {}

    def is_(self, name: str, condition: str) -> bool:
        conditions = self.workload(name).get("status", {}).get("conditions", [])
        return any(c["type"] == condition and c["status"] == "True" for c in conditions)

    def preempted(self, name: str) -> int:
        """How often Kueue has evicted a job for another: the Workload keeps count."""
        stats = self.workload(name).get("status", {}).get("schedulingStats", {}).get("evictions", [])
        return sum(entry["count"] for entry in stats if entry["reason"] == "Preempted")

    def waits_for(self, name: str) -> str:
        """Why Kueue has not given a job its quota."""
        conditions = self.workload(name).get("status", {}).get("conditions", [])
        return " ".join(c["message"] for c in conditions if c["type"] == "QuotaReserved" and c["status"] == "False")

    def flavor(self, name: str) -> str:
        (assignment,) = self.workload(name)["status"]["admission"]["podSetAssignments"]
        return str(assignment["flavors"][TPU])

    def reserved(self, queue: str, flavor: str = "vlp-24") -> tuple[int, int]:
        """(chips that a queue's jobs have, those among them that are borrowed)."""
        status = self.cluster.call("GET", f"/apis/{KUEUE_API}/clusterqueues/{queue}")["status"]
        resources = next(f["resources"] for f in status["flavorsReservation"] if f["name"] == flavor)
        chips = next(resource for resource in resources if resource["name"] == TPU)
        return int(chips["total"]), int(chips.get("borrowed", "0"))

    def pools(self, name: str) -> set[str]:
        """The pools that a job's pods with chips were bound to; Ray's workers belong to a cluster, which is named by KubeRay."""
        job = self.jobs[name]
        selector = (
            f"jobset.sigs.k8s.io/jobset-name={name}" if isinstance(job, JobSetPlan) else f"ray.io/group={WORKER_GROUP}"
        )
        pods = self.cluster.list(f"/api/v1/namespaces/{job.namespace}/pods", labelSelector=selector)
        nodes = {n["metadata"]["name"]: n["metadata"]["labels"] for n in self.cluster.list("/api/v1/nodes")}
        return {nodes[pod["spec"]["nodeName"]]["cloud.google.com/gke-nodepool"] for pod in pods}

    def dry_run(self, path: str, body: dict[str, Any]) -> str:
        """What the API server would say to an object: nothing, or why it is refused."""
        try:
            self.cluster.call("POST", path, body, query={"dryRun": "All"})
        except ApiException as error:
            return str(error.reason)
        return ""

    def may(self, user: str, verb: str, namespace: str | None, group: str, resource: str) -> bool:
        attributes = {"verb": verb, "group": group, "resource": resource}
        if namespace is not None:
            attributes["namespace"] = namespace
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "groups": ["system:authenticated"], "resourceAttributes": attributes},
        }
        answer = self.cluster.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body)
        return bool(answer["status"]["allowed"])

    def clear(self) -> None:
        for namespace in ("default", "team-a", "team-b"):
            for path in (f"/apis/{JOBSET_API}/namespaces/{namespace}/jobsets", rayjobs(namespace)):
                for item in self.cluster.list(path):
                    self.cluster.call("DELETE", f"{path}/{item['metadata']['name']}")
        queues = ("multislice-cluster-queue", "team-a", "team-b")
        until("all quota is free", GONE_S, lambda: all(self.reserved(queue) == (0, 0) for queue in queues))
        until("no pod is left", GONE_S, lambda: not self._pods())

    def _pods(self) -> list[Any]:
        return [
            pod for n in ("default", "team-a", "team-b") for pod in self.cluster.list(f"/api/v1/namespaces/{n}/pods")
        ]


def rayjobs(namespace: str) -> str:
    return f"/apis/{RAY_API}/namespaces/{namespace}/rayjobs"


def jobsets(job: Job) -> str:
    return f"/apis/{JOBSET_API}/namespaces/{job.namespace}/jobsets"


@pytest.fixture(scope="module")
def standing(checkout: Checkout) -> Iterator[Platform]:
    checkout.make("tools")
    undo = checkout.config(teams_and_jobs)
    plan = checkout.plan
    undo()
    undo = checkout.config(quietly)
    checkout.make("up")
    yield Platform(checkout, plan)
    checkout.make("down")
    undo()
    assert sandbox.first_process(checkout.layout) is None


@pytest.fixture
def platform(standing: Platform) -> Iterator[Platform]:
    yield standing
    standing.clear()


def test_a_high_priority_job_evicts_the_low_one_which_runs_again_and_finishes(platform: Platform) -> None:
    platform.submit("low")
    until("the low one runs", ADMITTED_S, lambda: platform.is_("low", "PodsReady"))
    platform.submit("high")
    until("the high one is admitted", ADMITTED_S, lambda: platform.is_("high", "Admitted"))
    assert platform.preempted("low") == 1
    assert not platform.is_("low", "Admitted")
    priority = {name: platform.workload(name)["spec"]["priority"] for name in ("low", "high")}
    assert priority == {"low": 100, "high": 1000}
    until("the high one finishes", ENDS_S, lambda: platform.is_("high", "Finished"))
    until("the low one finishes", ENDS_S, lambda: platform.is_("low", "Finished"))
    assert succeeded(platform, "low")
    assert succeeded(platform, "high")


def succeeded(platform: Platform, name: str) -> bool:
    conditions = platform.workload(name)["status"]["conditions"]
    return any(c["type"] == "Finished" and c["reason"] == "Succeeded" for c in conditions)


def test_a_team_borrows_an_idle_slice_and_gives_it_back(platform: Platform) -> None:
    for name in ("b-first", "b-second"):
        platform.submit(name)
        until(f"{name} runs", ADMITTED_S, lambda name=name: platform.is_(name, "PodsReady"))  # type: ignore[misc]
    until("a slice is borrowed", ADMITTED_S, lambda: platform.reserved("team-b") == (16, 8))
    platform.submit("owner")
    until("the owner has its slice", ADMITTED_S, lambda: platform.is_("owner", "Admitted"))
    until("its queue says so", ADMITTED_S, lambda: platform.reserved("team-a") == (8, 0))
    until("nothing is borrowed any more", ADMITTED_S, lambda: platform.reserved("team-b") == (8, 0))
    assert platform.preempted("b-first") + platform.preempted("b-second") == 1
    assert platform.preempted("owner") == 0
    for name in ("owner", "b-first", "b-second"):
        until(f"{name} finishes", ENDS_S, lambda name=name: platform.is_(name, "Finished"))  # type: ignore[misc]
        assert succeeded(platform, name)


def test_a_ray_job_of_a_team_has_its_head_beside_the_system_and_succeeds(platform: Platform) -> None:
    platform.submit("ray-a")
    until("it is admitted", ADMITTED_S, lambda: platform.is_("ray-a", "Admitted"))
    parts = {part["name"]: part for part in platform.workload("ray-a")["status"]["admission"]["podSetAssignments"]}
    assert {name: set(part["flavors"].values()) for name, part in parts.items()} == {
        "head": {"default-cpu"},
        "tpu-group": {"vlp-24"},
        "submitter": {"default-cpu"},
    }
    until("its queue says so", ADMITTED_S, lambda: platform.reserved("team-a") == (8, 0))
    until("it finishes", ENDS_S, lambda: platform.is_("ray-a", "Finished"))
    status = platform.cluster.call("GET", f"{rayjobs('team-a')}/ray-a")["status"]
    assert (status["jobStatus"], status["jobDeploymentStatus"]) == ("SUCCEEDED", "Complete")


def test_a_ray_job_runs_on_the_flavor_that_it_names_while_the_first_of_its_queue_is_free(platform: Platform) -> None:
    platform.submit("ray-lent")
    until("its pods run", ENDS_S, lambda: platform.is_("ray-lent", "PodsReady"))
    parts = {part["name"]: part for part in platform.workload("ray-lent")["status"]["admission"]["podSetAssignments"]}
    assert set(parts["tpu-group"]["flavors"].values()) == {"dws"}
    assert platform.pools("ray-lent") == {"dws-pool"}
    assert platform.reserved("cluster-queue", "on-demand") == (0, 0)
    until("it finishes", ENDS_S, lambda: platform.is_("ray-lent", "Finished"))
    assert succeeded(platform, "ray-lent")


def test_a_job_falls_to_the_next_flavor_of_its_queue(platform: Platform) -> None:
    platform.submit("plan-a")
    until("plan A is taken", ADMITTED_S, lambda: platform.is_("plan-a", "QuotaReserved"))
    platform.submit("plan-b")
    until("the second has quota too", ADMITTED_S, lambda: platform.is_("plan-b", "QuotaReserved"))
    assert (platform.flavor("plan-a"), platform.flavor("plan-b")) == ("on-demand", "dws")
    pools: dict[str, set[str]] = {}
    for name in ("plan-a", "plan-b"):
        until(f"{name} runs", ENDS_S, lambda name=name: platform.is_(name, "PodsReady"))  # type: ignore[misc]
        pools[name] = platform.pools(name)
        until(f"{name} finishes", ENDS_S, lambda name=name: platform.is_(name, "Finished"))  # type: ignore[misc]
    assert pools == {"plan-a": {"on-demand-pool"}, "plan-b": {"dws-pool"}}


def pod_spec(chips: int) -> dict[str, Any]:
    resources = {"limits": {TPU: str(chips)}} if chips else {}
    container = {"name": "main", "image": "busybox:1.37", "resources": resources}
    return {"restartPolicy": "Never", "containers": [container]}


def pod(chips: int, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "lone", "labels": labels},
        "spec": pod_spec(chips),
    }


def plain_job(chips: int, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "plain", "labels": labels},
        "spec": {"template": {"spec": pod_spec(chips)}},
    }


def test_chips_outside_of_queues_are_refused_in_a_teams_namespace(platform: Platform) -> None:
    pods, jobs = "/api/v1/namespaces/team-a/pods", "/apis/batch/v1/namespaces/team-a/jobs"
    assert "must come from a job that Kueue has admitted" in platform.dry_run(pods, pod(4))
    assert platform.dry_run(pods, pod(0)) == ""
    assert platform.dry_run("/api/v1/namespaces/default/pods", pod(4)) == ""
    assert "must name its queue" in platform.dry_run(jobs, plain_job(4))
    assert platform.dry_run(jobs, plain_job(0)) == ""
    assert platform.dry_run(jobs, plain_job(4, **{"kueue.x-k8s.io/queue-name": "team-a"})) == ""
    owner = platform.jobs["owner"]
    assert isinstance(owner, JobSetPlan)
    without = multislice_jobset(owner)
    del without["metadata"]["labels"]
    assert "must name its queue" in platform.dry_run(jobsets(owner), without)
    # Kueue's label on a pod is not enough for more chips than the team may ever have.
    admitted = {"kueue.x-k8s.io/podset": "main"}
    assert platform.dry_run(pods, pod(4, **admitted)) == ""
    assert "exceeded quota: tpu-ceiling" in platform.dry_run(pods, pod(20, **admitted))


def test_a_teams_queue_takes_no_jobs_of_another_namespace(platform: Platform) -> None:
    """Even by a local queue that somebody with more rights than a member has put there."""
    queues = f"/apis/{KUEUE_API}/namespaces/team-b/localqueues"
    stray = {
        "apiVersion": KUEUE_API,
        "kind": "LocalQueue",
        "metadata": {"name": "stray"},
        "spec": {"clusterQueue": "team-a"},
    }
    platform.cluster.call("POST", queues, stray)
    platform.jobs["stranger"] = replace(platform.jobs["b-first"], name="stranger", queue="stray")
    platform.submit("stranger")
    try:
        until("it is refused", ADMITTED_S, lambda: "namespace doesn't match" in platform.waits_for("stranger"))
        assert not platform.is_("stranger", "QuotaReserved")
    finally:
        platform.cluster.call("DELETE", f"{queues}/stray")


def test_members_may_run_jobs_in_their_namespace_and_nowhere_else(standing: Platform) -> None:
    for group, resource in (("batch", "jobs"), ("jobset.x-k8s.io", "jobsets"), ("ray.io", "rayjobs")):
        assert standing.may(ANN, "create", "team-a", group, resource)
        assert not standing.may(ANN, "create", "team-b", group, resource)
        assert not standing.may(ANN, "create", "default", group, resource)
        assert standing.may(BOB, "create", "team-b", group, resource)
    assert standing.may(ANN, "get", "team-a", "", "pods")
    assert standing.may(ANN, "list", "team-a", "kueue.x-k8s.io", "workloads")
    assert not standing.may(ANN, "create", "team-a", "", "pods")
    assert not standing.may(ANN, "update", "team-a", "kueue.x-k8s.io", "workloads")
    assert not standing.may(ANN, "delete", "team-a", "", "resourcequotas")
    assert not standing.may(ANN, "get", "team-a", "", "secrets")
    assert not standing.may(ANN, "list", None, "", "nodes")
    assert not standing.may(ANN, "create", None, "kueue.x-k8s.io", "clusterqueues")


def test_a_second_preview_changes_nothing(standing: Platform) -> None:
    """What Kubernetes, Kueue and GKE add to the objects is theirs, and never a difference."""
    assert standing.checkout.changes() == {}


def test_another_team_is_only_made(standing: Platform) -> None:
    undo = standing.checkout.config(with_a_third)
    try:
        changes = standing.checkout.changes()
    finally:
        undo()
    made = {name for name in changes.pop("create") if name != "team-team-c"}
    assert made == {
        *("queue-team-c", "queue-team-c/team-c", "team-team-c-namespace", "team-team-c-ceiling", "team-team-c-member"),
        # Its jobs may keep checkpoints, under an account of their own.
        *("files-team-c", "files-team-c-account", "checkpoints-team-c"),
    }
    assert changes == {}
