"""Queues that could not give out what they hold, or would give it out twice."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.platforms import BOTH, TUTORIAL, both, plan_with, with_slice
from tests.support.problems import each, is_the_only_problem

pytestmark = pytest.mark.unit

FIRST, SECOND = BOTH["queues"]


def values(**changes: Any) -> dict[str, Any]:
    return {**TUTORIAL, **both(**changes)}


def queues(first: dict[str, Any] | None = None, second: dict[str, Any] | None = None, *more: Any) -> dict[str, Any]:
    """Both tutorials with some keys of the two queues changed, None removes one, and more queues behind them."""
    pairs = ((FIRST, first or {}), (SECOND, second or {}))
    changed = [{k: v for k, v in {**queue, **changes}.items() if v is not None} for queue, changes in pairs]
    return values(queues=[*changed, *more])


def machine(name: str, **cpu: Any) -> dict[str, Any]:
    """Both tutorials on other nodes for system pods."""
    cluster = {"name": "tpu-cluster", "defaultPool": {"machineType": name, "nodes": 1}}
    return {**queues(second={"cpu": cpu}), "cluster": cluster}


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("flavor in two queues", queues(first={"flavors": ["vlp-24", "dws"]}), "queues[1].flavors[1]", "queues[0].flavors[1] has it", "remove one"),
    ("flavor in a queue twice", queues(second={"flavors": ["on-demand", "dws", "dws"]}), "queues[1].flavors[2]", "queues[1].flavors[1] has it", "remove one"),
    ("flavor in no queue", queues(second={"flavors": ["on-demand"]}), "slices[2].flavor", "no job can use its chips", "add dws to the flavors"),
    ("unknown flavor", queues(second={"flavors": ["on-demand", "dwss"]}), "queues[1].flavors[1]", "a flavor in slices: vlp-24, on-demand, dws", "write dws"),
    ("flavor of nobody's", queues(second={"flavors": ["on-demand", "dws", "zzz"]}), "queues[1].flavors[2]", "a flavor in slices", "remove it"),
    ("no flavors", queues(second={"flavors": []}), "queues[1].flavors", "at least one flavor", "write ["),
    ("no list of flavors", queues(second={"flavors": None}), "queues[1].flavors", "there are 2 queues", "in the order"),
    ("flavor that is a number", queues(second={"flavors": ["on-demand", 6]}), "queues[1].flavors[1]", "text", "in quotes"),
    ("two flavors of one name", values(slices=with_slice(2, flavor="on-demand"), queues=[FIRST, {**SECOND, "flavors": ["on-demand"]}]), "slices[2].flavor", "only once", "rename"),
    ("two queues of one name", queues(second={"clusterQueue": "a-queue"}), "queues[1].clusterQueue", "queues[0].clusterQueue is the same", "rename"),
    ("two local queues of one name", queues(second={"localQueue": "multislice-queue"}), "queues[1].localQueue", "a unique name in namespace default", "rename"),
    ("a queue twice", queues(None, None, SECOND), "queues[2]", "queues[1] is the same", "remove it"),
    ("two cpu flavors", queues(first={"cpu": {"flavor": "other"}}), "queues[1].cpu", "one cpu flavor in all queues: queues[0].cpu", "remove one"),
    ("cpu flavor named like a slice's", queues(second={"cpu": {"flavor": "dws"}}), "queues[1].cpu.flavor", "slices[2].flavor has it", "rename"),
    ("cpu below zero", queues(second={"cpu": {"cpu": -1}}), "queues[1].cpu.cpu", "from 0 to", "write 0 or more"),
    ("more cores than the nodes have", queues(second={"cpu": {"cpu": 500}}), "queues[1].cpu.cpu", "what cluster.defaultPool has left", "write less"),
    ("more memory than the nodes have", queues(second={"cpu": {"memory": "900Gi"}}), "queues[1].cpu.memory", "what cluster.defaultPool has left", "write less"),
    ("memory of a wrong unit", queues(second={"cpu": {"memory": "20GB"}}), "queues[1].cpu.memory", "an amount of memory", "write 20Gi"),
    ("memory without a unit", queues(second={"cpu": {"memory": 20}}), "queues[1].cpu.memory", "text", "write text like 4Gi"),
    ("unknown machine type without a quota", machine("x9-standard-8"), "queues[1].cpu", "the size of cluster.defaultPool.machineType x9-standard-8 is unknown", "add `cpu` (cores) and `memory`"),
    ("unknown machine type with half a quota", machine("x9-standard-8", cpu=8), "queues[1].cpu", "both", "add `cpu` (cores) and `memory`"),
    ("TPUs for system pods", machine("ct6e-standard-4t"), "cluster.defaultPool.machineType", "without TPUs", "write e2-standard-4"),
    ("nodes too small for the controllers", machine("e2-small"), "cluster.defaultPool.machineType", "managers", "write e2-standard-4"),
    ("namespace of the system", queues(second={"namespace": "kube-system"}), "queues[1].namespace", "the system's", "write default"),
    ("no such strategy", queues(second={"strategy": "FIFO"}), "queues[1].strategy", "one of BestEffortFIFO, StrictFIFO", "write StrictFIFO"),
    ("unknown feature gate", values(kueue={"featureGates": {"ElasticJobsViaWorkloadSlice": True}}), "kueue.featureGates.ElasticJobsViaWorkloadSlice", "a feature gate of Kueue", "write ElasticJobsViaWorkloadSlices"),
    ("feature gate of nobody's", values(kueue={"featureGates": {"FooBar": True}}), "kueue.featureGates.FooBar", "does not start with an unknown one", "remove the key"),
    ("feature gate that is gone", values(kueue={"featureGates": {"LendingLimit": False}}), "kueue.featureGates.LendingLimit", "a feature gate of Kueue", "remove the key"),
    ("locked feature gate", values(kueue={"featureGates": {"HierarchicalCohorts": False}}), "kueue.featureGates.HierarchicalCohorts", "true: Kueue", "remove the key"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_gives_one_fault_with_its_key_the_rule_and_the_way_out(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def test_an_unknown_machine_type_is_taken_when_the_quota_is_stated() -> None:
    plan = plan_with(**machine("x9-standard-8", cpu=8, memory="20Gi"))
    assert dict(plan.queues[1].flavors[0].quota) == {"google.com/tpu": "0", "cpu": "8", "memory": "20Gi"}


def test_one_name_in_two_namespaces_is_two_queues() -> None:
    plan = plan_with(
        **{**queues(second={"namespace": "team-b", "localQueue": "multislice-queue"}), "ray": {"jobs": []}}
    )
    assert [(queue.namespace, queue.local_queue) for queue in plan.queues] == [
        ("default", "multislice-queue"),
        ("team-b", "multislice-queue"),
    ]


def test_a_namespace_may_begin_like_the_systems() -> None:
    assert plan_with(queues=[{"namespace": "kubernetes-team"}]).queues[0].namespace == "kubernetes-team"
