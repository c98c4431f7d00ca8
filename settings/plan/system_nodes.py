"""What the nodes for system pods have to give: their machines' sizes, and what is left for jobs' pods without chips.

Machine sizes follow from their names (Compute Engine, "General-purpose machine family"); what GKE keeps of a machine is in
"Plan GKE Standard node sizes".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from settings.schema.stack import DefaultPool

_GIB_PER_VCPU = {
    ("e2", "standard"): 4, ("e2", "highmem"): 8, ("e2", "highcpu"): 1,
    ("n2", "standard"): 4, ("n2", "highmem"): 8, ("n2", "highcpu"): 1,
    ("n2d", "standard"): 4, ("n2d", "highmem"): 8, ("n2d", "highcpu"): 1,
    ("c3", "standard"): 4, ("c3", "highmem"): 8, ("c3", "highcpu"): 2,
    ("n4", "standard"): 4, ("n4", "highmem"): 8, ("n4", "highcpu"): 2,
    ("t2d", "standard"): 4,
}  # fmt: skip

_E2, _N2, _N2D, _C3 = (
    (2, 4, 8, 16, 32),
    (2, 4, 8, 16, 32, 48, 64, 80, 96, 128),
    (2, 4, 8, 16, 32, 48, 64, 80, 96),
    (4, 8, 22, 44, 88, 176),
)
_VCPUS = {
    ("e2", "standard"): _E2, ("e2", "highmem"): _E2[:4], ("e2", "highcpu"): _E2,
    ("n2", "standard"): _N2, ("n2", "highmem"): _N2, ("n2", "highcpu"): _N2[:9],
    ("n2d", "standard"): (*_N2D, 128, 224), ("n2d", "highmem"): _N2D, ("n2d", "highcpu"): (*_N2D, 128, 224),
    ("c3", "standard"): _C3, ("c3", "highmem"): _C3, ("c3", "highcpu"): _C3,
    ("n4", "standard"): _N2[:8], ("n4", "highmem"): _N2[:8], ("n4", "highcpu"): _N2[:8],
    ("t2d", "standard"): (1, 2, 4, 8, 16, 32, 48, 60),
}  # fmt: skip
"""The sizes that there are of each."""

_SHARED_CORE_GIB = {"e2-micro": 1, "e2-small": 2, "e2-medium": 4}
"""Of their 2 vCPU GKE keeps 1060 millicores and leaves 940: as much as of one vCPU."""

SYSTEM_MILLICORES, SYSTEM_MIB = 600, 900
"""What GKE's own pods (logging, metrics, DNS, network, storage) ask for on a node of a small cluster."""
MANAGERS, MANAGER_MILLICORES, MANAGER_MIB = 2, 500, 512
"""Kueue's and JobSet's manager, one pod each in a cluster, and what each asks for."""
CONTROLLERS_MILLICORES, CONTROLLERS_MIB = MANAGERS * MANAGER_MILLICORES, MANAGERS * MANAGER_MIB


@dataclass(frozen=True)
class Room:
    """An amount of CPU and memory."""

    millicores: int
    mib: int

    def fits(self, other: Room) -> bool:
        return self.millicores >= other.millicores and self.mib >= other.mib


def machine_room(machine_type: str) -> Room | None:
    """A machine's size, or None where the name does not tell it."""
    if machine_type in _SHARED_CORE_GIB:
        return Room(1000, _SHARED_CORE_GIB[machine_type] * 1024)
    match = re.fullmatch(r"([a-z0-9]+)-(standard|highmem|highcpu)-([0-9]{1,4})", machine_type)
    if match is None or (match.group(1), match.group(2)) not in _GIB_PER_VCPU:
        return None
    vcpus = int(match.group(3))
    return Room(vcpus * 1000, vcpus * _GIB_PER_VCPU[match.group(1), match.group(2)] * 1024)


def sizes_instead(machine_type: str) -> tuple[str, ...]:
    """The machine types that there are of a family which has none of this size; nothing for those that are or that are not known."""
    match = re.fullmatch(r"([a-z0-9]+)-(standard|highmem|highcpu)-([0-9]+)", machine_type)
    sizes = _VCPUS.get((match.group(1), match.group(2)), ()) if match is not None else ()
    if match is None or match.group(3) in map(str, sizes):
        return ()
    return tuple(f"{match.group(1)}-{match.group(2)}-{size}" for size in sizes)


def node_room(machine: Room) -> Room:
    """What is left of a machine for pods other than GKE's own."""
    vcpus = machine.millicores // 1000
    reserved = 60 + (10 if vcpus > 1 else 0) + 5 * max(0, min(vcpus, 4) - 2) + int(2.5 * max(0, vcpus - 4))
    left, kept = machine.mib, 100.0
    for band, share in ((4096, 0.25), (4096, 0.20), (8192, 0.10), (114688, 0.06), (1 << 40, 0.02)):
        kept += min(left, band) * share
        left = max(0, left - band)
    return Room(machine.millicores - reserved - SYSTEM_MILLICORES, machine.mib - int(kept) - SYSTEM_MIB)


def managers_on(machine: Room) -> int:
    """How many of the controllers' managers a node of this size carries."""
    node = node_room(machine)
    return max(0, min(node.millicores // MANAGER_MILLICORES, node.mib // MANAGER_MIB))


def pool_room(pool: DefaultPool, zones: int) -> Room | None:
    """What all nodes of the default pool have left beside GKE's pods and the controllers, or None for a machine whose
    size is not known."""
    machine = machine_room(pool.machine_type)
    if machine is None:
        return None
    node, count = node_room(machine), pool.nodes * zones
    return Room(max(0, node.millicores * count - CONTROLLERS_MILLICORES), max(0, node.mib * count - CONTROLLERS_MIB))
