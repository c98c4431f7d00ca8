"""Which jobs stand in the way of taking a stack down."""

from __future__ import annotations

from typing import Any

import pytest

from operations.stack.down import foreign_jobs

pytestmark = pytest.mark.unit

OWN: list[dict[str, Any]] = [
    {"type": "pulumi:pulumi:Stack"},
    {"type": "gcp:container/cluster:Cluster", "inputs": {"name": "c"}, "outputs": {"name": "c"}},
    {
        "type": "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
        "inputs": {"kind": "JobSet", "metadata": {"namespace": "default", "name": "ours"}},
    },
]


def workload(name: str, namespace: str = "default", kind: str = "JobSet", held: bool = True) -> dict[str, Any]:
    finalizers = ["kueue.x-k8s.io/resource-in-use"] if held else []
    owners = [{"kind": kind, "name": name}]
    return {"metadata": {"namespace": namespace, "ownerReferences": owners, "finalizers": finalizers}}


def test_the_stacks_own_jobs_are_known_by_its_state() -> None:
    assert foreign_jobs([workload("ours")], OWN) == []


@pytest.mark.parametrize(
    "stranger",
    [("default", "JobSet", "theirs"), ("elsewhere", "JobSet", "ours"), ("default", "Job", "ours")],
)
def test_a_stranger_is_named_by_namespace_kind_and_name(stranger: tuple[str, str, str]) -> None:
    namespace, kind, name = stranger
    assert foreign_jobs([workload("ours"), workload(name, namespace, kind)], OWN) == [stranger]


def test_what_kueue_has_let_go_stands_in_nobodys_way() -> None:
    """A finished job; but an elastic one's Workloads keep the finalizer."""
    assert foreign_jobs([workload("theirs", held=False)], OWN) == []
