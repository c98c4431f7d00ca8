"""The changes that the autoscaler makes to pools in the store. What is written here is what the next life of the server goes on with."""

from __future__ import annotations

import time

from rehearsal.gcp import capacity
from rehearsal.gcp.core import CloudState, Object
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler import scale_up
from rehearsal.gke.provisioning.provisioning import LIVE


def grow(world: CloudState, wanted: scale_up.Growth, request: str = "", run_s: float | None = None) -> bool:
    """Adds nodes to a pool, to boot in a while, for a resize request if one is named. False when that can no longer be: the pool is being
    changed, is as large as it may be, or Google has no chips. `run_s` is how long they may stay, in Google's time."""
    with world.store.lock:
        pool = world.store.get("pools", wanted.pool["_name"])
        if pool is None or pool.get("status") not in LIVE or scale_up.space(pool, wanted.zone) < wanted.count:
            return False
        room = capacity.room(world, pool, wanted.zone)
        if not room.takes(wanted.count * capacity.chips(pool)):
            return False
        wait_s = 0.0 if request else room.wait_s  # a request has waited before
        ready_at = time.time() + wait_s + capacity.seconds(world, "boot_s")
        kind = Member(0, wanted.zone, ready_at, _end(world, pool, ready_at, run_s), request)
        world.store.put("pools", pool["_name"], pool_nodes.grown(pool, wanted.zone, wanted.count, kind))
        return True


def _end(world: CloudState, pool: Object, ready_at: float, run_s: float | None) -> float | None:
    """When Google takes a node away: after its request's run, its pool's, or the longest run of flex-start."""
    stated = pool["config"].get("maxRunDuration")
    if run_s is None and stated:
        run_s = float(str(stated).rstrip("s"))
    if run_s is not None:
        return ready_at + run_s * capacity.seconds(world, "run_s") / capacity.TIMES["run_s"]
    return ready_at + capacity.seconds(world, "run_s") if capacity.kind(pool) == "flex-start" else None


def take(world: CloudState, name: str, gone: set[tuple[str, int]]) -> Object | None:
    """Takes members (zone, n) from a pool, and returns the pool as it is then; None when it is being changed or is gone."""
    with world.store.lock:
        pool = world.store.get("pools", name)
        if pool is None or pool.get("status") not in LIVE:
            return None
        pool = pool_nodes.without(pool, gone)
        world.store.put("pools", name, pool)
        return pool
