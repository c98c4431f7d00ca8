"""What the autoscaler sees of a cluster that is changing."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.gcp.nodes import pool_nodes, shapes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler import autoscaler, scale_up
from tests.rehearsal.gke.builders import CLUSTER, ZONE, pool, worker

pytestmark = pytest.mark.unit


class Listed:
    """An API server that answers lists only."""

    def __init__(self, **kinds: list[Any]) -> None:
        self.kinds = kinds

    def list(self, path: str, **query: str) -> list[Any]:
        return self.kinds[path.rsplit("/", 1)[-1]]


def test_nodes_that_have_not_told_what_they_have_are_still_to_come() -> None:
    """A node is registered first and tells its status after: pods that look for a node in between bring no second slice."""
    grown = pool_nodes.grown(pool("slice"), ZONE, 4, Member(0, ZONE))
    bare = [
        {"metadata": {"name": name, "labels": shapes.labels(grown, name, ZONE)}, "spec": {}, "status": {}}
        for name in shapes.named(grown)
    ]
    waiting = [worker(f"w-{n}") for n in range(4)]
    seen = autoscaler.see(Listed(nodes=bare, pods=waiting), CLUSTER, {grown["_name"]: grown})  # type: ignore[arg-type]
    assert len(seen.bins) == 4
    found = scale_up.plan(
        scale_up.waiting(seen.pods), seen.bins, [grown, pool("other")], lambda of, zone, count: "", set()
    )
    assert (found.growths, found.unhelped) == ([], [])
