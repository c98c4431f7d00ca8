"""No two resources of a stack have one URN, whatever names a valid stack file has: a real engine stops at the second one, when
cluster and pools may be there already. The mock engine's `record` does as well."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from pulumi_kubernetes.core.v1 import ConfigMap

from tests.support.platforms import TUTORIAL
from tests.support.recording import Recording, record

pytestmark = pytest.mark.unit

LOCAL_QUEUE = "kubernetes:kueue.x-k8s.io/v1beta2:LocalQueue"
SHAPE = {k: v for k, v in TUTORIAL["slices"][0].items() if k not in ("flavor", "pools")}


KINDS = [(topology, capacity) for topology in ("2x4", "4x4", "4x8", "8x8") for capacity in ("on-demand", "spot")]


def slices(*names: str) -> list[dict[str, Any]]:
    """Flavors of these names, each of a kind of its own."""
    kinds = zip(names, KINDS, strict=False)
    return [
        {**SHAPE, "topology": shape, "capacity": kind, "flavor": name, "pools": [f"{name}-one", f"{name}-two"]}
        for name, (shape, kind) in kinds
    ]


def queue(namespace: str, local: str = "q", **changes: Any) -> dict[str, Any]:
    """The queue of flavor NAMESPACE in the namespace of that name."""
    whole = {"clusterQueue": namespace, "localQueue": local, "namespace": namespace, "flavors": [namespace]}
    return {**whole, **changes}


NASTY: dict[str, Any] = {
    # Names of one kind of thing that are another's, end as another's resource does, or begin with another name.
    "slices": [
        *slices("default", "a", "b", "a-training", "a-pool", "files-prov", "files-config", "team-a"),
        {**SHAPE, "flavor": "files", "machineType": "ct6e-standard-4t", "topology": "4x4", "pools": ["queue"], "capacity": "queued"},
    ],
    "tpuZones": {"ct6e": ["us-west4"]},
    "priorities": [{"name": "a", "value": 1, "pods": True}, {"name": "a-pods", "value": 2, "pods": True}],
    "queues": [
        queue("default", flavors=["default", "files", "files-prov"], cpu={"flavor": "queue"}),
        queue("a"),
        queue("b", flavors=["b", "files-config"]),
        queue("a-training", local="a-q", flavors=["a-training", "a-pool"]),
    ],
    "teams": [
        {"name": "q", "flavors": {"team-a": {"chips": 64}}},
        {"name": "q-namespace", "namespace": "q-member", "flavors": {"team-a": {"chips": 64}}, "members": {"users": ["a@b.c"]}},
    ],
    "checkpoints": {"bucket": "some-bucket-of-ours"},
    "workloads": [
        {"name": "a", "slices": 1, "flavor": "a"},
        {"name": "a-jobset", "slices": 1, "flavor": "a-training"},
        {"name": "q", "slices": 1, "flavor": "team-a", "team": "q"},
        {"name": "queue", "slices": 1, "flavor": "default", "after": ["a"]},
    ],
    "ray": {"operator": "addon", "jobs": [{"name": "a-pool", "flavor": "default"}, {"name": "cluster", "flavor": "files"}]},
}  # fmt: skip


def test_a_nasty_configuration_gives_unique_urns(recorded: Callable[..., Recording]) -> None:
    made = recorded(**copy.deepcopy(NASTY))
    found = {(r.inputs["metadata"]["namespace"], r.inputs["metadata"]["name"]) for r in made.of_type(LOCAL_QUEUE)}
    assert {("default", "q"), ("a", "q"), ("b", "q"), ("q", "q")} <= found


def test_a_urn_that_is_used_twice_is_found() -> None:
    with pytest.raises(AssertionError, match=r"Duplicate resource URN: .*::same"):
        record(lambda: [ConfigMap("same", metadata={"name": name}) for name in ("one", "other")])


# -- queues of one name in several namespaces -------------------------------------------------------------------------


def two(*namespaces: str) -> dict[str, Any]:
    """Queues of one name in several namespaces."""
    return {"slices": slices(*namespaces), "queues": [queue(name) for name in namespaces], "workloads": []}


@pytest.mark.parametrize("order", [("a", "b", "default"), ("default", "b", "a")])
def test_queues_that_come_and_go_leave_the_others_as_they_are(
    recorded: Callable[..., Recording], order: tuple[str, ...]
) -> None:
    whole = {r.urn for r in recorded(**two(*order)).of_type(LOCAL_QUEUE)}
    for left_out in order:
        fewer = recorded(**two(*(name for name in order if name != left_out)))
        assert {r.urn for r in fewer.of_type(LOCAL_QUEUE)} < whole
