"""Which pods fit which nodes, in the scheduler's own words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from rehearsal.gke.autoscaler import scheduling
from tests.rehearsal.gke.builders import QUEUED, ZONE, cpu_pool, pod, pool, queued_pool, worker

pytestmark = pytest.mark.unit

JOB_KEY = "jobset.sigs.k8s.io/job-key"
POOL = "cloud.google.com/gke-nodepool"


def leader(name: str, key: str) -> dict[str, Any]:
    """The first pod of a job as JobSet's webhook makes it for exclusive placement by pool."""
    own = {"key": JOB_KEY, "operator": "In", "values": [key]}
    others = [{"key": JOB_KEY, "operator": "Exists"}, {"key": JOB_KEY, "operator": "NotIn", "values": [key]}]
    terms = [
        [{"topologyKey": POOL, "namespaceSelector": {}, "labelSelector": {"matchExpressions": expressions}}]
        for expressions in ([own], others)
    ]
    stated = [{"requiredDuringSchedulingIgnoredDuringExecution": term} for term in terms]
    return worker(name, labels={JOB_KEY: key}, affinity={"podAffinity": stated[0], "podAntiAffinity": stated[1]})


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (worker("w"), ""),
        (pod("w", tpu=4), ""),
        (pod("w", tpu=5), "Insufficient google.com/tpu"),
        (pod("w", cpu="1000"), scheduling.TAINT),
        (pod("w", tpu=4, cpu="1000"), "Insufficient cpu"),
        (pod("w", tpu=4, nodeSelector={"team": "x"}), scheduling.SELECTOR),
        (pod("w", tpu=4, nodeSelector={"cloud.google.com/gke-nodepool": "slice"}), ""),
    ],
)
def test_a_node_to_come_takes_what_its_machine_and_labels_allow(wanted: dict[str, Any], reason: str) -> None:
    assert scheduling.why_not(scheduling.to_come(pool("slice"), ZONE, "n"), wanted) == reason


def test_a_queued_pool_wants_its_own_toleration_and_the_request_s_label() -> None:
    node = scheduling.to_come(queued_pool(), ZONE, "n", "gke-team-job-1-0123456789abcdef")
    chosen = {"autoscaling.gke.io/provisioning-request": "gke-team-job-1-0123456789abcdef"}
    assert scheduling.why_not(node, worker("w")) == scheduling.TAINT
    assert scheduling.why_not(node, worker("w", tolerations=[QUEUED])) == ""
    assert scheduling.why_not(node, pod("w", tpu=4, tolerations=[QUEUED], nodeSelector=chosen)) == ""


@pytest.mark.parametrize(
    ("operator", "values", "fits"),
    [
        ("In", ["tpu-v6e-slice"], True), ("NotIn", ["tpu-v6e-slice"], False), ("Exists", [], True), ("DoesNotExist", [], False),
    ],
)  # fmt: skip
def test_node_affinity(operator: str, values: list[str], fits: bool) -> None:
    expression = {"key": "cloud.google.com/gke-tpu-accelerator", "operator": operator, "values": values}
    stated = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    }
    wanted = pod("w", tpu=4, affinity={"nodeAffinity": stated})
    assert (scheduling.why_not(scheduling.to_come(pool("slice"), ZONE, "n"), wanted) == "") is fits


def test_what_a_node_s_pods_hold_is_gone() -> None:
    node = scheduling.to_come(pool("slice"), ZONE, "n")
    node.put(worker("first"))
    assert scheduling.why_not(node, worker("second")) == "Insufficient google.com/tpu"


def test_requests_count_init_containers_sidecars_limits_and_overhead() -> None:
    spec = {
        "containers": [{"resources": {"requests": {"cpu": "500m"}}}, {"resources": {"limits": {"cpu": "1"}}}],
        "initContainers": [
            {"restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}}},
            {"resources": {"requests": {"cpu": "3"}}},
        ],
        "overhead": {"cpu": "100m"},
    }
    assert scheduling.requests(spec)["cpu"] == Fraction("3.35")


def test_jobset_s_leaders_each_want_a_pool_of_their_own() -> None:
    nodes = [scheduling.to_come(pool(name), ZONE, f"{name}-{n}") for name in ("a", "b") for n in range(2)]
    placed = [scheduling.place(leader(f"leader-{key}", key), nodes) for key in ("one", "two", "three")]
    assert [node.name if node else None for node in placed] == ["a-0", "b-0", None]


def test_the_states_of_a_node_do_not_count_as_taints() -> None:
    stated = {
        "metadata": {"name": "n", "labels": {}},
        "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "4", "pods": "110"}, "conditions": [{"type": "Ready", "status": "False"}]},
    }
    node = scheduling.of_node(stated, [])
    assert node.upcoming
    assert scheduling.why_not(node, pod("p")) == ""


def test_a_cpu_pool_takes_no_tpu_pod() -> None:
    assert (
        scheduling.why_not(scheduling.to_come(cpu_pool(), ZONE, "n"), pod("w", tpu=4)) == "Insufficient google.com/tpu"
    )
