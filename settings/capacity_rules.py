"""Capacity: which kinds go with which sizes, reservations and running times. A wrong pair is refused by GKE only after
minutes, so each is a fault here, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from settings.capacity import (
    CAPACITIES,
    LONGEST_NODE_S,
    LONGEST_RUN_S,
    QUEUED_FLOOR,
    SHORTEST_NODE_S,
    SHORTEST_REQUEST_S,
    WHY_NO_RESERVATION,
)
from settings.copies import distinct, places
from settings.faults import MISSING, Described, Fault, rule
from settings.model import AutoscalingSection, Settings, SliceSection
from settings.names import seconds
from settings.shapes import sound_shape


@rule
def check(settings: Settings) -> Iterator[Fault]:
    for index, section in distinct(settings.slices):
        path = f"slices[{index}]"
        yield from _reservation(path, section)
        yield from _size(path, section)
        yield from _bounds(path, section)
        yield from _duration(path, section)
        yield from _retry(path, section)


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE versions that kinds of capacity need."""
    for path, capacity in places("slices[{}]", enumerate(settings.slices), "capacity"):
        if CAPACITIES[capacity].queued:
            yield QUEUED_FLOOR, f"queued provisioning for TPUs needs ({path}.capacity)"


@rule
def _reservation(path: str, section: SliceSection) -> Iterator[Fault]:
    given, reserved = section.reservation, CAPACITIES[section.capacity].reserved
    if reserved and not given:
        yield Fault(
            f"{path}.reservation",
            MISSING if given is None else given,
            "the name of the reservation that capacity: reservation takes its machines from",
            "add `reservation`, or write capacity: on-demand",
        )
    if given is not None and not reserved:
        yield Fault(
            f"{path}.reservation",
            given,
            f"no reservation: {WHY_NO_RESERVATION[section.capacity]}",
            "remove the key, or write capacity: reservation",
        )


@rule
def _size(path: str, section: SliceSection) -> Iterator[Fault]:
    if section.nodes is None:
        return
    hosts, kind, nodes = sound_shape(section).hosts, CAPACITIES[section.capacity], section.nodes
    if kind.empty:
        wanted = f"no fixed size: {kind.kind} pools start at 0 and grow to {hosts} nodes when Google has them"
        yield Fault(f"{path}.nodes", nodes, wanted, "remove the key")
    elif nodes != hosts:
        wanted = f"{hosts}: {_hosts_of(section)}, and is whole or not there"
        yield Fault(f"{path}.nodes", nodes, wanted, f"write {hosts}, or leave the key out")
    elif section.autoscaling is not None:
        wanted = "a fixed size or autoscaling, not both"
        yield Fault(f"{path}.nodes", nodes, wanted, "remove `nodes` or `autoscaling`")


def _hosts_of(section: SliceSection) -> str:
    return f"a slice {section.topology} of {section.machine_type} has that many hosts"


@rule
def _bounds(path: str, section: SliceSection) -> Iterator[Fault]:
    if section.autoscaling is not None:
        yield from _most(path, section, section.autoscaling)
        yield from _fewest(path, section, section.autoscaling)


@rule
def _most(path: str, section: SliceSection, bounds: AutoscalingSection) -> Iterator[Fault]:
    hosts = sound_shape(section).hosts
    if bounds.max is not None and bounds.max != hosts:
        wanted = f"{hosts}: {_hosts_of(section)}, and one pool is one slice"
        yield Fault(f"{path}.autoscaling.max", bounds.max, wanted, f"write {hosts}, or leave the key out")


@rule
def _fewest(path: str, section: SliceSection, bounds: AutoscalingSection) -> Iterator[Fault]:
    kind, fewest = CAPACITIES[section.capacity], bounds.min
    if fewest != 0 and kind.empty:
        wanted = f"0: {kind.kind} pools start empty, and their nodes go back when the work is done"
        yield Fault(f"{path}.autoscaling.min", fewest, wanted, "write 0, or leave the key out")
    elif fewest not in (0, sound_shape(section).hosts):
        wanted = f"0 or {sound_shape(section).hosts}: a slice is whole or not there"
        yield Fault(f"{path}.autoscaling.min", fewest, wanted, "write 0, or leave the key out")


@rule
def _duration(path: str, section: SliceSection) -> Iterator[Fault]:
    kind, given, key = CAPACITIES[section.capacity], section.max_run_duration, f"{path}.maxRunDuration"
    if given is None:
        return
    if kind.lent and seconds(given) > LONGEST_RUN_S:
        wanted = f"at most {LONGEST_RUN_S // 3600}h: {kind.kind} capacity is lent for seven days"
        yield Fault(key, given, wanted, f"write {LONGEST_RUN_S // 3600}h, or leave the key out")
    elif seconds(given) > LONGEST_NODE_S:
        wanted = f"at most {LONGEST_NODE_S // 3600}h: Compute Engine limits a machine's run to 120 days at most"
        yield Fault(key, given, wanted, "leave the key out, and nodes stay")
    elif kind.queued and seconds(given) < SHORTEST_REQUEST_S:
        wanted = f"at least {SHORTEST_REQUEST_S // 60}m: Google takes requests for ten minutes to seven days"
        yield Fault(key, given, wanted, f"write {SHORTEST_REQUEST_S // 60}m or more")
    elif seconds(given) < SHORTEST_NODE_S:
        wanted = f"at least {SHORTEST_NODE_S}s: Compute Engine takes no shorter run of a machine"
        yield Fault(key, given, wanted, f"write {SHORTEST_NODE_S}s or more")


@rule
def _retry(path: str, section: SliceSection) -> Iterator[Fault]:
    if section.retry is None:
        return
    if not CAPACITIES[section.capacity].queued:
        wanted = "nothing: only queued capacity is asked for by requests that can be retried"
        remedy = "remove the key, or write capacity: queued"
        yield Fault(f"{path}.retry", Described("a retry strategy"), wanted, remedy)
        return
    base, most = section.retry.base_seconds, section.retry.max_seconds
    if most >= base:
        return
    if "max_seconds" in section.retry.model_fields_set:
        yield Fault(f"{path}.retry.maxSeconds", most, f"at least baseSeconds, {base}", f"write {base} or more")
    else:
        wanted = f"at most maxSeconds, {most} where it is not stated"
        yield Fault(f"{path}.retry.baseSeconds", base, wanted, f"write {most} or less, or add `maxSeconds`")
