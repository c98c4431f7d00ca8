"""Jobs that may run on several flavors: refused where they could not be one and the same job on each."""

from __future__ import annotations

from typing import Any

import pytest

from settings.load import plan_from
from tests.support.generations import GENERATIONS, QUEUES, SLICES, with_job
from tests.support.platforms import as_config
from tests.support.problems import NOWHERE, each, is_the_only_problem

pytestmark = pytest.mark.unit

FIRST = QUEUES[0]
APART = [
    {**FIRST, "flavors": ["reserved", "spot", "small", "tpu7"]},
    {"clusterQueue": "b", "localQueue": "other", "flavors": ["v6e", "dws", "v5p"]},
]
TEAM = {"name": "team-a", "flavors": {"reserved": {"chips": 16}, "v6e": {"chips": 16}}}


def on_autopilot(flavors: list[str]) -> dict[str, Any]:
    sections = [{k: v for k, v in SLICES[i].items() if k not in ("pools", "autoscaling")} for i in (1, 2)]
    return {
        **with_job(flavors),
        "cluster": {"name": "auto", "mode": "autopilot"},
        "slices": [
            *({**section, "count": 2} for section in sections),
            {**sections[1], "flavor": "v6e-spot", "capacity": "spot", "count": 2},
        ],
        "queues": [{**FIRST, "flavors": ["spot", "v6e", "v6e-spot"]}],
    }


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("one flavor and a list of them", with_job(["reserved", "spot"], flavor="reserved"), "workloads[0].flavor", "not set, because `flavors` lists all", "remove the key"),
    ("an empty list of flavors", with_job([]), "workloads[0].flavors", "at least one of the flavors in slices: reserved, spot", "write [reserved]"),
    ("a list of flavors that is a name", with_job(flavors="reserved"), "workloads[0].flavors", "a list", "write [reserved]"),
    ("an unknown flavor in a list", with_job(["reserved", "v7p"]), "workloads[0].flavors[1]", "a flavor in slices", "write v5p"),
    ("a flavor twice in a list", with_job(["reserved", "spot", "reserved"]), "workloads[0].flavors[2]", "only once", "remove it"),
    ("a flavor of another queue", {**with_job(["reserved", "v6e"]), "queues": APART}, "workloads[0].flavors[1]", "a flavor of queue training: reserved, spot", "remove it, or add v6e to queue training"),
    ("a flavor that the team has no part of", {**with_job(["reserved", "spot"], team="team-a"), "teams": [TEAM]}, "workloads[0].flavors[1]", "a flavor of team team-a: reserved, v6e", "remove it, or add spot to team team-a"),
    ("a team without the first flavor", {**with_job(["spot", "v6e"], team="team-a"), "teams": [TEAM]}, "workloads[0].team", "a team with a part of spot", "give team-a a part of spot"),
    ("another order than the queue's", with_job(["v5p", "reserved"]), "workloads[0].flavors", "the order in which queue training tries them: reserved, v5p", "write [reserved, v5p]"),
    ("fewer hosts on one flavor", with_job(["reserved", "small"]), "workloads[0].flavors", "reserved has 4 hosts with 4 chips each; small has 2 hosts", "remove small: a job on different slices is another job, or write slices[5].topology: 4x4"),
    ("more devices on one flavor", with_job(["reserved", "tpu7"]), "workloads[0].flavors", "JAX shows as many devices: reserved 1 a chip, tpu7 2 a chip", "remove tpu7"),
    ("other chips a host on one flavor", {**with_job(["reserved", "small"]), "slices": [*SLICES[:5], {**SLICES[5], "machineType": "ct5lp-hightpu-8t"}, SLICES[6]]}, "workloads[0].flavors", "small has 1 host with 8 chips each", "remove small: a job on different slices is another job"),
    ("several slices on a queued flavor", with_job(["reserved", "dws"], 2), "workloads[0].slices", "1: dws is queued, and one ProvisioningRequest can use one pool only", "remove dws from its flavors"),
    ("more slices than any flavor has", with_job(["reserved", "v6e", "v5p"], 3), "workloads[0].slices", "at most 2: a job runs on one flavor, a multi-host pool is one slice, and the flavors have reserved 2, v6e 1, v5p 2", "write 2"),
    ("more slices than the team may have", {**with_job(["reserved", "v6e"], 3, team="team-a"), "teams": [TEAM]}, "workloads[0].slices", "the flavors have reserved 1, v6e 1", "write 1"),
    (
        "a shape whose queued flavor has room",
        {**with_job(None, 2, flavor="v6e"), "slices": [*SLICES[:2], {**SLICES[2], "pools": ["v6e-1", "v6e-2"]}, *SLICES[3:]]},
        "workloads[0].flavor",
        "without dws: dws has the same shape, quota for 2 slices and is queued",
        "`flavors: [v6e]`",
    ),
    ("flavors that labels do not tell apart on Autopilot", on_autopilot(["spot", "v6e"]), "workloads[0].flavors", "v6e-spot too, which queue training offers", "add v6e-spot"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


@pytest.mark.parametrize(
    ("flavors", "slices"),
    [
        (["reserved", "spot", "v6e", "v5p"], 2),
        (["reserved", "dws"], 1),
        (["v5p"], 2),
        (["small"], 1),
        (["tpu7"], 1),
    ],
)
def test_flavors_that_go_together_are_planned_in_the_order_of_their_queue(flavors, slices) -> None:
    (job,) = plan_from(as_config(with_job(flavors, slices)), NOWHERE).jobs
    assert job.flavors == tuple(flavors)
    assert job.queued == ("dws" in flavors)


def test_a_job_that_names_one_flavor_may_have_any_of_its_shape() -> None:
    (job,) = plan_from(as_config(with_job(None, flavor="v6e")), NOWHERE).jobs
    assert (job.flavors, job.queued) == (("v6e", "dws"), True)


def test_on_autopilot_all_that_is_alike_by_labels_goes_together() -> None:
    (job,) = plan_from(as_config(on_autopilot(["spot", "v6e", "v6e-spot"])), NOWHERE).jobs
    assert job.flavors == ("spot", "v6e", "v6e-spot")


def test_what_the_rules_are_tried_on_has_no_fault_itself() -> None:
    assert len(plan_from(as_config(GENERATIONS), NOWHERE).pools) == 11
