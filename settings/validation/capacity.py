"""Capacity: which kinds go with which sizes, reservations and running times. A wrong pair is refused by GKE only after
minutes, so each is a fault here, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.capacity import (
    CAPACITIES,
    LONGEST_NODE_S,
    LONGEST_RUN_S,
    QUEUED_FLOOR,
    SHORTEST_NODE_S,
    SHORTEST_REQUEST_S,
    WHY_NO_RESERVATION,
)
from settings.schema.field_types import seconds
from settings.schema.stack import AutoscalingSection, Settings, SliceSection
from settings.validation.problem import MISSING, Described, Problem


def check(settings: Settings) -> Iterator[Problem]:
    for index, section in enumerate(settings.slices):
        path = f"slices[{index}]"
        yield from _reservation(path, section)
        yield from _size(path, section)
        yield from _bounds(path, section)
        yield from _duration(path, section)
        yield from _retry(path, section)


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE versions that kinds of capacity need."""
    for index, section in enumerate(settings.slices):
        if CAPACITIES[section.capacity].queued:
            yield QUEUED_FLOOR, f"queued TPU provisioning (slices[{index}].capacity)"


def _reservation(path: str, section: SliceSection) -> Iterator[Problem]:
    given, reserved = section.reservation, CAPACITIES[section.capacity].reserved
    if reserved and not given:
        yield Problem(
            f"{path}.reservation",
            MISSING if given is None else given,
            "the name of the reservation that capacity: reservation takes its machines from",
            "add `reservation`, or write capacity: on-demand",
        )
    if given is not None and not reserved:
        yield Problem(
            f"{path}.reservation",
            given,
            f"no reservation: {WHY_NO_RESERVATION[section.capacity]}",
            "remove the key, or write capacity: reservation",
        )


def _size(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.nodes is None:
        return
    hosts, kind, nodes = section.shape.hosts, CAPACITIES[section.capacity], section.nodes
    if kind.empty:
        expected = f"no fixed size: {kind.kind} pools start at 0 and grow to {hosts} nodes when Google has them"
        yield Problem(f"{path}.nodes", nodes, expected, "remove the key")
    elif nodes != hosts:
        expected = f"{hosts}: {_hosts_of(section)}, and is whole or not there"
        yield Problem(f"{path}.nodes", nodes, expected, f"write {hosts}, or leave the key out")
    elif section.autoscaling is not None:
        expected = "a fixed size or autoscaling, not both"
        yield Problem(f"{path}.nodes", nodes, expected, "remove `nodes` or `autoscaling`")


def _hosts_of(section: SliceSection) -> str:
    return f"a slice {section.topology} of {section.machine_type} has that many hosts"


def _bounds(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.autoscaling is not None:
        yield from _most(path, section, section.autoscaling)
        yield from _fewest(path, section, section.autoscaling)


def _most(path: str, section: SliceSection, bounds: AutoscalingSection) -> Iterator[Problem]:
    hosts = section.shape.hosts
    if bounds.max is not None and bounds.max != hosts:
        expected = f"{hosts}: {_hosts_of(section)}, and one pool is one slice"
        yield Problem(f"{path}.autoscaling.max", bounds.max, expected, f"write {hosts}, or leave the key out")


def _fewest(path: str, section: SliceSection, bounds: AutoscalingSection) -> Iterator[Problem]:
    kind, fewest = CAPACITIES[section.capacity], bounds.min
    if fewest != 0 and kind.empty:
        expected = f"0: {kind.kind} pools start empty, and their nodes go back when the work is done"
        yield Problem(f"{path}.autoscaling.min", fewest, expected, "write 0, or leave the key out")
    elif fewest not in (0, section.shape.hosts):
        expected = f"0 or {section.shape.hosts}: a slice is whole or not there"
        yield Problem(f"{path}.autoscaling.min", fewest, expected, "write 0, or leave the key out")


def _duration(path: str, section: SliceSection) -> Iterator[Problem]:
    kind, given, key = CAPACITIES[section.capacity], section.max_run_duration, f"{path}.maxRunDuration"
    if given is None:
        return
    if kind.lent and seconds(given) > LONGEST_RUN_S:
        expected = f"at most {LONGEST_RUN_S // 3600}h: {kind.kind} capacity is lent for seven days"
        yield Problem(key, given, expected, f"write {LONGEST_RUN_S // 3600}h, or leave the key out")
    elif seconds(given) > LONGEST_NODE_S:
        expected = f"at most {LONGEST_NODE_S // 3600}h: Compute Engine limits a machine's run to 120 days at most"
        yield Problem(key, given, expected, "leave the key out, and nodes stay")
    elif kind.queued and seconds(given) < SHORTEST_REQUEST_S:
        expected = f"at least {SHORTEST_REQUEST_S // 60}m: Google takes requests for ten minutes to seven days"
        yield Problem(key, given, expected, f"write {SHORTEST_REQUEST_S // 60}m or more")
    elif seconds(given) < SHORTEST_NODE_S:
        expected = f"at least {SHORTEST_NODE_S}s: Compute Engine takes no shorter run of a machine"
        yield Problem(key, given, expected, f"write {SHORTEST_NODE_S}s or more")


def _retry(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.retry is None:
        return
    if not CAPACITIES[section.capacity].queued:
        expected = "nothing: only queued capacity is asked for by requests that can be retried"
        fix = "remove the key, or write capacity: queued"
        yield Problem(f"{path}.retry", Described("a retry strategy"), expected, fix)
        return
    base, most = section.retry.base_seconds, section.retry.max_seconds
    if most >= base:
        return
    if "max_seconds" in section.retry.model_fields_set:
        yield Problem(f"{path}.retry.maxSeconds", most, f"at least baseSeconds, {base}", f"write {base} or more")
    else:
        expected = f"at most maxSeconds, {most} where it is not stated"
        yield Problem(f"{path}.retry.baseSeconds", base, expected, f"write {most} or less, or add `maxSeconds`")
