"""Machine types and zones that the rehearsal offers: data, from Google's lists of 2026.

TPU machines: vCPUs and memory by the Compute API; accelerator labels and topologies by GKE's TPU pages
(cloud.google.com/kubernetes-engine/docs/concepts/plan-tpus);
zones by cloud.google.com/tpu/docs/regions-zones. Zones change: a rehearsal of another zone edits ZONES_OF.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Machine:
    """A machine type. `chips` and what follows are those of TPU machines only; `dimensions` is 2 or 3, `cubes` the most 4x4x4
    cubes of a three-dimensional slice, `flat` says whether the machine makes two-dimensional slices of several hosts."""

    name: str
    cpus: int
    memory_gb: int
    accelerator: str = ""
    chips: int = 0
    dimensions: int = 0
    single_host: str = ""
    flat: bool = False
    cubes: int = 0

    @property
    def family(self) -> str:
        return self.name.split("-")[0]


@dataclass(frozen=True)
class _Family:
    """The machine types of one TPU family: rows of (chips, vCPUs, GB, topology of a single host)."""

    name: str
    label: str
    dimensions: int
    rows: tuple[tuple[int, int, int, str], ...]
    flat: tuple[int, ...] = ()
    cubes: int = 0
    word: str = "hightpu"

    def machines(self) -> list[Machine]:
        return [
            Machine(
                f"{self.name}-{self.word}-{chips}t", cpus, memory, self.label, chips, self.dimensions, single,
                chips in self.flat, self.cubes if chips == 4 else 0,
            )
            for chips, cpus, memory, single in self.rows
        ]  # fmt: skip


_TPU_FAMILIES = (
    _Family("ct3", "tpu-v3-device", 2, ((4, 96, 340, "2x2"),)),
    _Family("ct3p", "tpu-v3-slice", 2, ((4, 48, 340, ""),), flat=(4,)),
    _Family("ct4p", "tpu-v4-podslice", 3, ((4, 240, 407, "2x2x1"),), cubes=64),
    _Family(
        "ct5lp", "tpu-v5-lite-podslice", 2, ((1, 24, 48, "1x1"), (4, 112, 192, "2x2"), (8, 224, 384, "2x4")), flat=(4,)
    ),
    _Family("ct5l", "tpu-v5-lite-device", 2, ((1, 24, 48, "1x1"), (4, 112, 192, "2x2"), (8, 224, 384, "2x4"))),
    _Family("ct5p", "tpu-v5p-slice", 3, ((4, 208, 448, "2x2x1"),), cubes=140),
    _Family(
        "ct6e",
        "tpu-v6e-slice",
        2,
        ((1, 44, 176, "1x1"), (4, 180, 720, "2x2"), (8, 360, 1440, "2x4")),
        flat=(4,),
        word="standard",
    ),
    _Family("tpu7x", "tpu7x", 3, ((1, 56, 240, "1x1x1"), (4, 224, 960, "2x2x1")), cubes=144, word="standard"),
)
TPUS: dict[str, Machine] = {machine.name: machine for family in _TPU_FAMILIES for machine in family.machines()}

_FAMILIES = {
    "e2-standard": 4,
    "e2-highmem": 8,
    "e2-highcpu": 1,
    "n1-standard": 3.75,
    "n2-standard": 4,
    "n2-highmem": 8,
    "n2d-standard": 4,
    "c3-standard": 4,
}
_SIZES = (2, 4, 8, 16, 32, 48, 64, 80)
CPUS: dict[str, Machine] = {
    **{
        f"{family}-{n}": Machine(f"{family}-{n}", n, int(n * per_cpu))
        for (family, per_cpu), n in itertools.product(_FAMILIES.items(), _SIZES)
    },
    **{
        f"e2-{size}": Machine(f"e2-{size}", 2, memory) for size, memory in {"micro": 1, "small": 2, "medium": 4}.items()
    },
    **{f"c3-standard-{n}": Machine(f"c3-standard-{n}", n, n * 4) for n in (4, 8, 22, 44, 88, 176)},
}
MACHINES: dict[str, Machine] = {**CPUS, **TPUS}

REGIONS: dict[str, str] = {
    "us-central1": "abcf", "us-central2": "b", "us-east1": "bcd", "us-east4": "abc", "us-east5": "abc", "us-south1": "abc",
    "us-west1": "abc", "us-west4": "abc", "europe-west1": "bcd", "europe-west4": "abc", "asia-northeast1": "abc",
    "asia-southeast1": "abc", "southamerica-west1": "abc",
}  # fmt: skip
ZONES_OF: dict[str, frozenset[str]] = {
    "ct3": frozenset({"us-central1-a", "us-central1-b", "us-central1-f", "europe-west4-a"}),
    "ct3p": frozenset({"us-east1-d", "europe-west4-a"}),
    "ct4p": frozenset({"us-central2-b"}),
    "ct5lp": frozenset({"us-central1-a", "us-south1-a", "us-west1-c", "us-west4-a", "europe-west4-b"}),
    "ct5l": frozenset({"europe-west4-b", "us-central1-a"}),
    "ct5p": frozenset({"us-central1-a", "us-east5-a", "europe-west4-b"}),
    "ct6e": frozenset(
        {
            "us-central1-b",
            "us-east1-d",
            "us-east5-a",
            "us-east5-b",
            "europe-west4-a",
            "asia-northeast1-b",
            "us-south1-a",
            "us-south1-b",
            "southamerica-west1-a",
        }
    ),
    "tpu7x": frozenset({"us-central1-c"}),
}


def zones(region: str) -> list[str]:
    return [f"{region}-{letter}" for letter in REGIONS.get(region, "")]


def region_of(location: str) -> str:
    """The region of a zone, or the region itself."""
    return location if location in REGIONS else location.rsplit("-", 1)[0]


def offered(machine: str, zone: str) -> bool:
    """Whether a zone has machines of that type."""
    found = MACHINES.get(machine)
    if found is None or zone not in zones(region_of(zone)):
        return False
    return zone in ZONES_OF[found.family] if found.chips else True


def topology(text: str) -> tuple[int, ...] | None:
    parts = text.split("x")
    return tuple(int(p) for p in parts) if all(p.isdigit() and int(p) > 0 for p in parts) else None


def hosts(machine: Machine, text: str) -> int | None:
    """How many machines a slice of that topology has; None when the machine type does not make such slices."""
    if text == machine.single_host:
        return 1
    shape = topology(text)
    if shape is None or len(shape) != machine.dimensions or not _makes(machine, shape):
        return None
    return math.prod(shape) // machine.chips


_FLAT = {(2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16)}
_SMALL = {(2, 2, 2), (2, 2, 4), (2, 4, 4)}


def _makes(machine: Machine, shape: tuple[int, ...]) -> bool:
    """In two dimensions sides double; in three they are small, or multiples of four that do not fall, up to the family's size."""
    if machine.dimensions == 2:
        return machine.flat and shape in _FLAT
    whole = all(side % 4 == 0 for side in shape) and shape == tuple(sorted(shape))
    return machine.cubes > 0 and (shape in _SMALL or (whole and math.prod(shape) // 64 <= machine.cubes))
