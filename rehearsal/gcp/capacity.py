"""How many chips Google has, and how long it takes it: data that whoever rehearses sets, and the one owner of the question "is there room".

The table has rows of chips by zone, TPU family and kind of capacity; where no row says anything there is no limit. Chips that pools of
any cluster hold are taken from it. Its times are Google's own, in seconds, and shrink with the world's time scale; only `wait_s` of a row
is meant as stated, like REHEARSAL_JOB_DURATION, because it is what a rehearsal wants to watch.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from rehearsal.gcp.core import CloudState, Object
from rehearsal.gcp.machines import MACHINES, REGIONS, zones
from rehearsal.gcp.nodes import pool_nodes

FAMILIES: dict[str, tuple[str, ...]] = {
    "v3": ("ct3", "ct3p"), "v4": ("ct4p",), "v5e": ("ct5lp", "ct5l"), "v5p": ("ct5p",), "v6e": ("ct6e",), "7x": ("tpu7x",),
}  # fmt: skip
"""Generations by the names that Google's pages use, with their machine families."""

KINDS = ("on-demand", "spot", "reservation", "flex-start")

TIMES: dict[str, float] = {
    "idle_s": 600.0,  # an unneeded node is taken away (cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler)
    "boot_s": 120.0,  # from a resize to a node that is Ready
    "backoff_s": 300.0,  # after a failed scale-up (cluster-autoscaler: initial-node-group-backoff-duration)
    "queue_s": 60.0,  # flex-start where the table states no wait
    "booking_s": 600.0,  # nodes of a ProvisioningRequest that nothing may take away (GKE's autoscaler: BookingDuration)
    "retry_s": 120.0,  # a request that fits no pool yet is looked at again (pendingProvisioningRequestRetryPeriod)
    "missing_s": 120.0,  # an accepted request whose resize request is gone (maxUnreconciledPeriod)
    "run_s": 7 * 24 * 3600.0,  # the longest run of flex-start (how-to/provisioningrequest)
}

_STORED = ("capacity", "all")


@dataclass(frozen=True)
class FreeChips:
    """Whether a pool can have more nodes: how many chips are free (None: no limit), and after how many seconds of waiting."""

    free: int | None
    wait_s: float

    def takes(self, chips: int) -> bool:
        return self.free is None or chips <= self.free


UNLIMITED = FreeChips(None, 0.0)


def wrong(table: Any) -> str:
    """What is wrong with a table, or "": a row that never applies would look like a platform that copes with it."""
    if not isinstance(table, dict) or not set(table) <= {"chips", "times"}:
        return 'a JSON object with the keys "chips" (a list of rows) and "times" is wanted'
    rows, times = table.get("chips", []), table.get("times", {})
    if not isinstance(rows, list) or not isinstance(times, dict):
        return '"chips" is a list of rows and "times" an object'
    for row in rows:
        found = _wrong_row(row)
        if found:
            return f"{found}: {json.dumps(row)}"
    keys = [_key(row) for row in rows]
    if len(set(keys)) < len(keys):
        return "two rows of one zone, family and kind"
    bad = [key for key, value in times.items() if key not in TIMES or not _number(value)]
    return f"times are numbers of seconds named {', '.join(TIMES)}; not {', '.join(bad)}" if bad else ""


def _wrong_row(row: Any) -> str:
    if not isinstance(row, dict) or not set(row) <= {"zone", "family", "kind", "chips", "wait_s"}:
        return "a row has zone, family, kind, chips and, for flex-start, wait_s"
    if row.get("zone") not in {zone for region in REGIONS for zone in zones(region)}:
        return "no such zone"
    if row.get("family") not in FAMILIES:
        return f"family is one of {', '.join(FAMILIES)}"
    if row.get("kind") not in KINDS:
        return f"kind is one of {', '.join(KINDS)}"
    if "chips" in row and (not isinstance(row["chips"], int) or isinstance(row["chips"], bool) or row["chips"] < 0):
        return "chips is a whole number; leave it out where there is no limit"
    if "wait_s" in row and (row["kind"] != "flex-start" or not _number(row["wait_s"])):
        return "wait_s is a number of seconds, of flex-start only"
    return ""


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0


def _key(row: Object) -> tuple[str, str, str]:
    return row["zone"], row["family"], row["kind"]


def table(world: CloudState) -> Object:
    return {"chips": [], "times": {}, **(world.store.get(*_STORED) or {})}


def set_table(world: CloudState, stated: Object) -> None:
    world.store.put(*_STORED, stated)


def seconds(world: CloudState, name: str) -> float:
    """One of TIMES, as long as it takes in this world."""
    return float(table(world)["times"].get(name, TIMES[name])) * world.settings.time_scale


def kind(pool: Object) -> str:
    """What kind of capacity a pool's nodes come from."""
    config = pool["config"]
    if config.get("flexStart") or pool.get("queuedProvisioning", {}).get("enabled"):
        return "flex-start"
    if config.get("spot") or config.get("preemptible"):
        return "spot"
    affinity = config.get("reservationAffinity", {}).get("consumeReservationType", "")
    return "reservation" if affinity == "SPECIFIC_RESERVATION" else "on-demand"


def chips(pool: Object) -> int:
    """Chips of each node."""
    return MACHINES[pool["config"]["machineType"]].chips


def family(pool: Object) -> str:
    """The name in FAMILIES of a pool's machines; "" for those without chips."""
    machine = MACHINES[pool["config"]["machineType"]].family
    return next((name for name, families in FAMILIES.items() if machine in families), "")


def room(world: CloudState, pool: Object, zone: str) -> FreeChips:
    """What Google has left for nodes of a pool in a zone, beside those that the pool has."""
    wanted = (zone, family(pool), kind(pool))
    row: Object = next((row for row in table(world)["chips"] if _key(row) == wanted), {})
    wait = 0.0
    if wanted[2] == "flex-start":
        wait = float(row["wait_s"]) if "wait_s" in row else seconds(world, "queue_s")
    if "chips" not in row:
        return FreeChips(None, wait)
    used = sum(
        _held(other, zone) * chips(other)
        for other in world.store.list("pools")
        if zone in other["locations"] and (zone, family(other), kind(other)) == wanted
    )
    return FreeChips(max(0, int(row["chips"]) - used), wait)


def _held(pool: Object, zone: str) -> int:
    """Nodes for which a pool holds chips. One that is being made holds none before it has claimed them."""
    claimed = int(pool.get("_claim", 0))
    return claimed if pool.get("status") == "PROVISIONING" else max(pool_nodes.in_zone(pool, zone), claimed)


def claim(world: CloudState, pool: Object, size: int) -> bool:
    """Takes the chips for `size` nodes in each zone of a stored pool, until an operation writes the pool anew. False: too few are left."""
    with world.store.lock:
        stored = world.store.get("pools", pool["_name"])
        if stored is None:
            return True
        for zone in pool["locations"]:
            more = max(0, size - _held(stored, zone))
            if not room(world, stored, zone).takes(more * chips(stored)):
                return False
        world.store.put("pools", pool["_name"], {**stored, "_claim": size})
    return True
