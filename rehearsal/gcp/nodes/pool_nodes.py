"""The nodes of a pool one by one: which there are, from when on, until when, and for whom.

A pool that only a user resizes has `_size` nodes in each zone and nothing more to say. The first change by the autoscaler writes the
nodes down one by one (`_members`), since it takes single nodes away and nodes need time to boot. Pure functions of a pool.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, replace

from rehearsal.gcp.core import Object


@dataclass(frozen=True)
class Member:
    """A node that a pool should have. `n` tells it from the pool's other nodes of that zone and is never used again. Times are seconds
    since the epoch: it is there from `ready_at` on, and Google takes it away at `ends_at`. `request` is its resize request."""

    n: int
    zone: str
    ready_at: float = 0.0
    ends_at: float | None = None
    request: str = ""


def of(pool: Object) -> list[Member]:
    """Every node that the pool should have, also those that still boot."""
    listed = pool.get("_members")
    if listed is None:
        return [Member(n, zone) for zone in pool["locations"] for n in range(pool["_size"])]
    return [member for entry in listed if (member := Member(**entry)).zone in pool["locations"]]


def in_zone(pool: Object, zone: str) -> int:
    return sum(member.zone == zone for member in of(pool))


def grown(pool: Object, zone: str, count: int, kind: Member) -> Object:
    """The pool with `count` more nodes in a zone, with the times and the request of `kind`."""
    before = of(pool)
    first = max(pool.get("_next", 0), *(member.n + 1 for member in before), 0)
    fresh = [replace(kind, n=first + k, zone=zone) for k in range(count)]
    return {**_having(pool, [*before, *fresh]), "_next": first + count}


def without(pool: Object, gone: set[tuple[str, int]]) -> Object:
    """The pool without the members (zone, n). It remembers the highest number, so that a new node gets a new name."""
    before = of(pool)
    counted = max(pool.get("_next", 0), *(member.n + 1 for member in before), 0)
    return {**_having(pool, [m for m in before if (m.zone, m.n) not in gone]), "_next": counted}


def resized(pool: Object, size: int) -> Object:
    """The pool with that many nodes in each zone, as a user asks for it: there at once, without an end."""
    if pool.get("_members") is None:
        return {**pool, "_size": size}
    for zone in pool["locations"]:
        there = sorted((m for m in of(pool) if m.zone == zone), key=lambda m: m.n)
        pool = without(pool, {(m.zone, m.n) for m in there[size:]})
        pool = grown(pool, zone, max(0, size - len(there)), Member(0, zone))
    return pool


def _having(pool: Object, members: list[Member]) -> Object:
    """`_size` is what the API shows of a pool whose zones may differ: the most that a zone has."""
    sizes = Counter(member.zone for member in members)
    return {**pool, "_members": [asdict(member) for member in members], "_size": max(sizes.values(), default=0)}
