"""Priorities, cohorts and teams that cannot be as they are written: one mistake, one fault, and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from settings.plan.ray_jobs import RayJobPlan
from tests.support.platforms import BOTH, TUTORIAL, both, changed, plan_with
from tests.support.problems import each, is_the_only_problem, problems_in

pytestmark = pytest.mark.unit

A: dict[str, Any] = {"name": "team-a", "flavors": {"vlp-24": {"chips": 8, "borrow": 8}}}
B: dict[str, Any] = {"name": "team-b", "flavors": {"vlp-24": {"chips": 8}}}
COHORT = [{"cohort": "teams"}]
LOW: dict[str, Any] = {"name": "low", "value": 100}
JOB: dict[str, Any] = {"name": "job", "slices": 1}
FIRST, SECOND = BOTH["queues"]


def teams(*more: dict[str, Any], first: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """The tutorial with one team, whose keys are changed, and others; without jobs, if none are stated."""
    return changed(**{"workloads": [], "teams": [{**A, **(first or {})}, *more], **changes})


def part(**keys: Any) -> dict[str, Any]:
    """The team with another part of the flavor."""
    return teams(first={"flavors": {"vlp-24": keys}})


def members(**keys: Any) -> dict[str, Any]:
    return teams(first={"members": keys})


def queue(**keys: Any) -> dict[str, Any]:
    return changed(queues=[keys])


def priorities(*all_: dict[str, Any], **job: Any) -> dict[str, Any]:
    return changed(priorities=list(all_), workloads=[{**JOB, **job}])


RAY_A: dict[str, Any] = {"operator": "addon", "jobs": [{"name": "ray-a", "team": "team-a"}]}


def ray_of(
    team: str | None, cpu: dict[str, Any] | None = None, job: dict[str, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    """The tutorial with one team, of whom the only Ray job is, or of nobody."""
    owner = {"team": team} if team is not None else {}
    ray = {"operator": "addon", "jobs": [{"name": "ray-a", **owner, **(job or {})}]}
    return teams(first={"cpu": cpu} if cpu is not None else {}, ray=ray, **changes)


BORROWING = {"borrowWithinCohort": {"policy": "LowerPriority"}}

CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("unknown priority", priorities(LOW, priority="lo"), "workloads[0].priority", "a priority in priorities: low", "write low"),
    ("priority of none", priorities(priority="low"), "priorities", "the priorities that jobs name: low", "add them"),
    ("priority of a Ray job", {**TUTORIAL, **both(priorities=[LOW], ray={"operator": "addon", "jobs": [{"name": "r", "priority": "hi"}]})}, "ray.jobs[0].priority", "a priority in priorities: low", "add it to priorities"),
    ("priority twice", priorities(LOW, {**LOW, "value": 5}), "priorities[1].name", "priorities[0].name is the same", "rename"),
    ("the same priority again", priorities(LOW, LOW), "priorities[1]", "priorities[0] is the same", "remove it"),
    ("priority of the system", priorities({**LOW, "name": "system-critical"}), "priorities[0].name", "which Kubernetes reserves", "write critical"),
    ("priority above users'", priorities({**LOW, "value": 2_000_000_000}), "priorities[0].value", "to 1000000000", "write 1000000000 or less"),
    ("priority without a value", priorities({"name": "low"}), "priorities[0].value", "must be set", "add `value`"),
    ("priority that is text", priorities({**LOW, "value": "100"}), "priorities[0].value", "a whole number", "write 100, without quotes"),
    ("pods that are text", priorities({**LOW, "pods": "yes"}), "priorities[0].pods", "true or false", "write true, without quotes"),
    ("unknown preemption", queue(preemption={"withinClusterQueue": "Lower"}), "queues[0].preemption.withinClusterQueue", "one of Never, LowerPriority", "write LowerPriority"),
    ("preemption by a misspelt key", queue(preemption={"withinQueue": "Never"}), "queues[0].preemption.withinQueue", "a known key", "write withinClusterQueue"),
    ("reclaiming the newer", queue(preemption={"reclaimWithinCohort": "LowerOrNewerEqualPriority"}), "queues[0].preemption.reclaimWithinCohort", "one of Never, LowerPriority, Any", "write LowerPriority"),
    ("limits without a cohort", queue(limits={"vlp-24": {"borrow": 8}}), "queues[0].cohort", "for limits", "write cohort: teams"),
    ("borrowing without a cohort", queue(preemption={"reclaimWithinCohort": "Any", **BORROWING}), "queues[0].cohort", "for preemption.borrowWithinCohort", "or remove preemption.borrowWithinCohort"),
    ("borrowing without reclaiming", queue(cohort="c", preemption=BORROWING), "queues[0].preemption.reclaimWithinCohort", "LowerPriority or Any", "write Any"),
    ("borrowing with fair sharing", changed(queues=[{"cohort": "c", "preemption": {"reclaimWithinCohort": "Any", **BORROWING}}], kueue={"fairSharing": True}), "queues[0].preemption.borrowWithinCohort", "kueue.fairSharing is true", "write kueue.fairSharing: false"),
    ("borrowing of a team", teams(first={"preemption": {"reclaimWithinCohort": "Any", **BORROWING}}), "teams[0].preemption.borrowWithinCohort", "because the stack has teams", "write kueue.fairSharing: false"),
    ("limit of another queue's flavor", {**TUTORIAL, **both(queues=[{**FIRST, "cohort": "c", "limits": {"dws": {"borrow": 16}}}, SECOND])}, "queues[0].limits.dws", "a flavor of this queue: vlp-24", "remove it"),
    ("limit of half a slice", queue(cohort="c", limits={"vlp-24": {"borrow": 12}}), "queues[0].limits.vlp-24.borrow", "whole slices of 8 chips", "write 8 or 16"),
    ("lending more than there is", queue(cohort="c", limits={"vlp-24": {"lend": 32}}), "queues[0].limits.vlp-24.lend", "at most 24", "write 24"),
    ("limit by a misspelt key", queue(cohort="c", limits={"vlp-24": {"borow": 8}}), "queues[0].limits.vlp-24.borow", "a known key: borrow, lend", "write borrow"),
    ("limit below zero", queue(cohort="c", limits={"vlp-24": {"borrow": -8}}), "queues[0].limits.vlp-24.borrow", "from 0", "write 0 or more"),
    ("limit that is a number", queue(cohort="c", limits={"vlp-24": 8}), "queues[0].limits.vlp-24", "a map of keys", "borrow, lend"),
    ("limits that are a list", queue(cohort="c", limits=["vlp-24"]), "queues[0].limits", "a map of keys", "write names below it, each with its keys, of borrow, lend"),
    ("team twice", teams({**B, "name": "team-a", "namespace": "other"}), "teams[1].name", "teams[0].name is the same", "rename"),
    ("the same team again", teams(A), "teams[1]", "teams[0] is the same", "remove it"),
    ("team named like a queue", teams(first={"name": "cluster-queue"}), "teams[0].name", "queues[0].clusterQueue is the same", "rename"),
    ("two teams of one namespace", teams({**B, "namespace": "team-a"}), "teams[1].namespace", "teams[0].name is the same", "rename one"),
    ("team in a queue's namespace", teams(queues=[{"namespace": "team-a"}]), "teams[0].name", "queues[0].namespace is the same", "rename one"),
    ("team in the system's namespace", teams(first={"namespace": "kube-system"}), "teams[0].namespace", "the system's", "a name of your own"),
    ("team in the default namespace", teams(first={"namespace": "default"}), "teams[0].namespace", "default is shared", "a name of your own"),
    ("team named default", teams(first={"name": "default"}), "teams[0].name", "default is shared", "a name of your own"),
    ("team with a large name", teams(first={"name": "Team A"}), "teams[0].name", "a-z, 0-9", "write team-a"),
    ("team without flavors", teams(first={"flavors": {}}), "teams[0].flavors", "at least one entry", "write at least one"),
    ("team with a list of flavors", teams(first={"flavors": ["vlp-24"]}), "teams[0].flavors", "a map of keys", "write names below it, each with its keys, of borrow, lend, chips"),
    ("team with an unknown flavor", teams(first={"flavors": {"vlp-42": {"chips": 8}}}), "teams[0].flavors.vlp-42", "a flavor in slices: vlp-24", "call it vlp-24"),
    ("part without chips", part(borrow=8), "teams[0].flavors.vlp-24.chips", "must be set", "add `chips`"),
    ("part by a misspelt key", part(chip=8), "teams[0].flavors.vlp-24.chip", "a known key", "write chips"),
    ("part of text", part(chips="8"), "teams[0].flavors.vlp-24.chips", "a whole number", "write 8, without quotes"),
    ("half a slice", part(chips=4), "teams[0].flavors.vlp-24.chips", "whole slices of 8 chips", "write 0 or 8"),
    ("half a slice to borrow", part(chips=8, borrow=4), "teams[0].flavors.vlp-24.borrow", "whole slices of 8 chips", "write 0 or 8"),
    ("half a slice to lend", part(chips=8, lend=4), "teams[0].flavors.vlp-24.lend", "whole slices of 8 chips", "write 0 or 8"),
    ("lending more than its own", part(chips=8, lend=16), "teams[0].flavors.vlp-24.lend", "at most 8, its own chips", "write 8"),
    ("more than there is", part(chips=32), "teams[0].flavors.vlp-24.chips", "vlp-24 has 24 chips", "write 24 or less"),
    ("together more than there is", teams({**B, "flavors": {"vlp-24": {"chips": 24}}}), "teams[1].flavors.vlp-24.chips", "at most 16: vlp-24 has 24 chips; the other teams have team-a 8", "write 16 or less"),
    ("nothing left for the queue", teams({**B, "flavors": {"vlp-24": {"chips": 16}}}), "queues[0]", "teams have all of vlp-24", "write queues: []"),
    ("member without a name", members(users=[""]), "teams[0].members.users[0]", "like ann@example.com", "write it"),
    ("member twice", members(users=["a@b.c", "a@b.c"]), "teams[0].members.users[1]", "members.users[0] is the same", "remove it"),
    ("everybody", members(groups=["system:authenticated"]), "teams[0].members.groups[0]", "built into Kubernetes", "write a group like"),
    ("nobody in particular", members(users=["system:anonymous"]), "teams[0].members.users[0]", "built into Kubernetes", "write a user like ann@example.com"),
    ("group without an address", members(groups=["team-a"]), "teams[0].members.groups[0]", "the address of a Google group", "write a group like team-a@example.com"),
    ("cohort that is no name", queue(cohort="My Cohort!"), "queues[0].cohort", "Kueue's rule for cohorts", "write my-cohort"),
    ("members that are a list", teams(first={"members": ["ann@example.com"]}), "teams[0].members", "a map of keys", "users, groups"),
    ("members by Google's words", members(user=["ann@example.com"]), "teams[0].members.user", "a known key: groups, users", "write users"),
    ("groups that GKE does not know", members(groups=["a@b.c"]), "cluster.securityGroup", "the group that contains a@b.c", "write gke-security-groups@b.c"),
    ("security group of another name", members(groups=["a@b.c"]) | {"cluster": {"name": "c", "securityGroup": "all@b.c"}}, "cluster.securityGroup", "the name that GKE prescribes", "write gke-security-groups@b.c"),
    ("weight below zero", teams(first={"weight": -1}), "teams[0].weight", "from 0", "write 0 or more"),
    ("job of an unknown team", teams(workloads=[{**JOB, "team": "team-x"}]), "workloads[0].team", "a team in teams: team-a", "write team-a"),
    ("job larger than its team's part", teams(queues=COHORT, workloads=[{**JOB, "slices": 3, "team": "team-a"}]), "workloads[0].slices", "at most 2: team team-a can have 16 chips", "or raise the team's chips, its borrow"),
    ("job of a team whose cohort is empty", teams(workloads=[{**JOB, "slices": 3, "team": "team-a"}], first={"flavors": {"vlp-24": {"chips": 8}}}), "workloads[0].slices", "at most 1: team team-a can have 8 chips", "cohort: teams"),
    ("job of a team that may borrow where nobody lends", teams(workloads=[{**JOB, "slices": 3, "team": "team-a"}], first={"flavors": {"vlp-24": {"chips": 8, "borrow": 16}}}, queues=[{"cohort": "teams", "limits": {"vlp-24": {"lend": 0}}}]), "workloads[0].slices", "at most 1: team team-a can have 8 chips", "what others lend"),
    ("job of a team beside a team that lends nothing", teams({**B, "flavors": {"vlp-24": {"chips": 8, "lend": 0}}}, workloads=[{**JOB, "slices": 2, "team": "team-a"}]), "workloads[0].slices", "at most 1: team team-a can have 8 chips", "what others lend"),
    ("job of a team without chips that nobody lends any", teams(workloads=[{**JOB, "team": "team-a"}], first={"flavors": {"vlp-24": {"chips": 0}}}), "workloads[0].slices", "none of vlp-24 of its own, and can borrow none", "give it chips of vlp-24"),
    ("job of a team without chips that borrows none", teams(workloads=[{**JOB, "team": "team-a"}], first={"flavors": {"vlp-24": {"chips": 0, "borrow": 0}}}, queues=COHORT), "workloads[0].slices", "none of vlp-24 of its own, and can borrow none", "let it borrow"),
    ("Ray job of a team without chips that nobody lends any", teams(first={"cpu": {}, "flavors": {"vlp-24": {"chips": 0}}}, ray=RAY_A), "ray.jobs[0].slices", "none of vlp-24 of its own, and can borrow none", "give it chips of vlp-24"),
    ("job of a queue alone in its cohort", teams(workloads=[{**JOB, "slices": 3}], queues=[{"cohort": "mine"}]), "workloads[0].slices", "at most 2: beside the teams its queue can have 16 chips", "cohort: teams"),
    ("job larger than what is left", teams(workloads=[{**JOB, "slices": 3}]), "workloads[0].slices", "at most 2: beside the teams its queue can have 16 chips", "cohort: teams"),
    ("job of a team without the flavor", {**TUTORIAL, **both(teams=[A], workloads=[{**JOB, "flavor": "dws", "team": "team-a"}])}, "workloads[0].team", "a team with a part of dws", "give team-a a part of dws"),
    ("job of nobody where teams have all", teams(queues=[], workloads=[JOB]), "workloads[0].team", "one of team-a: teams have all of vlp-24", "write team-a"),
    ("Ray job of an unknown team", ray_of("team-x", cpu={}), "ray.jobs[0].team", "a team in teams: team-a", "write team-a"),
    ("Ray job of a team without nodes for its head", ray_of("team-a"), "teams[0].cpu", "the heads of Ray jobs need them (ray-a)", "add `cpu: {}` to the team"),
    ("Ray job of a team and of a queue", ray_of("team-a", cpu={}, job={"queue": "multislice-queue"}), "ray.jobs[0].queue", "not set, because team team-a has a queue of its own", "remove one of the two"),
    ("Ray job in a queue that is a team's", ray_of(None, cpu={}, job={"queue": "team-a"}), "ray.jobs[0].queue", "this one is a team's", "write team: team-a in place of it"),
    ("Ray job of nobody where teams have the nodes", ray_of(None, cpu={}), "ray.jobs[0].team", "one of team-a: no queue offers nodes for Ray's head", "write team-a"),
    ("Ray job larger than its team's part", ray_of("team-a", cpu={}, job={"slices": 3}, queues=COHORT), "ray.jobs[0].slices", "the flavors have vlp-24 2", "write 2"),
    ("Ray job of a team with two shapes", {**TUTORIAL, **both(workloads=[], ray=RAY_A, teams=[{**A, "cpu": {}, "flavors": {"vlp-24": {"chips": 8}, "dws": {"chips": 0}}}])}, "ray.jobs[0].flavor", "a flavor of team team-a, which has several shapes: vlp-24 ct5lp-hightpu-4t 2x4, dws ct6e-standard-4t 4x4", "write vlp-24"),
    ("part of a team below a head", ray_of("team-a", cpu={"cpu": 2}), "teams[0].cpu.cpu", "at least 2.5 cores, for the head and submitter of ray-a", "write 3 or more"),
    ("part of a team below a head in memory", ray_of("team-a", cpu={"memory": "4Gi"}), "teams[0].cpu.memory", "at least 4608Mi", "write 5Gi or more"),
    ("parts above what the nodes have", teams({**B, "cpu": {"cpu": 4}}, first={"cpu": {"cpu": 4}}), "teams[1].cpu.cpu", "at most 5 cores, what cluster.defaultPool has left after GKE's pods and the controllers, and 2", "write less"),
    ("part of nodes that are not known", {**ray_of("team-a", cpu={"cpu": 4}), "cluster": {"name": "c", "defaultPool": {"machineType": "x9-standard-8"}}}, "teams[0].cpu", "both: the size of cluster.defaultPool.machineType x9-standard-8 is unknown", "add `cpu` (cores)"),
    ("part by a misspelt key", teams(first={"cpu": {"cpus": 4}}), "teams[0].cpu.cpus", "a known key: cpu, memory", "write cpu"),
    ("part with a flavor", teams(first={"cpu": {"flavor": "heads"}}), "teams[0].cpu.flavor", "a known key: cpu, memory", "remove"),
    ("flavor named like a team's nodes without chips", changed(workloads=[], slices=[{**TUTORIAL["slices"][0], "flavor": "default-cpu"}], teams=[{**A, "cpu": {}, "flavors": {"default-cpu": {"chips": 8}}}]), "slices[0].flavor", "the flavor of the nodes without chips has it (teams[0].cpu)", "rename it"),
    ("no queue and no team", changed(queues=[]), "queues", "at least one entry, or teams", "write at least one"),
    ("old Kubernetes", teams(cluster={"name": "c", "version": "1.29"}), "cluster.version", "1.30 or later: required for the admission policies of teams", "write '1.30' or later"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def test_the_values_of_a_team_are_checked_before_what_must_hold_between_them() -> None:
    values = teams(first={"name": "Team A", "flavors": {"vlp-24": {"chips": 4, "borrow": "8"}}})
    assert {problem.path for problem in problems_in(values)} == {"teams[0].name", "teams[0].flavors.vlp-24.borrow"}
    values = teams(first={"flavors": {"vlp-24": {"chips": 4, "borrow": 8}}})
    assert {problem.path for problem in problems_in(values)} == {"teams[0].flavors.vlp-24.chips"}


def test_a_queue_gives_out_what_the_teams_leave() -> None:
    plan = plan_with(workloads=[], teams=[A, B])
    assert {queue.cluster_queue: [flavor.chips for flavor in queue.flavors] for queue in plan.queues} == {
        "cluster-queue": [8],
        "team-a": [8],
        "team-b": [8],
    }
    assert sum(int(dict(queue.flavors[0].quota)["cpu"]) for queue in plan.queues) == 6 * 112


def test_teams_may_have_all() -> None:
    plan = plan_with(workloads=[{**JOB, "team": "team-a"}], teams=[A], queues=[])
    assert [queue.cluster_queue for queue in plan.queues] == ["team-a"]
    assert (plan.jobs[0].namespace, plan.jobs[0].queue) == ("team-a", "team-a")


def test_the_ceiling_of_a_team_without_a_limit_is_all_there_is() -> None:
    plan = plan_with(workloads=[], teams=[A, B])
    assert {team.name: team.chip_quota for team in plan.teams} == {"team-a": 16, "team-b": 24}


def test_a_team_gets_what_others_lend_within_its_own_limit() -> None:
    lends = {"name": "team-b", "flavors": {"vlp-24": {"chips": 16, "lend": 8}}}
    values = teams(lends, queues=[], workloads=[{**JOB, "slices": 2, "team": "team-a"}])
    assert plan_with(**{key: values[key] for key in ("teams", "queues", "workloads")}).jobs[0].slices == 2
    values["workloads"][0]["slices"] = 3
    assert [problem.path for problem in problems_in(values)] == ["workloads[0].slices"]


def test_a_queue_without_chips_may_borrow_them_from_teams() -> None:
    all_ = {"name": "team-b", "flavors": {"vlp-24": {"chips": 16}}}
    plan = plan_with(workloads=[{**JOB, "slices": 3}], teams=[A, all_], queues=[{"cohort": "teams"}])
    assert plan.queues[0].flavors[0].chips == 0


def test_a_job_that_may_fall_to_plan_b_is_ready_for_its_nodes() -> None:
    """It tolerates them, and says for how long it wants them."""
    plan = plan_with(**both(workloads=[{**JOB, "flavor": "on-demand"}], ray={}))
    assert (plan.jobs[0].queued, plan.jobs[0].request_seconds) == (True, 604800)


def test_those_who_state_no_part_of_the_nodes_for_heads_divide_what_is_left() -> None:
    shared = {"cpu": {"flavor": "heads", "cpu": 1, "memory": "4Gi"}}
    plan = plan_with(workloads=[], teams=[{**A, "cpu": {}}, {**B, "cpu": {}}], queues=[shared])
    alone = plan_with(workloads=[], queues=[{"cpu": {}}])
    quotas = {queue.cluster_queue: dict(queue.flavors[0].quota) for queue in plan.queues}
    assert {queue.flavors[0].name for queue in plan.queues} == {"heads"}
    cores, memory = (dict(alone.queues[0].flavors[0].quota)[name] for name in ("cpu", "memory"))
    assert (cores, memory) == ("5", "23Gi")
    assert quotas["cluster-queue"] == {"google.com/tpu": "0", "cpu": "1", "memory": "4Gi"}
    assert quotas["team-a"] == quotas["team-b"] == {"google.com/tpu": "0", "cpu": "2", "memory": "9Gi"}


def test_a_teams_ray_job_waits_in_the_teams_queue() -> None:
    (job,) = plan_with(workloads=[], teams=[{**A, "cpu": {}}], ray=RAY_A).of(RayJobPlan)
    assert (job.namespace, job.queue) == ("team-a", "team-a")
    assert job.shape.topology == "2x4"


def test_a_head_may_borrow_nodes_from_the_cohort() -> None:
    """Two teams with half a head each: one of them has its Ray job at a time."""
    small = {"cpu": 2, "memory": "3Gi"}
    plan = plan_with(workloads=[], teams=[{**A, "cpu": small}, {**B, "cpu": small}], ray=RAY_A)
    assert [job.name for job in plan.of(RayJobPlan)] == ["ray-a"]


def test_groups_of_an_existing_cluster_are_its_owners_to_hold() -> None:
    cluster = {"name": "theirs", "existing": True}
    assert plan_with(workloads=[], cluster=cluster, teams=[{**A, "members": {"groups": ["a@b.c"]}}]).teams


def test_service_accounts_may_be_members() -> None:
    accounts = {"users": ["system:serviceaccount:ci:runner"], "groups": ["system:serviceaccounts:ci"]}
    assert plan_with(workloads=[], teams=[{**A, "members": accounts}]).teams[0].users == (
        "system:serviceaccount:ci:runner",
    )
