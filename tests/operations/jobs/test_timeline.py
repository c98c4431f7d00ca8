"""The timeline and its promises, from objects as the API server gives them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from operations.jobs.expectations import expectations_of, expected_flavor, overlap, own_pools, waited_for
from operations.jobs.job_logs import LogSummary, log_summary
from operations.jobs.timeline import Node, Request, job_line, log_table, merged, table
from settings.plan.jobs import JobSetPlan, SliceJob
from settings.plan.ray_jobs import RayJobPlan
from settings.schema.teams import PreemptionSection
from tests.support.platforms import AUTOPILOT, both, plan_with, with_slice
from workloads.kinds import KINDS
from workloads.status import moment

pytestmark = pytest.mark.unit


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02d}Z"


def true(kind: str, second: int) -> dict:
    return {"type": kind, "status": "True", "lastTransitionTime": at(second)}


NODES = {f"node-{pool}": Node(pool, moment(at(0))) for pool in ("p1", "p2", "p3", "default-pool")}
NODES |= {
    "node-on-demand-pool": Node("on-demand-pool", moment(at(3))),
    "node-dws-pool": Node("dws-pool", moment(at(8))),
}


def line(
    name: str, slices: dict[int, list[str]], queued: int, admitted: int | None, finished: int | None, ok: bool = True
):
    """A job whose slice i has one pod on each of the named pools."""
    end = [] if finished is None else [true("Completed" if ok else "Failed", finished)]
    jobset = {
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [{"replicas": len(slices)}]},
        "status": {"conditions": end},
    }
    conditions = [] if admitted is None else [true("Admitted", admitted)]
    workload = {"metadata": {"creationTimestamp": at(queued)}, "status": {"conditions": conditions}}
    over = {} if finished is None else {"containerStatuses": [{"state": {"terminated": {"finishedAt": at(finished)}}}]}
    pods = [
        {
            "metadata": {"labels": {"jobset.sigs.k8s.io/job-index": str(i)}},
            "spec": {"nodeName": f"node-{pool}"},
            "status": over,
        }
        for i, pools in slices.items()
        for pool in pools
    ]
    return job_line(KINDS[JobSetPlan], jobset, workload, pods, NODES, None)


def ray(name: str, flavor: str, pool: str, reserved: int, admitted: int, request: Request | None = None):
    """A finished Ray job with four workers on one pool and its head on the default pool."""
    job = {
        "metadata": {"name": name},
        "spec": {"rayClusterSpec": {"workerGroupSpecs": [{"replicas": 1}]}},
        "status": {"jobDeploymentStatus": "Complete", "jobStatus": "SUCCEEDED", "endTime": at(30)},
    }
    workload = {
        "metadata": {"creationTimestamp": at(1)},
        "status": {
            "conditions": [true("QuotaReserved", reserved), true("Admitted", admitted)],
            "admission": {
                "podSetAssignments": [{"flavors": {"cpu": "default-cpu"}}, {"flavors": {"google.com/tpu": flavor}}]
            },
        },
    }
    workers = [{"metadata": {"labels": {"ray.io/node-type": "worker"}}, "spec": {"nodeName": f"node-{pool}"}}] * 4
    head = {"metadata": {"labels": {"ray.io/node-type": "head"}}, "spec": {"nodeName": "node-default-pool"}}
    return job_line(KINDS[RayJobPlan], job, workload, [*workers, head], NODES, request)


def as_promised():
    return [
        line("three", {0: ["p1", "p1"], 1: ["p2", "p2"], 2: ["p3", "p3"]}, 0, 0, 10),
        line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 10, 20),
        line("one", {0: ["p3", "p3"]}, 1, 10, 20),
    ]


def tutorial_a():
    jobs = [
        {"name": "three", "slices": 3},
        {"name": "two", "slices": 2, "after": ["three"]},
        {"name": "one", "slices": 1, "after": ["three"]},
    ]
    return plan_with(workloads=jobs)


def tutorial_b():
    return plan_with(**both(workloads=[]))


ASKED = Request("ray-2-dws-prov-1", (4,), "Provisioned")


def ray_as_promised():
    return [ray("ray-1", "on-demand", "on-demand-pool", 2, 2), ray("ray-2", "dws", "dws-pool", 4, 9, ASKED)]


def test_all_promises_hold_when_the_tutorial_happens_as_promised():
    made = expectations_of(tutorial_a(), as_promised())
    assert [promise.text for promise in made if promise.held is not True] == []
    assert len(made) == 9


@pytest.mark.parametrize(
    ("broken", "text"),
    [
        (
            lambda: line("two", {0: ["p1", "p1"], 1: ["p1", "p1"]}, 1, 10, 20),
            "two: each of its 2 slices had a pool of its own",
        ),
        (
            lambda: line("two", {0: ["p1", "p2"], 1: ["p3", "p3"]}, 1, 10, 20),
            "two: each of its 2 slices had a pool of its own",
        ),
        (
            lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 5, 20),
            "two waited until three had given back 2 of its slices",
        ),
        (lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 21, 30), "one and two ran together"),
        (lambda: line("two", {0: ["p1", "p1"], 1: ["p2", "p2"]}, 1, 10, 20, ok=False), "two succeeded"),
    ],
)
def test_a_broken_promise_is_named(broken, text):
    three, _, one = as_promised()
    made = expectations_of(tutorial_a(), [three, broken(), one])
    assert [promise.text for promise in made if promise.held is not True] == [text]


@pytest.mark.parametrize("change", [{"cohort": "teams"}, {"preemption": PreemptionSection()}])
def test_no_turn_is_promised_where_more_than_the_order_decides(change):
    """In a cohort a job may get what others leave idle, and where there is preemption it may come out of turn."""
    plan = tutorial_a()
    open_ = replace(plan, queues=(replace(plan.queues[0], **change),))
    texts = [promise.text for promise in expectations_of(open_, as_promised())]
    assert texts == [promise.text for promise in expectations_of(plan, as_promised())][:6]
    assert not [text for text in texts if "waited" in text or "together" in text]


def test_no_turn_is_promised_where_a_ray_job_may_take_the_same_slices():
    """Ray's own jobs have no other promise than their flavor, so that nothing else says when they take theirs."""

    def turns(flavor: str) -> list[str]:
        ray_job = replace(
            tutorial_b().of(RayJobPlan)[0], queue=plan.queues[0].local_queue, flavors=(flavor,), system_pool=None
        )
        beside = replace(plan, jobs=(*plan.of(SliceJob), ray_job))
        made = expectations_of(beside, [*as_promised(), replace(ray("ray-1", "x", "p1", 2, 2), expected="")])
        return [promise.text for promise in made if "waited" in promise.text or "together" in promise.text]

    plan = tutorial_a()
    assert turns(plan.jobs[0].flavors[0]) == []
    assert len(turns("another")) == 3


