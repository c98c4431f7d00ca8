"""The cluster's mode: what stands for a slice in each, and what Autopilot does not do.

Sources: Google's comparison of Autopilot and Standard; "Deploy TPU workloads on GKE Autopilot"; the refusals of its admission
and of its API ("Autopilot node pools cannot be accessed or modified").
"""

from __future__ import annotations

from collections.abc import Iterator

from settings.catalogue.accelerators import MINIMUM_GKE_AUTOPILOT, MINIMUM_GKE_AUTOPILOT_OF
from settings.catalogue.capacity import CAPACITIES
from settings.plan.slices import is_autopilot, machine_of
from settings.schema.field_types import is_zone, region_of
from settings.schema.stack import Settings, SliceSection
from settings.validation.lists import distinct
from settings.validation.problem import MISSING, Described, Problem, Unsound, rule


@rule
def check(settings: Settings) -> Iterator[Problem]:
    autopilot = _is_autopilot(settings)
    if autopilot:
        yield from _region(settings)
        yield from _default_pool(settings)
        yield from _privileged(settings)
    for index, section in distinct(settings.slices):
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


def _is_autopilot(settings: Settings) -> bool | None:
    """None while that is open."""
    try:
        return is_autopilot(settings)
    except Unsound:
        return None


def floors(settings: Settings) -> Iterator[tuple[str, str]]:
    """(version, what for): the GKE version that Autopilot needs."""
    if is_autopilot(settings):
        yield MINIMUM_GKE_AUTOPILOT, "TPU slices on Autopilot need (cluster.mode)"
        machines = [machine_of(section) for section in settings.slices if "machine_type" in vars(section)]
        for machine in machines:
            if machine is not None and machine.generation in MINIMUM_GKE_AUTOPILOT_OF:
                yield MINIMUM_GKE_AUTOPILOT_OF[machine.generation], f"{machine.name} on Autopilot needs (cluster.mode)"


@rule
def _slices(path: str, section: SliceSection, autopilot: bool | None) -> Iterator[Problem]:
    if autopilot:
        yield from _counted(path, section)
    elif autopilot is False or (section.count is None and not section.pools):
        yield from _named(path, section)


@rule
def _named(path: str, section: SliceSection) -> Iterator[Problem]:
    """In a standard cluster a slice is a pool of ours."""
    if section.count is not None:
        fix = "remove the key" if section.pools else "list one name for each in `pools`"
        expected = "nothing: in a standard cluster the slices are the pools that are listed"
        yield Problem(f"{path}.count", section.count, expected, f"{fix}, or write cluster.mode: autopilot")
    elif not section.pools and "pools" in section.model_fields_set:
        yield Problem(f"{path}.pools", [], "at least one entry", "write at least one")
    elif not section.pools:
        yield Problem(f"{path}.pools", MISSING, "a value: this key must be set", "add `pools`")


@rule
def _counted(path: str, section: SliceSection) -> Iterator[Problem]:
    """On Autopilot nobody but Google makes pools, and it names them."""
    if section.pools:
        fix = "remove the key" if section.count is not None else f"write `count: {len(section.pools)}` in its place"
        expected = "no pools: Autopilot makes and names them when jobs need them"
        yield Problem(f"{path}.pools", section.pools, expected, fix)
    elif section.count is None:
        expected = "how many slices jobs may have at a time: on Autopilot there are no pools to count"
        yield Problem(f"{path}.count", MISSING, expected, "add `count`")


@rule
def _region(settings: Settings) -> Iterator[Problem]:
    if is_zone(settings.location):
        expected = "a region: Autopilot clusters are regional"
        yield Problem("location", settings.location, expected, f"write {region_of(settings.location)}")


@rule
def _default_pool(settings: Settings) -> Iterator[Problem]:
    if "default_pool" in settings.cluster.model_fields_set:
        expected = "no pool for system pods: Autopilot brings nodes for them by itself"
        yield Problem("cluster.defaultPool", Described("a pool"), expected, "remove the key")


@rule
def _privileged(settings: Settings) -> Iterator[Problem]:
    for index, job in distinct(settings.workloads):
        if "privileged" in vars(job) and job.privileged:
            expected = "false: Autopilot refuses the host's network and privileged containers"
            yield Problem(f"workloads[{index}].privileged", True, expected, "remove the key")


@rule
def _scaled(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.autoscaling is not None:
        expected = "nothing: on Autopilot every slice comes for its job and goes after it"
        yield Problem(f"{path}.autoscaling", Described("bounds"), expected, "remove the key")


@rule
def _queued(path: str, section: SliceSection) -> Iterator[Problem]:
    """GKE's page on TPU workloads in Autopilot names flex-start and not queued provisioning, which is a flag of a pool."""
    if CAPACITIES[section.capacity].queued:
        expected = (
            "another kind: queued provisioning is a setting of node pools, and on Autopilot there are none of ours"
        )
        yield Problem(f"{path}.capacity", section.capacity, expected, "write flex-start")


@rule
def _lent(path: str, section: SliceSection) -> Iterator[Problem]:
    if section.max_run_duration is not None and not CAPACITIES[section.capacity].lent:
        expected = "nothing: on Autopilot only flex-start capacity has a longest run"
        yield Problem(
            f"{path}.maxRunDuration",
            section.max_run_duration,
            expected,
            "remove the key, or write capacity: flex-start",
        )
