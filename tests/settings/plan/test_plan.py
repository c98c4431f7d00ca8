"""From slices to pools, quotas and jobs."""

from __future__ import annotations

import pytest

from settings.plan.jobs import JobSetPlan
from tests.support.generations import with_job
from tests.support.platforms import TUTORIAL, plan_with
from workloads.node_selection import selection

pytestmark = pytest.mark.unit


def test_the_tutorial_has_three_slices_of_two_hosts_and_24_chips() -> None:
    plan = plan_with()
    assert [pool.name for pool in plan.pools] == ["nodepool1", "nodepool2", "nodepool3"]
    assert {(pool.shape.hosts, pool.shape.chips, pool.zone) for pool in plan.pools} == {(2, 8, "us-west4-a")}
    assert plan.queues[0].flavors[0].chips == 24
    assert plan.system_zones == ("us-west4-a",)


def test_quota_is_computed_for_every_resource_a_pod_may_ask_for() -> None:
    assert dict(plan_with().queues[0].flavors[0].quota) == {"google.com/tpu": "24", "cpu": "672", "memory": "1152Gi"}


def test_a_stated_quota_limits_all_resources_alike() -> None:
    slices = [{**TUTORIAL["slices"][0], "quota": 16}]
    quota = dict(plan_with(slices=slices, workloads=[]).queues[0].flavors[0].quota)
    assert quota == {"google.com/tpu": "16", "cpu": "448", "memory": "768Gi"}


def test_quantities_are_in_kubernetes_canonical_form() -> None:
    slices = [
        {"flavor": "big", "machineType": "ct6e-standard-4t", "topology": "16x16", "zone": "us-east5-b", "pools": ["p"]}
    ]
    plan = plan_with(location="us-east5", slices=slices, workloads=[])
    assert dict(plan.queues[0].flavors[0].quota)["memory"] == "45Ti"


def test_jobs_come_after_those_they_wait_for_however_they_are_listed() -> None:
    workloads = list(reversed(TUTORIAL["workloads"]))
    names = [job.name for job in plan_with(workloads=workloads).jobs]
    assert names[0] == "multislice-3slice"
    assert sorted(names) == ["multislice-1slice", "multislice-2slice", "multislice-3slice"]


def test_a_job_expects_the_chips_of_all_its_slices() -> None:
    assert {job.name: job.devices for job in plan_with().jobs if isinstance(job, JobSetPlan)} == {
        "multislice-3slice": 24,
        "multislice-2slice": 16,
        "multislice-1slice": 8,
    }


def test_a_job_of_several_generations_selects_what_they_share_and_a_term_each_of_what_they_do_not() -> None:
    job = plan_with(**with_job(["reserved", "v6e", "v5p"])).jobs[0]
    pod = selection(job.labels)
    assert "nodeSelector" not in pod
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [{e["key"].rsplit("/")[-1]: e["values"] for e in term["matchExpressions"]} for term in terms] == [
        {"gke-tpu-accelerator": ["tpu-v5-lite-podslice"], "gke-tpu-topology": ["4x4"], "flavor": ["reserved"]},
        {"gke-tpu-accelerator": ["tpu-v6e-slice"], "gke-tpu-topology": ["4x4"], "gke-nodepool": ["v6e-1"]},
        {"gke-tpu-accelerator": ["tpu-v5p-slice"], "gke-tpu-topology": ["2x2x4"]},
    ]


def test_a_job_of_one_flavor_has_a_plain_selector() -> None:
    named, listed = (plan_with(**with_job(**keys)).jobs[0] for keys in ({"flavor": "v5p"}, {"flavors": ["v5p"]}))
    wanted = {"nodeSelector": named.shape.node_labels}
    assert (selection(named.labels), selection(listed.labels)) == (wanted, wanted)


def test_kinds_of_one_generation_share_all_but_what_tells_them_apart() -> None:
    pod = selection(plan_with(**with_job(["reserved", "spot"])).jobs[0].labels)
    assert pod["nodeSelector"] == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
        "cloud.google.com/gke-tpu-topology": "4x4",
    }
    terms = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [[e["values"] for e in term["matchExpressions"]] for term in terms] == [[["reserved"]], [["spot"]]]
