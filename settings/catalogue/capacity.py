"""The kinds of capacity a pool can be made of, and what each of them implies.

Sources: "About flex-start with queued provisioning" and "Flex-start" in GKE's documentation; the refusals of GKE's API;
the preconditions of Google's cluster toolkit for node pools.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

CapacityKind = Literal["on-demand", "reservation", "spot", "flex-start", "queued"]

LONGEST_RUN_S = 7 * 24 * 3600
"""Flex-start capacity is lent for at most seven days."""
SHORTEST_REQUEST_S = 600
"""Google's resize requests, which queued provisioning makes of ProvisioningRequests, take ten minutes to seven days."""
LONGEST_NODE_S = 120 * 24 * 3600
"""Compute Engine limits the run time of a machine to 30 seconds to 120 days ("Limit the run time of a VM")."""
SHORTEST_NODE_S = 30
QUEUED_LABEL = "cloud.google.com/gke-queued"
"""The taint on nodes that only a ProvisioningRequest may bring."""
QUEUED_FLOOR = "1.34"
"""Older GKE answers "Flex start node pools don't support TPUs with queued provisioning."."""


@dataclass(frozen=True)
class Capacity:
    """What follows from a kind of capacity.

    `empty`: the pool starts at 0 and must have autoscaling with a minimum of 0. `lent`: the nodes are Google's to take
    back at a stated time, so they are neither repaired nor upgraded in place. `unreserved`: GKE refuses anything but an
    explicit "no reservation".
    """

    kind: CapacityKind
    flex_start: bool = False
    queued: bool = False
    spot: bool = False
    reserved: bool = False

    @property
    def unreserved(self) -> bool:
        return self.spot or self.flex_start

    @property
    def empty(self) -> bool:
        return self.flex_start

    @property
    def lent(self) -> bool:
        return self.flex_start


CAPACITIES: dict[str, Capacity] = {
    "on-demand": Capacity("on-demand"),
    "reservation": Capacity("reservation", reserved=True),
    "spot": Capacity("spot", spot=True),
    "flex-start": Capacity("flex-start", flex_start=True),
    # On TPUs queued provisioning exists only together with flex-start.
    "queued": Capacity("queued", flex_start=True, queued=True),
}

WHY_NO_RESERVATION = {
    "on-demand": "on-demand capacity is not reserved",
    "spot": "spot machines are what nobody reserved",
    "flex-start": "flex-start capacity comes from a pool of its own",
    "queued": "DWS capacity comes from a pool of its own",
}
