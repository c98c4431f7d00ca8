"""A platform of several generations and kinds of capacity, whose slices are alike: shared by the tests about them."""

from __future__ import annotations

from typing import Any

from tests.support.platforms import TUTORIAL


def slices_of(flavor: str, machine: str, topology: str, zone: str, pools: int = 1, **more: Any) -> dict[str, Any]:
    names = [f"{flavor}-{n}" for n in range(1, pools + 1)]
    return {"flavor": flavor, "machineType": machine, "topology": topology, "zone": zone, "pools": names, **more}


SLICES = [
    slices_of("reserved", "ct5lp-hightpu-4t", "4x4", "us-central1-a", 2, capacity="reservation", reservation="mine"),
    slices_of("spot", "ct5lp-hightpu-4t", "4x4", "us-central1-a", 2, capacity="spot", autoscaling={"min": 0}),
    slices_of("v6e", "ct6e-standard-4t", "4x4", "us-central1-b", autoscaling={"min": 0}),
    slices_of("dws", "ct6e-standard-4t", "4x4", "us-central1-b", 2, capacity="queued"),
    slices_of("v5p", "ct5p-hightpu-4t", "2x2x4", "us-central1-a", 2, autoscaling={"min": 0}),
    slices_of("small", "ct5lp-hightpu-4t", "2x4", "us-central1-a"),
    slices_of("tpu7", "tpu7x-standard-4t", "2x2x4", "us-central1-c", autoscaling={"min": 0}),
]
QUEUES = [
    {
        "clusterQueue": "a",
        "localQueue": "training",
        "flavors": ["reserved", "spot", "v6e", "dws", "v5p", "small", "tpu7"],
    }
]
GENERATIONS: dict[str, Any] = {
    **TUTORIAL,
    "location": "us-central1",
    "slices": SLICES,
    "queues": QUEUES,
    "workloads": [],
}
"""Two slices of v5e that are reserved and two that are spot, one of v6e, two lent ones of v6e and two of v5p, all of 16 chips on
4 hosts; and two that are different."""


def with_job(flavors: list[Any] | None = None, slices: int = 1, **more: Any) -> dict[str, Any]:
    listed = {} if flavors is None else {"flavors": flavors}
    return {**GENERATIONS, "workloads": [{"name": "train", "slices": slices, **listed, **more}]}
