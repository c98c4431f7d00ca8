"""What a container gets of its node's TPU chips: GKE's description of the slice, and in place of the chips as many devices of
JAX's CPU backend, which talk to each other by gloo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

RESOURCE = "google.com/tpu"
ACCELERATOR, TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
_TYPES = {
    "tpu-v3-device": ("v3", 2, 2),
    "tpu-v3-slice": ("v3", 2, 2),
    "tpu-v4-podslice": ("v4", 2, 1),
    "tpu-v5-lite-podslice": ("v5litepod", 1, 1),
    "tpu-v5-lite-device": ("v5litepod", 1, 1),
    "tpu-v5p-slice": ("v5p", 2, 1),
    "tpu-v6e-slice": ("v6e", 1, 1),
    "tpu7x": ("tpu7x", 2, 2),
}
"""By GKE's label: how Cloud TPU calls the generation, the cores of a chip, which its names of slices count, and what JAX sees of a
chip: the two cores of v4 and v5p are one device (megacore), those of v3 and 7x are two."""


def variables(container: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """The variables, all of them JAX's own, of a container with a limit of TPU chips on a node with these labels; none without."""
    chips, known = _chips(container), _TYPES.get(labels.get(ACCELERATOR, ""))
    if chips == 0:
        return {}
    devices = chips * (known[2] if known is not None else 1)
    return {
        "JAX_PLATFORMS": "cpu",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }


def of_slice(container: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, str]:
    """What GKE's device plugin tells a container with TPU chips of the slice that its node, with these labels, is of; the pod's
    own variables win. The names are those that pods on GKE print; the bounds of hosts and chips are left out, as only libtpu reads
    them."""
    topology, known = labels.get(TOPOLOGY), _TYPES.get(labels.get(ACCELERATOR, ""))
    if _chips(container) == 0 or topology is None:
        return {}
    found = {"TPU_TOPOLOGY": topology, "TPU_SKIP_MDS_QUERY": "true"}
    if known is None:
        return found
    generation, cores, _ = known
    count = math.prod(int(part) for part in topology.split("x")) * cores
    return {**found, "TPU_ACCELERATOR_TYPE": f"{generation}-{count}"}


def _chips(container: Mapping[str, Any]) -> int:
    limits = (container.get("resources") or {}).get("limits") or {}
    return int(limits.get(RESOURCE, 0))
