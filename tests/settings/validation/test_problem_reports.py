"""What a report is: every fault at once, none that only follows from another, and readable whatever the file has."""

from __future__ import annotations

from typing import Any

import pytest

from settings.load import plan_from
from settings.plan.ray_jobs import RayJobPlan
from settings.validation.problem import ConfigurationError
from tests.support.platforms import BOTH, TUTORIAL, as_config, both, changed, plan_with, with_slice
from tests.support.problems import EXISTING_NETWORK, NOWHERE, SLICES, cluster, jobs, only_problem, problems_in, slices

pytestmark = pytest.mark.unit


def problems_of(**changes: Any) -> dict[str, tuple[str, str]]:
    """Path -> (what was wanted, remedy)."""
    return {problem.path: (problem.expected, problem.fix) for problem in problems_in(changed(**changes))}


def test_all_problems_of_a_stage_come_at_once_in_one_report() -> None:
    changes = {
        "cluster": cluster(name="Big"),
        "slices": slices(topology="3x4", zone="us-west4-b"),
        "workloads": jobs(after=["nobody"]),
        "charts": {"jobset": "nowhere"},
    }
    with pytest.raises(ConfigurationError) as caught:
        plan_from(as_config(changed(**changes)), NOWHERE)
    assert [problem.path for problem in caught.value.problems] == ["cluster.name"]
    changes["cluster"] = cluster(name="small")
    with pytest.raises(ConfigurationError) as caught:
        plan_from(as_config(changed(**changes)), NOWHERE)
    assert [problem.path for problem in caught.value.problems] == ["slices[0].topology", "workloads[0].after[0]"]
    text = str(caught.value)
    assert text.startswith("2 problems in the stack configuration. Nothing was created or changed.")
    assert "tpu-platform:slices[0].topology\n" in text
    assert "value:    '3x4'" in text
    assert "Traceback" not in text


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "missing project": ({"project": None}, "project"),
    "location that is none": ({"location": "west"}, "location"),
    "cluster that is text": ({"cluster": "x"}, "cluster"),
    "labels that are a number": ({"labels": 3}, "labels"),
    "an unknown key": ({"zzz": 1}, "zzz"),
    "network that is text": ({"network": "x"}, "network"),
    "a queue that is nothing": ({"queues": [None]}, "queues[0]"),
    "ray that is a list": ({"ray": []}, "ray"),
    "a job that is a number": ({"workloads": [7, *jobs(slices=9)]}, "workloads[0]"),
}


@pytest.mark.parametrize(("broken", "path"), BROKEN.values(), ids=BROKEN)
def test_a_broken_value_is_reported_before_what_must_hold_between_values(broken, path) -> None:
    between = {"slices": slices(quota=1), "workloads": jobs(slices=9)}
    assert set(problems_of(**{**between, **broken})) == {path}
    assert set(problems_of(**between)) == {"slices[0].quota", "workloads[0].slices"}


def test_paths_count_the_entries_that_are_broken() -> None:
    values = both(slices=[None, *with_slice(1, topology=3)[1:]], workloads=[], ray={"jobs": []})
    assert [problem.path for problem in problems_in({**TUTORIAL, **values})] == ["slices[0]", "slices[1].topology"]


def test_a_name_in_a_broken_entry_may_be_the_one_that_is_missed() -> None:
    """The queue's vlp-24 is most likely what slices[0] should have been called."""
    values = both(slices=with_slice(0, flavor=24))
    assert [problem.path for problem in problems_in({**TUTORIAL, **values})] == ["slices[0].flavor"]


def test_a_misspelt_name_is_one_fault_wherever_it_is_used() -> None:
    problem = only_problem({**TUTORIAL, **both(slices=with_slice(0, flavor="vlp-42"))})
    assert problem.path == "queues[0].flavors[0]"
    assert "workloads[2].flavor too" in problem.expected
    assert problem.fix == "write vlp-42, or remove it"


def test_a_location_that_no_slice_is_in_is_the_mistake_itself() -> None:
    problem = only_problem({**TUTORIAL, **both(location="us-east1")})
    assert (problem.path, problem.fix) == ("location", "write us-central1")
    zonal = only_problem({**TUTORIAL, **both(location="us-central1-a")})
    assert (zonal.path, zonal.fix) == ("location", "write us-central1")


