"""The cluster's mode: how each states its slices, and which keys Autopilot does not support.

Sources: Google's comparison of Autopilot and Standard; "Deploy TPU workloads on GKE Autopilot"; the refusals of its admission
and of its API ("Autopilot node pools cannot be accessed or modified").
"""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.accelerators import MINIMUM_GKE_AUTOPILOT, MINIMUM_GKE_AUTOPILOT_OF
from settings.catalogue.capacity import CAPACITIES
from settings.plan.slices import is_autopilot
from settings.schema.field_types import is_zone, region_of
from settings.schema.stack import Settings, SliceSection
from settings.validation.problem import MISSING, Described, Problem


def check(settings: Settings) -> Iterator[Problem]:
    autopilot = is_autopilot(settings)
    if autopilot:
        yield from _region(settings)
        yield from _default_pool(settings)
        yield from _privileged(settings)
    for index, section in enumerate(settings.slices):
        path = f"slices[{index}]"
        if section.count is not None or section.pools:
            yield from _slices(path, section, autopilot)
        if autopilot:
            yield from _scaled(path, section)
            yield from _queued(path, section)
            yield from _lent(path, section)


def sizes(settings: Settings) -> Iterator[Problem]:
    """Entries that state neither pools nor a count."""
    for index, section in enumerate(settings.slices):
        if section.count is None and not section.pools:
            yield from _slices(f"slices[{index}]", section, is_autopilot(settings))


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE version that Autopilot needs."""
    if is_autopilot(settings):
        yield MINIMUM_GKE_AUTOPILOT, "TPU slices on Autopilot (cluster.mode)"
        for machine in (section.machine for section in settings.slices):
            if machine.generation in MINIMUM_GKE_AUTOPILOT_OF:
                yield MINIMUM_GKE_AUTOPILOT_OF[machine.generation], f"{machine.name} on Autopilot (cluster.mode)"


def _slices(path: str, section: SliceSection, autopilot: bool) -> Iterator[Problem]:
    yield from _counted(path, section) if autopilot else _named(path, section)


def _named(path: str, section: SliceSection) -> Iterator[Problem]:
    """In a standard cluster a slice is one of the stack's node pools."""
    if section.count is not None:
        fix = "remove the key" if section.pools else "list one name for each in `pools`"
        expected = "not set: in a standard cluster each name in `pools` is one slice"
        yield Problem(f"{path}.count", section.count, expected, f"{fix}, or write cluster.mode: autopilot")
    elif not section.pools and "pools" in section.model_fields_set:
        yield Problem(f"{path}.pools", [], "at least one entry", "write at least one")
    elif not section.pools:
        yield Problem(f"{path}.pools", MISSING, "a value: this key is required", "add `pools`")


def _counted(path: str, section: SliceSection) -> Iterator[Problem]:
    """On Autopilot, Google creates and names all node pools."""
    if section.pools:
        fix = "remove the key" if section.count is not None else f"write `count: {len(section.pools)}` in its place"
        expected = "not set: Autopilot creates and names pools when jobs need them"
        yield Problem(f"{path}.pools", section.pools, expected, fix)
    elif section.count is None:
        expected = "the number of slices that jobs may have at a time: Autopilot has no pools to count"
        yield Problem(f"{path}.count", MISSING, expected, "add `count`")


def _region(settings: Settings) -> Iterator[Problem]:
    if is_zone(settings.location):
        expected = "a region: Autopilot clusters are regional"
        yield Problem("location", settings.location, expected, f"write {region_of(settings.location)}")


def _default_pool(settings: Settings) -> Iterator[Problem]:
    if "default_pool" in settings.cluster.model_fields_set:
        expected = "not set: Autopilot provides the nodes for system pods"
        yield Problem("cluster.defaultPool", Described("a pool"), expected, "remove the key")


def _privileged(settings: Settings) -> Iterator[Problem]:
    for index, job in enumerate(settings.workloads):
        if job.privileged:
            expected = "false: Autopilot refuses host networking and privileged containers"
            yield Problem(f"workloads[{index}].privileged", True, expected, "remove the key")


def _scaled(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.autoscaling is not None:
        expected = "not set: Autopilot creates each slice on demand and removes it afterwards"
        yield Problem(f"{path}.autoscaling", Described("bounds"), expected, "remove the key")


def _queued(path: str, section: SliceSection) -> Iterator[Problem]:
    """GKE's page on TPU workloads in Autopilot offers flex-start but not queued provisioning, which is a flag of a node pool."""
    if CAPACITIES[section.capacity].queued:
        expected = "another kind: queued provisioning is a setting of node pools, which Autopilot manages itself"
        yield Problem(f"{path}.capacity", section.capacity, expected, "write flex-start")


def _lent(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.max_run_duration is not None and not CAPACITIES[section.capacity].lent:
        expected = "not set: on Autopilot only flex-start capacity limits a node's running time"
        yield Problem(
            f"{path}.maxRunDuration",
            section.max_run_duration,
            expected,
            "remove the key, or write capacity: flex-start",
        )
