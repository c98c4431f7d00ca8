"""Capacity: which kinds go with which sizes, reservations and running times. A wrong pair is refused by GKE only after
minutes, so each is a fault here, with its reason."""

from __future__ import annotations

from collections.abc import Iterator

from settings import gke_version
from settings.capacity import CAPACITIES, LONGEST_RUN_S, QUEUED_FLOOR, WHY_NO_RESERVATION
from settings.faults import MISSING, Fault
from settings.model import Settings, SliceSection
from settings.names import seconds
from settings.shapes import shape_of


def check(settings: Settings) -> Iterator[Fault]:
    for index, section in enumerate(settings.slices):
        if section.capacity not in CAPACITIES:
            continue
        path = f"slices[{index}]"
        yield from _reservation(path, section)
        yield from _size(path, section)
        yield from _duration(path, section)
        yield from _retry(path, section)
        yield from _version(path, section, settings)


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


def _size(path: str, section: SliceSection) -> Iterator[Fault]:
    shape = shape_of(section)
    if shape is None:
        return
    hosts, kind = shape.hosts, CAPACITIES[section.capacity]
    if section.nodes is not None and kind.empty:
        yield Fault(
            f"{path}.nodes",
            section.nodes,
            f"no fixed size: {kind.kind} pools start at 0 and grow to {hosts} nodes when Google has them",
            "remove the key",
        )
    elif section.nodes is not None and section.autoscaling is not None:
        yield Fault(
            f"{path}.nodes", section.nodes, "a fixed size or autoscaling, not both", "remove `nodes` or `autoscaling`"
        )
    elif section.nodes is not None and section.nodes != hosts:
        yield Fault(
            f"{path}.nodes",
            section.nodes,
            f"{hosts}: a slice {section.topology} of {section.machine_type} has that many hosts, and is whole or not there",
            f"write {hosts}, or leave the key out",
        )
    yield from _bounds(path, section, hosts)


def _bounds(path: str, section: SliceSection, hosts: int) -> Iterator[Fault]:
    bounds, kind = section.autoscaling, CAPACITIES[section.capacity]
    if bounds is None:
        return
    if bounds.max is not None and bounds.max != hosts:
        yield Fault(
            f"{path}.autoscaling.max",
            bounds.max,
            f"{hosts}: a slice {section.topology} of {section.machine_type} has that many hosts, and one pool is one slice",
            f"write {hosts}, or leave the key out",
        )
    if bounds.min != 0 and kind.empty:
        yield Fault(
            f"{path}.autoscaling.min",
            bounds.min,
            f"0: {kind.kind} pools start empty, and their nodes go back when the work is done",
            "write 0, or leave the key out",
        )
    elif bounds.min not in (0, hosts):
        yield Fault(
            f"{path}.autoscaling.min",
            bounds.min,
            f"0 or {hosts}: a slice is whole or not there",
            "write 0, or leave the key out",
        )


def _duration(path: str, section: SliceSection) -> Iterator[Fault]:
    kind, given = CAPACITIES[section.capacity], section.max_run_duration
    if given is None or not kind.lent:
        return
    if seconds(given) > LONGEST_RUN_S:
        yield Fault(
            f"{path}.maxRunDuration",
            given,
            f"at most {LONGEST_RUN_S // 3600}h: {kind.kind} capacity is lent for seven days",
            f"write {LONGEST_RUN_S // 3600}h, or leave the key out",
        )


def _retry(path: str, section: SliceSection) -> Iterator[Fault]:
    if section.retry is None:
        return
    if not CAPACITIES[section.capacity].queued:
        yield Fault(
            f"{path}.retry",
            "a retry strategy",
            "nothing: only queued capacity is asked for by requests that can be retried",
            "remove the key, or write capacity: queued",
        )
    elif section.retry.max_seconds < section.retry.base_seconds:
        yield Fault(
            f"{path}.retry.maxSeconds",
            section.retry.max_seconds,
            f"at least baseSeconds, {section.retry.base_seconds}",
            f"write {section.retry.base_seconds} or more",
        )


def _version(path: str, section: SliceSection, settings: Settings) -> Iterator[Fault]:
    version = settings.cluster.version
    if not CAPACITIES[section.capacity].queued or gke_version.parse(version) is None:
        return
    if not gke_version.at_least(version, QUEUED_FLOOR):
        yield Fault(
            f"{path}.capacity",
            section.capacity,
            f"flex-start: GKE {version} has no queued provisioning for TPUs, which came with {QUEUED_FLOOR}",
            f"write flex-start, or cluster.version: '{QUEUED_FLOOR}'",
        )
