"""What a pod with chips asks for of its host on Autopilot, beside the chips.

Autopilot gives a TPU pod a node of its own ("Deploy TPU workloads on GKE Autopilot"), and fills in what a container does not state
("Resource requests in Autopilot"): 1 GiB of disk whatever the hardware, which is also the limit, and less than JAX with libtpu takes
when it is installed; half a core and 2 GiB of memory where it knows no better. In a standard cluster nothing is filled in, the node
is the pod's, and what is asked for could only keep it away from it: there nothing is stated, as in the tutorials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from settings.catalogue.accelerators import MachineType
from settings.plan.slices import is_autopilot
from settings.plan.system_nodes import Room
from settings.schema.stack import Settings

DISK = "ephemeral-storage"
"""Kubernetes' name for a node's disk as a resource."""
SHARE = Fraction(3, 4)
"""The rest is what GKE keeps of a machine, its own pods (DaemonSets, and the container that mounts a bucket), and the user's DaemonSets. A
node is there for one pod: a smaller request takes nothing from it that others would get."""
DISK_MIB = 8 * 1024
"""Python packages, twice while they are unpacked. Autopilot gives any pod up to 10 GiB."""


@dataclass(frozen=True)
class HostShare:
    room: Room
    disk_mib: int


def host_share(machines: Iterable[MachineType], settings: Settings) -> HostShare | None:
    """Of a pod that may be on any of these machines: what the smallest has. None in a standard cluster."""
    if not is_autopilot(settings):
        return None
    rooms = [_room(machine) for machine in machines]
    return HostShare(Room(min(r.millicores for r in rooms), min(r.mib for r in rooms)), DISK_MIB)


def _room(machine: MachineType) -> Room:
    """In whole cores and GiB. Half as much of a size that Google's own lists do not agree on: a pod that asks for more than there is
    waits for ever."""
    cores, gib = (
        int(size * (SHARE / 2 if field in machine.unverified else SHARE))
        for field, size in (("vcpus", machine.vcpus), ("memory_gb", machine.memory_gb))
    )
    return Room(cores * 1000, gib * 1024)
