"""What both admission rules read of a pod template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Object = dict[str, Any]

TPU = "google.com/tpu"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"


class Refused(Exception):
    """The webhook answers with an error; the API server reports that it failed."""


def chips(containers: Sequence[Object]) -> int:
    """How many TPU chips the containers ask for together; a request counts before a limit."""
    return sum(chips_of(container) for container in containers)


def chips_of(container: Object) -> int:
    resources = container.get("resources") or {}
    for kind in ("requests", "limits"):
        asked = int((resources.get(kind) or {}).get(TPU, 0))
        if asked:
            return asked
    return 0


def hosts(topology: str, chips_per_host: int) -> int:
    """How many hosts a slice of that topology has. Raises Refused."""
    try:
        sides = [int(side) for side in topology.split("x")]
    except ValueError as error:
        raise Refused(f"not a topology: {topology!r}") from error
    return max(math.prod(sides) // chips_per_host, 1)
