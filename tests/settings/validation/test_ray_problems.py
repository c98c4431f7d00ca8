"""Ray jobs that could never run, or of which Kueue would be asked what it cannot keep."""

from __future__ import annotations

from typing import Any

import pytest

from settings.plan.ray_jobs import RayJobPlan
from settings.schema.stack import ELASTIC_JOBS
from tests.support.platforms import BOTH, TUTORIAL, both, plan_with, with_ray, with_slice
from tests.support.problems import each, is_the_only_problem, only_problem, problems_in

pytestmark = pytest.mark.unit

FIRST, SECOND = BOTH["queues"]
GATE_OFF = {"featureGates": {ELASTIC_JOBS: False}}


def job(index: int = 0, **changes: Any) -> dict[str, Any]:
    """Both tutorials with one Ray job changed."""
    return {**TUTORIAL, **both(ray=with_ray(index, **changes))}


def queue(cpu: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Both tutorials with the second queue changed, the one that Ray's jobs go to."""
    return {**TUTORIAL, **both(queues=[FIRST, {**SECOND, "cpu": cpu if cpu is not None else {}, **changes}])}


def nodes(machine: str, count: int = 1, ray: dict[str, Any] | None = None) -> dict[str, Any]:
    """Both tutorials on other nodes for system pods, `count` in each of two zones."""
    cluster = {"name": "tpu-cluster", "defaultPool": {"machineType": machine, "nodes": count}}
    return {**TUTORIAL, **both(cluster=cluster, ray=ray if ray is not None else BOTH["ray"])}


def without_cpu(*names: str) -> dict[str, Any]:
    """Both tutorials with no cpu flavor, and Ray jobs that name their queues."""
    second = {key: value for key, value in SECOND.items() if key != "cpu"}
    ray = {"operator": "addon", "jobs": [{"name": f"ray-{index}", "queue": name} for index, name in enumerate(names)]}
    return {**TUTORIAL, **both(queues=[FIRST, second], ray=ray if names else BOTH["ray"])}


def head(cpu: int = 2, memory: str = "4Gi") -> dict[str, Any]:
    return {"cpu": cpu, "memory": memory}


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("name of 48 characters", job(1, name="r" * 48), "ray.jobs[1].name", "1 to 47 characters", "shorten it by 1"),
    ("name of 64 characters", job(1, name="r" * 64), "ray.jobs[1].name", "1 to 47 characters", "shorten it by 17"),
    ("name that another waits for, of 48 characters", job(0, name="r" * 48), "ray.jobs[0].name", "1 to 47 characters", "shorten it by 1"),
    ("name of a multislice job", job(1, name="multislice-3slice"), "ray.jobs[1].name", "workloads[0].name is the same", "rename or remove one"),
    ("name twice", job(1, name="ray-1", after=[], epochs=3), "ray.jobs[1].name", "only once", "rename or remove"),
    ("job twice", {**TUTORIAL, **both(ray={"operator": "addon", "jobs": [{"name": "ray-1"}, {"name": "ray-1"}]})}, "ray.jobs[1]", "ray.jobs[0] is the same", "remove it"),
    ("stated quota of cpu below a head", queue({"cpu": 2}), "queues[1].cpu.cpu", "at least 2.5 cores, for the head and submitter of ray-1", "write 3 or more"),
    ("stated quota of memory below a head", queue({"memory": "4Gi"}), "queues[1].cpu.memory", "at least 4608Mi", "write 5Gi or more"),
    ("quota of nothing", queue({"cpu": 0}), "queues[1].cpu.cpu", "at least 2.5 cores", "write 3 or more"),
    ("stated quota below an elastic head", {**queue({"cpu": 2}), "ray": with_ray(1, elastic=True)}, "queues[1].cpu.cpu", "at least 3 cores, for the head, submitter and Ray's autoscaler of ray-2", "write 3 or more"),
    ("nodes with too little cpu for a head", nodes("e2-standard-2", 2), "cluster.defaultPool.machineType", "2.5 cores and 4608 MiB (ray-1, ray-2); one has 1.33 cores", "write e2-standard-4"),
    ("nodes with too little memory for a head", nodes("e2-highcpu-4", 2), "cluster.defaultPool.machineType", "2.5 cores and 4608 MiB", "write e2-standard-4"),
    ("nodes too few for head and controllers", {**nodes("e2-standard-4"), "cluster": {"name": "c", "defaultPool": {"machineType": "e2-standard-4", "nodes": 1, "zones": ["us-central1-a"]}}}, "cluster.defaultPool.machineType", "beside the controllers", "write e2-standard-8"),
    ("head with more cpu than a node", job(head=head(cpu=8)), "ray.jobs[0].head.cpu", "at most 7, what a node of e2-standard-8", "make the head smaller"),
    ("head with more memory than a node", job(head=head(memory="40Gi")), "ray.jobs[0].head.memory", "Mi, what a node of e2-standard-8", "make the head smaller"),
    ("head with more cpu than is left beside controllers", {**job(head=head(cpu=7)), "cluster": {"name": "c", "defaultPool": {"machineType": "e2-standard-8", "nodes": 1, "zones": ["us-central1-a"]}}}, "ray.jobs[0].head.cpu", "need 7.5 cores, and the nodes have 6", "make the head smaller"),
    ("head of no cpu", job(head=head(cpu=0)), "ray.jobs[0].head.cpu", "from 1 to 1000", "write 1 or more"),
    ("head with more cpu than a node, and memory left open", job(head={"cpu": 8}), "ray.jobs[0].head.cpu", "at most 7", "make the head smaller"),
    ("worker with more cpu than a host", job(worker={"cpu": 180, "memory": "16Gi"}), "ray.jobs[0].worker.cpu", "a host of ct6e-standard-4t has left", "or less"),
    ("worker with more memory than a host", job(worker={"cpu": 8, "memory": "720Gi"}), "ray.jobs[0].worker.memory", "a host of ct6e-standard-4t has left", "Gi or less"),
    ("elastic with the gate off", {**job(elastic=True), "kueue": GATE_OFF}, f"kueue.featureGates.{ELASTIC_JOBS}", "autoscaling of ray.jobs[0].elastic", "write true, or remove"),
    ("two elastic jobs with the gate off", {**TUTORIAL, **both(ray={"operator": "addon", "jobs": [{"name": n, "elastic": True} for n in "ab"]}), "kueue": GATE_OFF}, f"kueue.featureGates.{ELASTIC_JOBS}", "ray.jobs[1].elastic", "write true, or remove"),
    ("most slices without elastic", job(maxSlices=2), "ray.jobs[0].maxSlices", "slices, 1: only an elastic job grows", "add `elastic: true`"),
    ("most slices above a flavor", job(elastic=True, maxSlices=2), "ray.jobs[0].maxSlices", "at most 1: a job runs on one flavor", "write 1"),
    ("most slices below the slices", {**TUTORIAL, **both(slices=with_slice(1, pools=["p1", "p2"]), ray=with_ray(elastic=True, slices=2, maxSlices=1))}, "ray.jobs[0].maxSlices", "at least slices, 2", "write 2 or more"),
    ("no most slices", job(elastic=True, maxSlices=0), "ray.jobs[0].maxSlices", "from 1 to 256", "write 1 or more"),
    ("slices above a flavor", job(slices=2), "ray.jobs[0].slices", "the flavors have on-demand 1, dws 1", "list more pools"),
    ("slices of an elastic job above a flavor", job(slices=2, maxSlices=3, elastic=True), "ray.jobs[0].slices", "at most 1", "list more pools"),
    ("slices above a quota", {**TUTORIAL, **both(slices=with_slice(1, pools=["p1", "p2"], quota=16), ray=with_ray(slices=2))}, "ray.jobs[0].slices", "on-demand 1, dws 1", "write 1"),
    ("quota below a slice", {**TUTORIAL, **both(slices=with_slice(1, quota=8))}, "slices[1].quota", "at least one slice, 16 chips", "write 16"),
    ("queue without cpu", job(queue="multislice-queue"), "ray.jobs[0].queue", "a queue with a cpu flavor, which offers nodes for Ray's head: user-queue", "write user-queue"),
    ("no queue with cpu, and none named", without_cpu(), "queues", "a cpu flavor in the queue of the Ray jobs", "add `cpu: {}`"),
    ("no queue with cpu, and one named", without_cpu("user-queue", "user-queue"), "queues[1].cpu", "the heads of Ray jobs", "add `cpu: {}`"),
    ("the only queue has no cpu", {**TUTORIAL, "ray": BOTH["ray"], "queues": [{}]}, "queues[0].cpu", "the heads of Ray jobs", "add `cpu: {}`"),
    ("unknown queue", job(queue="user-queu"), "ray.jobs[0].queue", "a queue with a cpu flavor, for Ray's head: user-queue", "write user-queue"),
    ("unknown queue in two jobs", {**TUTORIAL, **both(ray={"operator": "addon", "jobs": [{"name": n, "queue": "zzz"} for n in "ab"]})}, "ray.jobs[0].queue", "ray.jobs[1].queue too", "remove it"),
    ("queue with two shapes", {**TUTORIAL, **both(slices=with_slice(2, topology="2x4"))}, "ray.jobs[0].flavor", "a flavor of queue user-queue, which has several shapes: on-demand ct6e-standard-4t 4x4, dws ct6e-standard-4t 2x4 (ray.jobs[1].flavor too)", "write on-demand"),
    ("two queues that would do", {**TUTORIAL, **both(queues=[{**FIRST, "cpu": {}}, {**SECOND, "cpu": {"flavor": "b"}}])}, "queues[1].cpu", "one cpu flavor in all queues", "remove one"),
    ("waits for nobody", job(1, after=["ray-0"]), "ray.jobs[1].after[0]", "an earlier Ray job of the list", "write ray-1"),
    ("waits for itself", job(1, after=["ray-2"]), "ray.jobs[1].after[0]", "an earlier Ray job of the list", "cannot wait for itself"),
    ("waits for a later one", {**TUTORIAL, **both(ray={"operator": "addon", "jobs": [{"name": "ray-1", "after": ["ray-2"]}, {"name": "ray-2"}]})}, "ray.jobs[0].after[0]", "an earlier Ray job of the list", "move this job behind it"),
    ("waits twice", job(1, after=["ray-1", "ray-1"]), "ray.jobs[1].after[1]", "only once", "remove it"),
    ("waits for a multislice job", job(1, after=["multislice-3slice"]), "ray.jobs[1].after[0]", "an earlier Ray job of the list", "remove it"),
    ("requirement without a version", job(requirements=["pandas"]), "ray.jobs[0].requirements[0]", "a pinned requirement", "write pandas==VERSION"),
    ("requirement of many versions", job(requirements=["jax[tpu]>=0.4"]), "ray.jobs[0].requirements[0]", "a pinned requirement", "write jax[tpu]==VERSION"),
    ("requirement of nothing", job(requirements=[""]), "ray.jobs[0].requirements[0]", "a pinned requirement", "pin it"),
    ("requirement that is a number", job(requirements=[2.0]), "ray.jobs[0].requirements[0]", "text", "in quotes"),
    ("no image", job(image=""), "ray.jobs[0].image", "an exact tag", "write a value, like us-docker.pkg.dev"),
    ("image that is none", job(image="not an image!!"), "ray.jobs[0].image", "an exact tag", "like us-docker.pkg.dev"),
    ("Ray's image that moves", job(image="rayproject/ray:latest"), "ray.jobs[0].image", "an exact tag", "like us-docker.pkg.dev"),
    ("Ray's image without a tag", job(image="rayproject/ray"), "ray.jobs[0].image", "an exact tag", "like us-docker.pkg.dev"),
    ("requirement of two versions", job(requirements=["jax==0.10.2", "JAX[tpu]==0.10.1"]), "ray.jobs[0].requirements[1]", "one version of jax: ray.jobs[0].requirements[0] pins 0.10.2", "remove one"),
    ("requirement by an address", job(requirements=["git+https://x/y"]), "ray.jobs[0].requirements[0]", "a pinned requirement", "by its name in the package index: NAME==VERSION"),
    ("requirement by a name and an address", job(requirements=["jax @ https://x/y.whl"]), "ray.jobs[0].requirements[0]", "a pinned requirement", "write jax==VERSION"),
    ("no such operator", {**TUTORIAL, **both(ray={**BOTH["ray"], "operator": "Addon"})}, "ray.operator", "one of addon, helm", "write addon"),
    ("KubeRay's chart that is not there", {**TUTORIAL, **both(ray={**BOTH["ray"], "operator": "helm"}), "charts": {"kuberay": "no/where"}}, "charts.kuberay", "Chart.yaml", "correct the path"),
    ("nodes of TPUs", nodes("ct6e-standard-4t"), "cluster.defaultPool.machineType", "without TPUs", "e2-standard-4"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def test_of_a_pods_room_one_part_may_be_stated() -> None:
    worker = plan_with(**both(ray=with_ray(worker={"memory": "64Gi"}))).of(RayJobPlan)[0].worker
    assert (worker.millicores, worker.mib) == (8000, 64 * 1024)
    head = plan_with(**both(ray=with_ray(head={"cpu": 3}))).of(RayJobPlan)[0].head
    assert (head.millicores, head.mib) == (3000, 4096)


def test_a_stated_quota_that_is_too_small_in_both_is_told_of_both() -> None:
    assert [problem.path for problem in problems_in(queue({"cpu": 1, "memory": "1Gi"}))] == [
        "queues[1].cpu.cpu",
        "queues[1].cpu.memory",
    ]


def test_what_the_nodes_need_is_what_the_remedy_says() -> None:
    """The machine that the fault names is taken."""
    fix = only_problem(nodes("e2-standard-2", 2)).fix
    machine = fix.removeprefix("write ").split(",")[0]
    assert len(plan_with(**nodes(machine, 2)).of(RayJobPlan)) == 2


def test_a_stated_quota_replaces_what_is_computed_from_the_nodes() -> None:
    plan = plan_with(**{**nodes("x9-standard-2"), "queues": queue({"cpu": 3, "memory": "5Gi"})["queues"]})
    assert [job.queue for job in plan.of(RayJobPlan)] == ["user-queue", "user-queue"]


def test_an_elastic_job_may_grow_to_what_its_largest_flavor_holds() -> None:
    values = both(slices=with_slice(1, pools=["p1", "p2"]), ray=with_ray(elastic=True, maxSlices=2))
    assert plan_with(**values).of(RayJobPlan)[0].max_slices == 2


def test_a_stack_without_ray_needs_no_cpu_flavor() -> None:
    assert plan_with(queues=[{}], ray={"jobs": []}).of(RayJobPlan) == ()
