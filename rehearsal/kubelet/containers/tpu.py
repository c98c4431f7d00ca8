"""What a container gets of its node's TPU chips: GKE's description of the slice, and in place of the chips as many devices of
JAX's CPU backend, which talk to each other by gloo.

The description is what GKE's device plugin answers the kubelet for a container, by its source: github.com/ai-on-gke/tpu-device-plugin,
InitEnvs in pkg/tpu/util/util.go, and its tests. Left out is what leads to something that is not here: VBAR_CONTROL_SERVICE_URL (the
node's network service), WORKLOAD_NIC_PREFERRED_NUMA and TPU_VISIBLE_CHIPS (of devices), and slices within a slice.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

RESOURCE = "google.com/tpu"
ACCELERATOR, TOPOLOGY = "cloud.google.com/gke-tpu-accelerator", "cloud.google.com/gke-tpu-topology"
COUNT, RESILIENCE = "cloud.google.com/gke-accelerator-count", "cloud.google.com/gke-tpu-ici-resiliency"
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


_NEWEST = "tpu7x"
_FLAT, _RESILIENT = ("v5litepod", "v6e"), ("v4", "v5p", "tpu7x")
_TRAYS = {1: (1, 1, 1), 2: (1, 2, 1), 4: (2, 2, 1), 8: (2, 4, 1)}
"""How so many chips of one host lie."""
_CUBE, _TORUS, _METRICS_PORT = 4, 16, 8431
"""Chips along a side: from a cube of the first on, slices in three dimensions are closed to a torus; a flat one is along a side
of exactly the second. And the first of libtpu's ports for figures."""


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
    own variables win. Nothing where a label is missing or has a value that the plugin does not know: it refuses to start."""
    chips, known = _chips(container), _TYPES.get(labels.get(ACCELERATOR, ""))
    if chips not in _TRAYS or known is None or TOPOLOGY not in labels or COUNT not in labels:
        return {}
    (generation, cores, _), on_node = known, int(labels[COUNT])
    shape = _shape(labels[TOPOLOGY])
    size = math.prod(shape)
    found = {
        "TPU_TOPOLOGY": labels[TOPOLOGY],
        "TPU_SKIP_MDS_QUERY": "true",
        "TPU_ACCELERATOR_TYPE": f"{generation}-{size * cores}",
        "TPU_RUNTIME_METRICS_PORTS": _listed(_METRICS_PORT + n for n in range(on_node * _ports_per_chip(generation))),
    }
    if labels[ACCELERATOR].endswith("slice") or generation == _NEWEST:
        found |= _bounds(generation, shape, chips, labels.get(RESILIENCE))
    if size == on_node and generation != _NEWEST:
        found |= {"TPU_WORKER_ID": "0", "TPU_WORKER_HOSTNAMES": "localhost"}
    return found


def _bounds(generation: str, shape: Sequence[int], chips: int, resilience: str | None) -> dict[str, str]:
    """How the chips of a slice of `shape` lie in hosts that give `chips` each. Some variables have two names."""
    tray, cube = _TRAYS[chips], min(shape) >= _CUBE
    wraps = [side == _TORUS for side in shape] if generation in _FLAT else [cube] * len(shape)
    values = {
        "TPU_TOPOLOGY_ALT": "false",
        "TPU_TOPOLOGY_WRAP": _listed(str(wrap).lower() for wrap in wraps),
        "TPU_HOST_BOUNDS": _listed(side // part for side, part in zip(shape, tray, strict=True)),
        "TPU_CHIPS_PER_HOST_BOUNDS": _listed(tray),
    }
    found = values | {name.removeprefix("TPU_").removeprefix("TOPOLOGY_"): value for name, value in values.items()}
    if cube and generation in _RESILIENT:
        found["ENABLE_ICI_RESILIENCY"] = "false" if resilience is not None and resilience.lower() == "false" else "true"
    return found


def _shape(topology: str) -> list[int]:
    """Chips along each of three sides: 2x4 is 2x4x1."""
    sides = [int(side) for side in topology.split("x")]
    return sides + [1] * (3 - len(sides))


def _ports_per_chip(generation: str) -> int:
    return 2 if generation == _NEWEST else 1


def _listed(values: Iterable[object]) -> str:
    return ",".join(str(value) for value in values)


def _chips(container: Mapping[str, Any]) -> int:
    limits = (container.get("resources") or {}).get("limits") or {}
    return int(limits.get(RESOURCE, 0))
