"""Ray jobs that say on which flavors they run: refused where their workers could not be made for each, or their queue has not
what they name."""

from __future__ import annotations

from typing import Any

import pytest

from operations.jobs.expectations import expected_flavor
from settings.catalogue.labels import ACCELERATOR_LABEL, FLAVOR_LABEL, NODEPOOL_LABEL, TOPOLOGY_LABEL
from settings.load import plan_from
from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from tests.support.generations import GENERATIONS, QUEUES, SLICES
from tests.support.platforms import as_config
from tests.support.problems import NOWHERE, each, is_the_only_problem
from workloads.rayjob.manifest import ray_job

pytestmark = pytest.mark.unit

APART = [
    {**QUEUES[0], "flavors": ["reserved", "spot", "small"], "cpu": {}},
    {"clusterQueue": "b", "localQueue": "other", "flavors": ["v6e", "dws", "v5p", "tpu7"]},
]
TEAM = {"name": "team-a", "cpu": {}, "flavors": {"v6e": {"chips": 16}, "v5p": {"chips": 32}}}
V6E = {ACCELERATOR_LABEL: "tpu-v6e-slice", TOPOLOGY_LABEL: "4x4"}


def with_jobs(*jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Ray jobs in a queue of several generations and kinds of capacity."""
    named = [{"name": f"ray-{n}", **job} for n, job in enumerate(jobs, start=1)]
    cluster = {"name": "tpu-cluster", "defaultPool": {"machineType": "e2-standard-16"}}
    queues = [{**QUEUES[0], "cpu": {}}]
    return {**GENERATIONS, "cluster": cluster, "queues": queues, "ray": {"operator": "addon", "jobs": named}, **more}


def of(*flavors: str, **more: Any) -> dict[str, Any]:
    return with_jobs({"flavors": list(flavors), **more})


def two_pools_each(*jobs: dict[str, Any]) -> dict[str, Any]:
    """Two slices of v6e on demand, and two by queued provisioning."""
    return with_jobs(*jobs, slices=[*SLICES[:2], {**SLICES[2], "pools": ["v6e-1", "v6e-2"]}, *SLICES[3:]])


def on_autopilot(*flavors: str) -> dict[str, Any]:
    plain = {key: value for key, value in SLICES[2].items() if key not in ("pools", "autoscaling")}
    slices = [{**plain, "count": 1}, {**plain, "flavor": "v6e-spot", "capacity": "spot", "count": 1}]
    queue = {**QUEUES[0], "flavors": ["v6e", "v6e-spot"], "cpu": {"cpu": 8, "memory": "32Gi"}}
    cluster = {"name": "auto", "mode": "autopilot"}
    return with_jobs({"flavors": list(flavors)}, cluster=cluster, slices=slices, queues=[queue])


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("Ray job that leaves the shape open", with_jobs({}), "ray.jobs[0].flavor", "a flavor of queue training, which has several shapes: reserved ct5lp-hightpu-4t 4x4, spot", "write reserved: any flavor of its shape will do"),
    ("Ray job with one flavor and a list of them", of("v6e", flavor="v6e"), "ray.jobs[0].flavor", "not set, because `flavors` lists all", "remove the key"),
    ("Ray job with an empty list of flavors", of(), "ray.jobs[0].flavors", "at least one of the flavors of queue training: reserved, spot", "write [reserved]"),
    ("Ray job with a list of flavors that is a name", with_jobs({"flavors": "v6e"}), "ray.jobs[0].flavors", "a list", "write [v6e]"),
    ("Ray job with an unknown flavor", with_jobs({"flavor": "v6"}), "ray.jobs[0].flavor", "a flavor in slices", "write v6e"),
    ("Ray job with an unknown flavor in a list", of("v6e", "dwss"), "ray.jobs[0].flavors[1]", "a flavor in slices", "write dws"),
    ("Ray job with a flavor twice", of("v6e", "dws", "v6e"), "ray.jobs[0].flavors[2]", "only once", "remove it"),
    ("Ray job with a flavor of another queue", with_jobs({"flavor": "v6e"}, queues=APART), "ray.jobs[0].flavor", "a flavor of queue training: reserved, spot, small", "write reserved, or add v6e to queue training"),
    ("Ray job with a flavor of another queue in a list", with_jobs({"flavors": ["reserved", "v5p"]}, queues=APART), "ray.jobs[0].flavors[1]", "a flavor of queue training", "add v5p to queue training"),
    ("Ray job with a flavor that its team has no part of", with_jobs({"flavor": "spot", "team": "team-a"}, teams=[TEAM]), "ray.jobs[0].flavor", "a flavor of team team-a: v6e, v5p", "write v6e, or add spot to team team-a"),
    ("Ray job of a team whose flavor is unknown", with_jobs({"flavor": "v6e", "team": "team-a"}, teams=[{**TEAM, "flavors": {"v6": {"chips": 16}}}]), "teams[0].flavors.v6", "a flavor in slices", "call it v6e"),
    ("Ray job of a queue without flavors", with_jobs({"flavors": ["v6e"]}, queues=[{**APART[0], "flavors": []}, {**APART[1], "flavors": QUEUES[0]["flavors"]}]), "queues[0].flavors", "at least one flavor", "write [reserved]"),
    ("Ray job with flavors in another order", of("dws", "v6e"), "ray.jobs[0].flavors", "the order in which queue training tries them: v6e, dws", "write [v6e, dws]"),
    ("Ray job on several generations", of("reserved", "spot", "v6e", "v5p"), "ray.jobs[0].flavors", "flavors of one shape, for which a Ray job's workers are made; these have reserved ct5lp-hightpu-4t 4x4, spot ct5lp-hightpu-4t 4x4, v6e ct6e-standard-4t 4x4", "remove v6e, v5p: a job on different slices is another job"),
    ("Ray job on several topologies", of("reserved", "small"), "ray.jobs[0].flavors", "small ct5lp-hightpu-4t 2x4", "remove small"),
    ("more slices of a Ray job than its flavors have", of("v6e", "dws", slices=2), "ray.jobs[0].slices", "the flavors have v6e 1, dws 1", "write 1"),
    ("worker of a Ray job larger than its flavor's hosts", of("v5p", worker={"memory": "500Gi"}), "ray.jobs[0].worker.memory", "a host of ct5p-hightpu-4t has left", "or less"),
    ("several slices of a Ray job on a queued flavor", two_pools_each({"flavors": ["v6e", "dws"], "slices": 2}), "ray.jobs[0].flavors", "without dws: dws has the same shape, quota for 2 slices and is queued", "`flavors: [v6e]`"),
    ("several slices of a Ray job of a shape that is queued too", two_pools_each({"flavor": "v6e", "slices": 2}), "ray.jobs[0].flavor", "without dws", "`flavors: [v6e]`"),
    ("Ray job of a queued flavor that does not grow", of("dws", maxSlices=2), "ray.jobs[0].maxSlices", "only an elastic job grows", "add `elastic: true`"),
    ("Ray job that grows on a queued flavor", two_pools_each({"flavors": ["v6e", "dws"], "elastic": True, "maxSlices": 2}), "ray.jobs[0].flavors", "quota for 2 slices", "`flavors: [v6e]`"),
    ("Ray job of flavors that labels do not tell apart on Autopilot", on_autopilot("v6e"), "ray.jobs[0].flavors", "v6e-spot too, which queue training offers", "add v6e-spot"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def planned(values: dict[str, Any]) -> Plan:
    return plan_from(as_config(values), NOWHERE)


@pytest.mark.parametrize(
    ("job", "flavors", "queued"),
    [
        ({"flavor": "v6e"}, ("v6e", "dws"), True),
        ({"flavor": "dws"}, ("v6e", "dws"), True),
        ({"flavors": ["v6e"]}, ("v6e",), False),
        ({"flavors": ["dws"]}, ("dws",), True),
        ({"flavors": ["reserved", "spot"], "slices": 2}, ("reserved", "spot"), False),
        ({"flavor": "v5p", "slices": 2}, ("v5p",), False),
        ({"flavors": ["tpu7"]}, ("tpu7",), False),
    ],
)
def test_in_a_queue_of_many_shapes_a_job_runs_where_it_says(job, flavors, queued) -> None:
    (made,) = planned(with_jobs(job)).of(RayJobPlan)
    section = next(section for section in SLICES if section["flavor"] == flavors[0])
    assert (made.flavors, made.queued) == (flavors, queued)
    assert (made.shape.machine.name, made.shape.topology) == (section["machineType"], section["topology"])


def test_a_job_of_a_team_of_several_generations_runs_where_it_says() -> None:
    (made,) = planned(with_jobs({"flavor": "v5p", "team": "team-a"}, teams=[TEAM])).of(RayJobPlan)
    assert (made.queue, made.flavors, made.shape.topology) == ("team-a", ("v5p",), "2x2x4")


def worker(job: dict[str, Any]) -> dict[str, Any]:
    (made,) = planned(with_jobs(job)).of(RayJobPlan)
    group = ray_job(made)["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    assert (group["replicas"], group["numOfHosts"]) == (made.slices, made.shape.hosts)
    return dict(group["template"]["spec"])


def test_workers_of_a_job_that_names_one_flavor_ask_for_its_shape() -> None:
    pod = worker({"flavor": "v6e"})
    assert pod["nodeSelector"] == V6E
    assert "affinity" not in pod


def test_workers_of_a_job_that_lists_one_flavor_ask_for_what_tells_it_from_others() -> None:
    assert worker({"flavors": ["v6e"]})["nodeSelector"] == {**V6E, NODEPOOL_LABEL: "v6e-1"}
    assert worker({"flavors": ["dws"]})["nodeSelector"] == {**V6E, FLAVOR_LABEL: "dws"}


def test_workers_of_a_job_that_lists_several_flavors_ask_for_any_of_them() -> None:
    """The shape stays in the node selector, where GKE's webhook for Ray's workers reads the topology."""
    pod = worker({"flavors": ["v6e", "dws"]})
    assert pod["nodeSelector"] == V6E
    affinity = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    terms = [term["matchExpressions"] for term in affinity["nodeSelectorTerms"]]
    assert terms == [
        [{"key": NODEPOOL_LABEL, "operator": "In", "values": ["v6e-1"]}],
        [{"key": FLAVOR_LABEL, "operator": "In", "values": ["dws"]}],
    ]


def promised(values: dict[str, Any]) -> list[str | None]:
    plan = planned(values)
    return [flavor.name if (flavor := expected_flavor(plan, job)) else None for job in plan.of(RayJobPlan)]


@pytest.mark.parametrize(
    ("jobs", "flavors"),
    [
        ([{"flavors": ["dws"]}], ["dws"]),
        ([{"flavor": "v6e"}, {"flavor": "v6e", "after": ["ray-1"]}], ["v6e", "dws"]),
        ([{"flavors": ["v6e"]}, {"flavors": ["v6e"], "after": ["ray-1"]}], ["v6e", None]),
        ([{"flavors": ["dws"]}, {"flavor": "v6e", "after": ["ray-1"]}], ["dws", "v6e"]),
        ([{"flavor": "v6e"}, {"flavors": ["dws"]}], [None, None]),
        ([{"flavor": "v6e"}, {"flavor": "v5p"}], ["v6e", "v5p"]),
        ([{"flavor": "v6e"}, {"flavor": "v5p"}, {"flavors": ["v5p"], "after": ["ray-1"]}], ["v6e", None, None]),
    ],
)
def test_what_is_promised_is_the_first_of_a_jobs_own_flavors(jobs, flavors) -> None:
    assert promised(with_jobs(*jobs)) == flavors


def test_where_a_multislice_job_may_take_its_flavor_none_is_promised() -> None:
    def beside(flavors: list[str]) -> list[str | None]:
        workloads = [{"name": "train", "slices": 1, "flavors": flavors}]
        return promised(with_jobs({"flavors": ["reserved", "spot"]}, workloads=workloads))

    assert beside(["reserved", "v6e"]) == [None]
    assert beside(["v6e"]) == ["reserved"]