def test_a_zonal_cluster_takes_slices_of_its_zone_only() -> None:
    problems = problems_of(location="us-west4-b")
    assert "location: us-west4" in problems["slices[0].zone"][1]


def test_a_stack_can_state_a_zone_that_the_catalogue_does_not_know() -> None:
    plan = plan_with(slices=slices(zone="us-west4-b"), tpuZones={"ct5lp": ["us-west4-b"]})
    assert plan.pools[0].zone == "us-west4-b"


def test_slices_alike_in_two_zones_or_of_two_reservations_are_two_flavors() -> None:
    other = {**SLICES, "flavor": "other", "pools": ["p4"], "capacity": "reservation"}
    groups = [{**other, "reservation": "a"}, {**other, "flavor": "b", "pools": ["p5"], "reservation": "b"}]
    assert len(plan_with(slices=[SLICES, *groups], workloads=[]).pools) == 5


def test_a_given_network_leaves_the_control_planes_range_to_us() -> None:
    plan = plan_with(network={"existing": EXISTING_NETWORK, "controlPlaneCidr": "172.16.1.0/28"})
    assert plan.settings.network.control_plane_cidr == "172.16.1.0/28"


def test_private_ranges_of_every_kind_are_taken() -> None:
    network = {"nodesCidr": "100.64.0.0/16", "podsCidr": "240.0.0.0/8", "servicesCidr": "192.168.0.0/20"}
    assert plan_with(network=network).settings.network.pods_cidr == "240.0.0.0/8"


@pytest.mark.parametrize("key", ["gcp:project", "pulumi:disable-default-providers", "kubernetes:context", "aws:region"])
def test_keys_of_other_providers_are_not_ours(key) -> None:
    config = {**as_config(TUTORIAL), key: "[]"}
    assert plan_from(config, NOWHERE).settings.project == "some-project"


FOREIGN = {
    "no prefix": ("location", "write tpu-platform:location"),
    "misspelt without a prefix": ("loaction", "write tpu-platform:location"),
    "misspelt prefix": ("tpu-platfrom:location", "write tpu-platform:location"),
    "prefix of nobody's": ("google:location", "write tpu-platform:location"),
}


@pytest.mark.parametrize(("key", "fix"), FOREIGN.values(), ids=FOREIGN)
def test_a_key_without_our_prefix_is_the_only_fault_when_it_was_meant_to_be_ours(key, fix) -> None:
    problem = only_problem(changed(location=None), **{key: "us-west4"})
    assert str(problem).startswith(f"{key}\n")
    assert problem.fix == fix


def test_a_key_without_our_prefix_does_not_pass_beside_ours() -> None:
    problem = only_problem(TUTORIAL, project="x")
    assert problem.fix == "remove the key: tpu-platform:project is there already"
    assert only_problem(TUTORIAL, foo="1").fix == "remove the key"
    assert only_problem(TUTORIAL, **{"kubernets:x": "1"}).fix == "write the prefix kubernetes"


def test_a_long_line_of_jobs_is_put_in_order() -> None:
    """Each waits for all the jobs before it, and the last is written first: neither depth nor number of ways matters."""
    names = [f"job-{index}" for index in range(200)]
    workloads = [{"name": name, "slices": 1, "after": names[max(0, i - 9) : i]} for i, name in enumerate(names)]
    assert [job.name for job in plan_with(workloads=workloads[::-1]).jobs] == names


def test_the_report_stays_readable_whatever_stands_in_the_file() -> None:
    values = {"cluster": cluster(**{"a\nb": 1, "deep": [[[]]] * 300}), "labels": {"\ud800": ""}, "project": "\ud800"}
    shown = [str(problem) for problem in problems_in(changed(**values))]
    text = "\n".join(shown)
    assert "tpu-platform:cluster.a\\nb" in text
    assert "value:    '\\ud800'" in text
    assert text.encode()
    assert max(len(line) for line in text.splitlines()) < 400


def test_both_tutorials_have_no_fault() -> None:
    assert len(plan_with(**BOTH).of(RayJobPlan)) == 2
