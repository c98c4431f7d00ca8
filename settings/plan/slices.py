"""How many slices and chips an entry of the stack file stands for, and for how long."""

from __future__ import annotations

from collections.abc import Iterable

from settings.catalogue.capacity import CAPACITIES, LONGEST_RUN_S
from settings.schema.field_types import seconds
from settings.schema.stack import Settings, SliceSection


def system_zones(settings: Settings) -> tuple[str, ...]:
    """Where the nodes for system pods stand: where the stack says, or beside the slices."""
    stated = settings.cluster.default_pool.zones
    return tuple(stated) if stated else tuple(dict.fromkeys(section.zone for section in settings.slices))


def is_autopilot(settings: Settings) -> bool:
    return settings.cluster.mode == "autopilot"


def count_of(section: SliceSection) -> int:
    """How many slices there can be at a time: one a pool, or as many as are counted."""
    return section.count if section.count is not None else len(section.pools)


def chips_of(section: SliceSection) -> int:
    """Chips that jobs may use at a time. A quota with a problem of its own limits nothing."""
    shape = section.shape
    chips = shape.chips * count_of(section)
    quota = section.quota if section.quota is not None else chips
    return quota if shape.chips <= quota <= chips and quota % shape.chips == 0 else chips


def slices_of(section: SliceSection) -> int:
    """The most slices that one job can have there: a multi-host pool is one slice, and GKE serves a ProvisioningRequest
    from one pool."""
    return 1 if is_queued(section) else chips_of(section) // section.shape.chips


def max_run_seconds(section: SliceSection) -> int | None:
    """The seconds after which Google takes a node back; None: never."""
    if section.max_run_duration is not None:
        return seconds(section.max_run_duration)
    return LONGEST_RUN_S if CAPACITIES[section.capacity].lent else None


def request_seconds(sections: Iterable[SliceSection]) -> int | None:
    """For how long a ProvisioningRequest asks for nodes, where a job may run on any of `sections`: the shortest time for which
    one of the queued ones is lent. None where none is queued."""
    runs = (max_run_seconds(section) for section in sections if is_queued(section))
    return min((run for run in runs if run is not None), default=None)


def is_queued(section: SliceSection) -> bool:
    """Whether its nodes are requested by ProvisioningRequests."""
    return CAPACITIES[section.capacity].queued
