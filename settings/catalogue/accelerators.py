"""The TPU catalogue: one frozen row per machine type, and everything that follows from a row and a topology.

Sources (read August to November 2026): topologies and labels from xpk's system characteristics and from the GKE
cluster autoscaler's label table; vCPU and memory from a dump of the Compute API's machine types; zones from Google's
"TPU regions and zones" page; minimum versions from the GKE "TPUs in GKE" and "Multislice" pages. Numbers without a
primary source carry `unverified`. Not here: the `tpu7` family (xpk names it, but nobody publishes its size).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from functools import cache

from settings.catalogue.labels import ACCELERATOR_LABEL, TOPOLOGY_LABEL


class Placement(Enum):
    """How the hosts of a slice are put next to each other."""

    NONE = "none"
    """One host: GKE refuses a placement policy and a TPU topology on such a pool."""
    COMPACT = "compact"
    """Several hosts on one interconnect: type COMPACT together with the topology."""
    WORKLOAD_POLICY = "workload-policy"
    """7x: a HIGH_THROUGHPUT workload policy by name; the placement's type must stay empty, or every later preview
    wants to replace the pool."""


@dataclass(frozen=True)
class MachineType:
    """One row of the catalogue."""

    name: str
    generation: str
    chips: int
    vcpus: int
    memory_gb: int
    accelerator: str
    cores_per_chip: int
    single_host: tuple[str, ...]
    multi_host: tuple[str, ...] = ()
    max_cubes: int = 0
    unverified: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """`ct5lp` of `ct5lp-hightpu-4t`: what zones are listed by."""
        return self.name.split("-", 1)[0]

    @property
    def multislice(self) -> bool:
        """Several slices in one job are supported by every generation but v3."""
        return self.generation != "v3"

    @property
    def devices_per_chip(self) -> int:
        """How many devices JAX shows for a chip: v4 and v5p join their two cores into one, v3 and 7x do not."""
        return 2 if self.generation in ("v3", "7x") else 1

    @property
    def ray_type(self) -> str:
        """What Ray calls this generation (ray.util.accelerators)."""
        return {"v5e": "TPU-V5LITEPOD", "7x": "TPU-V7X"}.get(self.generation, f"TPU-{self.generation.upper()}")

    def topologies(self) -> tuple[str, ...]:
        """All topologies this machine type can make, smallest first."""
        return (*self.single_host, *self.multi_host, *cubes(self.max_cubes))


@dataclass(frozen=True)
class SliceShape:
    """What one slice is made of: derived from a machine type and a topology that fit each other."""

    machine: MachineType
    topology: str

    @property
    def chips(self) -> int:
        return math.prod(dimensions(self.topology))

    @property
    def hosts(self) -> int:
        return self.chips // self.machine.chips

    @property
    def placement(self) -> Placement:
        if self.hosts == 1:
            return Placement.NONE
        return Placement.WORKLOAD_POLICY if self.machine.generation == "7x" else Placement.COMPACT

    @property
    def node_labels(self) -> dict[str, str]:
        """The labels GKE puts on the nodes of such a slice: a flavor and a job select by them."""
        return {ACCELERATOR_LABEL: self.machine.accelerator, TOPOLOGY_LABEL: self.topology}


def dimensions(topology: str) -> tuple[int, ...]:
    """`2x4` -> (2, 4). Raises ValueError for what is not a topology at all."""
    return tuple(int(part) for part in topology.split("x"))


@cache
def cubes(limit: int) -> tuple[str, ...]:
    """The large three-dimensional topologies: sides are multiples of 4 in non-decreasing order, at most `limit`
    cubes of 4x4x4. Ordered by size."""
    sides = range(1, limit + 1)
    pairs = [(a, b) for a in sides for b in range(a, limit // a + 1)]
    found = [(a, b, c) for a, b in pairs for c in range(b, limit // (a * b) + 1)]
    return tuple(
        "x".join(str(4 * side) for side in cube) for cube in sorted(found, key=lambda cube: (math.prod(cube), cube))
    )


_SMALL_3D = ("2x2x2", "2x2x4", "2x4x4")
_WIDE_2D = ("2x4", "4x4", "4x8", "8x8", "8x16", "16x16")

_ROWS = (
    MachineType("ct3-hightpu-4t", "v3", 4, 96, 340, "tpu-v3-device", 2, ("2x2",)),
    MachineType(
        "ct3p-hightpu-4t",
        "v3",
        4,
        48,
        340,
        "tpu-v3-slice",
        2,
        (),
        ("4x4", "4x8", "8x8", "8x16", "16x16"),
        unverified=("topologies",),
    ),
    MachineType(
        "ct4p-hightpu-4t",
        "v4",
        4,
        240,
        407,
        "tpu-v4-podslice",
        2,
        ("2x2x1",),
        _SMALL_3D,
        64,
        unverified=("vcpus", "memory_gb"),
    ),
    MachineType("ct5lp-hightpu-1t", "v5e", 1, 24, 48, "tpu-v5-lite-podslice", 1, ("1x1",)),
    MachineType("ct5lp-hightpu-4t", "v5e", 4, 112, 192, "tpu-v5-lite-podslice", 1, ("2x2",), _WIDE_2D),
    MachineType("ct5lp-hightpu-8t", "v5e", 8, 224, 384, "tpu-v5-lite-podslice", 1, ("2x4",)),
    MachineType("ct5l-hightpu-1t", "v5e", 1, 24, 48, "tpu-v5-lite-device", 1, ("1x1",)),
    MachineType("ct5l-hightpu-4t", "v5e", 4, 112, 192, "tpu-v5-lite-device", 1, ("2x2",)),
    MachineType("ct5l-hightpu-8t", "v5e", 8, 224, 384, "tpu-v5-lite-device", 1, ("2x4",)),
    MachineType("ct5p-hightpu-4t", "v5p", 4, 208, 448, "tpu-v5p-slice", 2, ("2x2x1",), _SMALL_3D, 140),
    MachineType("ct6e-standard-1t", "v6e", 1, 44, 176, "tpu-v6e-slice", 1, ("1x1",)),
    MachineType("ct6e-standard-4t", "v6e", 4, 180, 720, "tpu-v6e-slice", 1, ("2x2",), _WIDE_2D),
    # Google's page says 180 vCPU for the 8-chip machine; the Compute API's own list says 360, which we follow.
    MachineType("ct6e-standard-8t", "v6e", 8, 360, 1440, "tpu-v6e-slice", 1, ("2x4",), unverified=("vcpus",)),
    MachineType("tpu7x-standard-1t", "7x", 1, 56, 240, "tpu7x", 2, ("1x1x1",)),
    MachineType("tpu7x-standard-4t", "7x", 4, 224, 960, "tpu7x", 2, ("2x2x1",), _SMALL_3D, 144),
)

MACHINE_TYPES: dict[str, MachineType] = {row.name: row for row in _ROWS}

ZONES: dict[str, tuple[str, ...]] = {
    "ct4p": ("us-central2-b",),
    "ct5lp": ("us-central1-a", "us-south1-a", "us-west1-c", "us-west4-a", "europe-west4-b"),
    # Google's page gives regions only for the older family: a region stands for all its zones.
    "ct5l": ("europe-west4", "us-central1"),
    "ct5p": ("us-central1-a", "us-east5-a", "europe-west4-b"),
    # The last three stand on an older list only.
    "ct6e": (
        "us-central1-b", "us-east1-d", "us-east5-a", "us-east5-b", "europe-west4-a", "asia-northeast1-b",
        "us-south1-a", "us-south1-b", "southamerica-west1-a",
    ),
    "tpu7x": ("us-central1-c",),
}  # fmt: skip
"""Where each family can be had. Zones change, so a stack can override a family's list (`tpuZones`). No zone is
published for v3 any more: whoever has some states it there."""

MINIMUM_GKE: dict[str, str] = {"v6e": "1.31.2-gke.1115000", "7x": "1.34.0-gke.2201000"}
MINIMUM_GKE_MULTISLICE = "1.27.4-gke.900"
"""Standard clusters."""
MINIMUM_GKE_AUTOPILOT = "1.29.2-gke.1521000"
"""From this version on Autopilot makes TPU slices of several hosts."""
MINIMUM_GKE_AUTOPILOT_OF: dict[str, str] = {"7x": "1.34.1-gke.3084001"}
"""Generations that came to Autopilot later (GKE's "About Ironwood (TPU7x)")."""
MINIMUM_GKE_SHAPES: dict[tuple[str, str], str] = {("tpu7x-standard-4t", "2x2x1"): "1.34.1-gke.1829001"}
"""Shapes whose pods GKE's admission turned away until then."""


def minimum_gke(machine: MachineType, topology: str) -> str:
    """The oldest GKE version that runs slices of this machine type in a multislice platform."""
    floor = MINIMUM_GKE.get(machine.generation, MINIMUM_GKE_MULTISLICE)
    return MINIMUM_GKE_SHAPES.get((machine.name, topology), floor)


def offered_in(family: str, zone: str, zones: dict[str, tuple[str, ...]]) -> bool:
    """Whether a family is listed in a zone, by the zone's name or by its region's."""
    return any(zone == place or zone.startswith(f"{place}-") for place in zones.get(family, ()))


def nearest_topology(machine: MachineType, wanted: str) -> str:
    """The topology of this machine type that is closest in chips to the wanted one, the smaller one on a tie."""
    try:
        chips = math.prod(dimensions(wanted))
    except ValueError:
        return machine.topologies()[0]
    return min(machine.topologies(), key=lambda topology: abs(math.prod(dimensions(topology)) - chips))