def test_a_job_that_was_never_admitted_keeps_no_promise_of_order():
    waiting = line("two", {}, 1, None, None)
    three, _, one = as_promised()
    assert not waited_for(waiting, three, 1)
    assert not waited_for(one, waiting, 1)
    assert not overlap(waiting, one)
    assert not own_pools(waiting)


def test_times_are_told_from_the_first_queueing():
    rows = table(as_promised()).splitlines()
    assert rows[0].split() == ["job", "slices", "pools", "queued", "quota", "nodes", "admitted", "finished"]
    assert rows[2].split() == ["two", "2", "p1,", "p2", "1", "s", "-", "0", "s", "10", "s", "20", "s"]


def test_the_queue_says_why_a_job_waits():
    reserved = {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota"}
    jobset = {"metadata": {"name": "two"}, "spec": {"replicatedJobs": [{"replicas": 2}]}}
    workload = {"metadata": {"creationTimestamp": at(0)}, "status": {"conditions": [reserved]}}
    assert job_line(KINDS[JobSetPlan], jobset, workload, [], {}, None).note == "insufficient unused quota"


def test_plans_have_letters_however_many_there_are():
    plan = tutorial_b()
    shared, queue = plan.queues
    flavors = tuple(replace(queue.flavors[-1], name=f"f{i}", check=None) for i in range(28))
    plan = replace(
        plan, queues=(shared, replace(queue, flavors=flavors)), jobs=(*plan.of(SliceJob), *plan.of(RayJobPlan)[:1])
    )
    for i, letters in ((0, "A"), (8, "I"), (25, "Z"), (26, "AA"), (27, "AB")):
        ran = replace(ray("ray-1", f"f{i}", "dws-pool", 2, 2), expected=f"f{i}")
        texts = [promise.text for promise in expectations_of(plan, [ran])]
        assert f"ray-1 ran by Plan {letters}: flavor f{i}, on dws-pool" in texts


def test_plan_a_and_plan_b_are_promises():
    made = expectations_of(tutorial_b(), ray_as_promised())
    assert [promise.text for promise in made if promise.held is not True] == []
    assert len(made) == 11


@pytest.mark.parametrize(
    ("broken", "texts"),
    [
        (
            lambda: ray("ray-2", "on-demand", "on-demand-pool", 1, 9, ASKED),
            ["ray-2 ran by Plan B: flavor dws, on dws-pool"],
        ),
        (
            lambda: ray("ray-2", "dws", "dws-pool", 4, 9, Request("r", (4, 1), "Provisioned")),
            ["ray-2: one ProvisioningRequest asked for its 4 pods, in one pod set"],
        ),
        (
            lambda: ray("ray-2", "dws", "dws-pool", 9, 9, ASKED),
            ["ray-2: the nodes came when it had its quota, not before"],
        ),
    ],
)
def test_a_broken_plan_b_is_named(broken, texts):
    first, _ = ray_as_promised()
    made = expectations_of(tutorial_b(), [first, broken()])
    assert [promise.text for promise in made if promise.held is not True] == texts


def test_where_the_order_leaves_it_open_no_flavor_is_promised():
    plan = plan_with(**both(workloads=[], ray={"operator": "addon", "jobs": [{"name": "ray-1"}, {"name": "ray-2"}]}))
    assert [expected_flavor(plan, job) for job in plan.of(RayJobPlan)] == [None, None]


def test_in_a_cohort_no_flavor_is_promised():
    team = {"name": "team-a", "cpu": {}, "flavors": {"on-demand": {"chips": 16}}}
    ray_jobs = {"operator": "addon", "jobs": [{"name": "ray-a", "team": "team-a"}, {"name": "ray-1"}]}
    plan = plan_with(**both(workloads=[], teams=[team], ray=ray_jobs))
    promised = {job.name: expected_flavor(plan, job) for job in plan.of(RayJobPlan)}
    assert promised["ray-a"] is None
    assert promised["ray-1"] is not None and promised["ray-1"].name == "dws"


def test_a_third_job_has_no_flavor_to_fall_to():
    jobs = [{"name": "ray-1"}, {"name": "ray-2", "after": ["ray-1"]}, {"name": "ray-3", "after": ["ray-2"]}]
    plan = plan_with(**both(workloads=[], ray={"operator": "addon", "jobs": jobs}))
    names = [flavor.name if (flavor := expected_flavor(plan, job)) else None for job in plan.of(RayJobPlan)]
    assert names == ["on-demand", "dws", None]


def test_what_the_cluster_forgets_is_kept():
    before = ray("ray-2", "dws", "dws-pool", 4, 9, ASKED)
    gone = job_line(
        KINDS[RayJobPlan],
        {**_bare_ray_job(), "status": {"jobDeploymentStatus": "Complete", "endTime": at(40)}},
        None,
        [],
        {},
        None,
    )
    kept = merged(before, gone)
    assert (kept.pools, kept.head, kept.nodes, kept.request) == (["dws-pool"], "default-pool", moment(at(8)), ASKED)
    assert kept.finished == moment(at(40))


def test_the_ends_of_slices_are_kept_when_their_nodes_are_taken_away():
    three, two, one = as_promised()
    one_left = replace(three, slice_ends=three.slice_ends[:1])
    kept = merged(three, one_left)
    assert kept.slice_ends == three.slice_ends and waited_for(two, kept, 2)
    unseen = expectations_of(tutorial_a(), [one_left, two, one])
    assert [(promise.text, promise.held) for promise in unseen if promise.held is not True] == [
        ("two waited until three had given back 2 of its slices", None)
    ]
    restarted = replace(three, finished=None, slice_ends=())
    assert merged(three, restarted).slice_ends == (), "a restarted job's slices have not ended"


def _bare_ray_job():
    return {"metadata": {"name": "ray-2"}, "spec": {"rayClusterSpec": {"workerGroupSpecs": [{"replicas": 1}]}}}


def test_jobs_that_never_met_promise_each_other_nothing():
    three, two, _ = as_promised()
    anew = line("one", {0: ["p3", "p3"]}, 40, 40, 50)
    made = expectations_of(tutorial_a(), [three, two, anew])
    assert [promise.text for promise in made if promise.held is not True] == []
    assert not any("together" in promise.text for promise in made)
    first, second = ray_as_promised()
    later = replace(
        second,
        queued=moment(at(40)),
        admitted=moment(at(41)),
        finished=moment(at(50)),
        flavors=frozenset({"on-demand"}),
    )
    assert [promise.text for promise in expectations_of(tutorial_b(), [first, later]) if promise.held is not True] == []


def unseen(name: str, flavor: str):
    """A Ray job that succeeded while nothing followed it: its pods and their nodes are gone, its Workload is there."""
    return replace(ray(name, flavor, "dws-pool", 4, 9, ASKED), slices={}, head=None, nodes=None)


def test_what_nobody_saw_is_not_broken():
    first, _ = ray_as_promised()
    made = expectations_of(tutorial_b(), [first, unseen("ray-2", "dws")])
    assert [promise.text for promise in made if promise.held is False] == []
    assert [promise.text for promise in made if promise.held is None] == [
        "ray-2: its slice had a pool of its own",
        "ray-2: Ray's head ran on default-pool",
        "ray-2 ran by Plan B: flavor dws, on dws-pool",
        "ray-2: the nodes came when it had its quota, not before",
    ]


def test_a_request_that_nobody_saw_is_not_broken_unless_its_job_failed():
    first, second = ray_as_promised()
    text = "ray-2: one ProvisioningRequest asked for its 4 pods, in one pod set"
    gone = replace(second, request=None)
    for row, held in ((gone, None), (replace(gone, succeeded=False), False), (second, True)):
        assert {promise.text: promise.held for promise in expectations_of(tutorial_b(), [first, row])}[text] is held


def test_a_wrong_flavor_is_broken_also_unseen():
    first, _ = ray_as_promised()
    made = expectations_of(tutorial_b(), [first, unseen("ray-2", "on-demand")])
    assert [promise.text for promise in made if promise.held is False] == [
        "ray-2 ran by Plan B: flavor dws, on dws-pool"
    ]


def test_a_job_that_failed_unseen_keeps_no_promise_of_place():
    first, _ = ray_as_promised()
    failed = replace(unseen("ray-2", "dws"), succeeded=False)
    made = {promise.text: promise.held for promise in expectations_of(tutorial_b(), [first, failed])}
    assert made["ray-2: its slice had a pool of its own"] is False


def test_a_job_that_fell_back_to_plan_a_breaks_one_promise_only():
    first, _ = ray_as_promised()
    # Its nodes are those of the job before it: older than its quota.
    back = ray("ray-2", "on-demand", "on-demand-pool", 20, 20, ASKED)
    made = expectations_of(tutorial_b(), [first, back])
    assert [promise.text for promise in made if promise.held is False] == [
        "ray-2 ran by Plan B: flavor dws, on dws-pool"
    ]


def test_where_google_names_the_pools_none_is_promised():
    """On Autopilot: a job ran by its flavor, on whatever pool came for it."""
    queues = [{"flavors": ["vlp-24"], "cpu": {"cpu": 8, "memory": "32Gi"}}]
    jobs = {"operator": "addon", "jobs": [{"name": "ray-1"}]}
    plan = plan_with(**{**AUTOPILOT, "queues": queues, "ray": jobs, "workloads": []})
    ran = ray("ray-1", "vlp-24", "p1", 2, 2)
    assert [(promise.text, promise.held) for promise in expectations_of(plan, [ran])] == [
        ("ray-1 succeeded", True),
        ("ray-1: its slice had a pool of its own", True),
        ("ray-1 ran by Plan A: flavor vlp-24", True),
    ]
    assert not expectations_of(plan, [replace(ran, flavors=frozenset())])[-1].held


def test_a_job_is_judged_by_the_plan_that_it_was_first_seen_under():
    jobs = {"operator": "addon", "jobs": [{"name": "ray-1"}, {"name": "ray-2", "after": ["ray-1"]}]}
    plan = plan_with(**both(workloads=[], ray=jobs, slices=with_slice(1, pools=["on-demand-pool", "second-pool"])))
    first, second = ray_as_promised()
    broken = [promise.text for promise in expectations_of(plan, [first, second]) if promise.held is False]
    assert broken == ["ray-2 ran by Plan A: flavor on-demand, on on-demand-pool or second-pool"]
    seen_before = replace(second, expected="dws")
    assert [promise.text for promise in expectations_of(plan, [first, seen_before]) if promise.held is False] == []
    assert merged(seen_before, second).expected == "dws"


# -- what the programs say --------------------------------------------------------------------------------------------

STEPS = 'Global device count: 24\n{"step": 1, "loss": 5.5}\n{"step": 2, "loss": 4.0}\n{"step": 3, "lo'
PLAYED = "pod default/one-0 is simulated: the rehearsal runs no program for its image\n"


def test_what_the_logs_of_all_pods_say():
    found = log_summary([STEPS, "Global device count: 24\n", "Training Complete!\n"])
    assert found == LogSummary((24, 24), (5.5, 4.0), True)
    assert log_summary([PLAYED, PLAYED]) is None
    assert log_summary([]) is None


def test_a_program_that_says_nothing_is_not_one_that_is_played():
    assert log_summary([PLAYED, ""]) == LogSummary()


def test_ray_sets_a_prefix_before_its_workers_lines():
    told = (
        "(RayTrainWorker pid=7) Epoch 0: Loss 9.5\n(RayTrainWorker pid=7) Epoch 49: Loss 0.25\n(x) Training Complete!"
    )
    assert log_summary([told]) == LogSummary((), (9.5, 0.25), True)


def test_what_ray_tells_once_for_several_workers_counts_for_each_of_them():
    """Ray's colours are in the log too."""
    first = "\x1b[36m(RayTrainWorker pid=7, ip=10.0.0.2)\x1b[0m Global device count: 16\n"
    others = "\x1b[36m(RayTrainWorker pid=9, ip=10.0.0.3)\x1b[0m Global device count: 16\x1b[32m [repeated 3x across cluster]\x1b[0m\n"
    assert log_summary([first + others]) == LogSummary((16,) * 4)
    assert log_summary([first + others.replace(" [repeated 3x across cluster]", "")]) == LogSummary((16, 16))
    assert log_summary(["other words [repeated 3x across cluster]\n"]) == LogSummary()


def told(plan, **by_name):
    """The promises about what was said, by job."""
    rows = [replace(row, log_summary=by_name.get(row.name)) for row in as_promised()]
    return {
        promise.text: promise.held
        for promise in expectations_of(plan, rows)
        if "counted" in promise.text or "trained" in promise.text
    }


def test_every_process_must_have_counted_all_chips():
    counted = "three: each of its 6 processes counted 24 devices"
    assert told(tutorial_a(), three=LogSummary((24,) * 6)) == {counted: True}
    for wrong in ((24,) * 5, (24,) * 5 + (8,), ()):
        assert told(tutorial_a(), three=LogSummary(wrong)) == {counted: False}
    assert told(tutorial_a()) == {}


@pytest.mark.parametrize(
    ("losses", "complete", "held"), [((5.0, 4.0), True, True), ((5.0, 4.0), False, False), ((4.0, 4.0), True, False)]
)
def test_what_trains_gets_better_and_comes_to_its_end(losses, complete, held):
    found = told(tutorial_a(), three=LogSummary((24,) * 6, losses, complete))
    assert found["three trained to its end, and its loss fell"] is held


def test_the_table_of_what_was_said_has_the_jobs_that_ran():
    rows = as_promised()
    assert log_table(rows) == ""
    shown = log_table([replace(rows[0], log_summary=LogSummary((24,) * 6, (5.5, 4.0), True)), *rows[1:]])
    assert shown.splitlines()[1].split() == [
        "three",
        "24,",
        "by",
        "6",
        "processes",
        "5.5",
        "->",
        "4",
        "Training",
        "Complete!",
    ]
