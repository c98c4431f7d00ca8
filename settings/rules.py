"""What must hold between values: each rule yields the faults it finds, and all rules are always asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from settings import (
    availability_rules,
    capacity_rules,
    cohort_rules,
    gke_version,
    job_rules,
    kueue_rules,
    mode_rules,
    monitoring_rules,
    network_rules,
    place_rules,
    price_rules,
    priority_rules,
    queue_rules,
    ray_head_rules,
    ray_home_rules,
    ray_rules,
    slice_rules,
    system_rules,
    team_rules,
    training_rules,
)
from settings.accelerators import MACHINE_TYPES, minimum_gke
from settings.faults import Described, Fault, did_you_mean, duplicates, of_its_owner, rule
from settings.model import ClusterSection, PodsReadySection, Settings
from settings.names import seconds
from settings.parse import Parsed
from settings.shapes import machine_of
from settings.wording import keys_of

_MOST_LABELS = 64
"""Of a cluster, which is a resource of Google's with labels for billing."""
_REMOTE = re.compile(r"(oci|https)://[^/\s]+/\S+")


def all_faults(parsed: Parsed, folder: Path | None) -> list[Fault]:
    """All faults of a configuration: those of single values, then those between values where the values themselves have
    none. In the order of the keys in the model, so that the report reads like a stack file."""
    broken = {fault.path for fault in parsed.faults}
    between = [fault for fault in check(parsed.settings, folder) if fault.path not in broken]
    return sorted([*parsed.faults, *between], key=_position)


def _position(fault: Fault) -> tuple[int, int]:
    """The top-level key, and which of its entries. What is not ours stands first."""
    match = re.match(r"([^.\[]*)(?:\[([0-9]{1,6})\])?", fault.path)
    first, entry = match.groups() if match is not None else ("", None)
    keys = keys_of(Settings)
    return keys.index(first) if first in keys and fault.prefix else -1, int(entry) if entry is not None else -1


def check(settings: Settings, folder: Path | None) -> list[Fault]:
    """All faults between values. `folder` is the project's, which chart folders are relative to; None leaves them out."""
    return [
        *slice_rules.check(settings),
        *capacity_rules.check(settings),
        *availability_rules.check(settings),
        *mode_rules.check(settings),
        *place_rules.check(settings),
        *system_rules.check(settings),
        *_version(settings),
        *_existing(settings),
        *_authorized(settings),
        *_pods_ready(settings),
        *_labels(settings),
        *_tpu_zones(settings),
        *monitoring_rules.check(settings),
        *price_rules.check(settings),
        *network_rules.check(settings),
        *priority_rules.check(settings),
        *queue_rules.check(settings),
        *cohort_rules.check(settings),
        *team_rules.check(settings),
        *kueue_rules.check(settings),
        *job_rules.check(settings),
        *training_rules.check(settings),
        *ray_rules.check(settings),
        *ray_home_rules.check(settings),
        *ray_head_rules.check(settings),
        *(_charts(settings, folder) if folder is not None else ()),
    ]


@rule
def _version(settings: Settings) -> Iterator[Fault]:
    """One fault, for the newest of the versions that something needs."""
    version = settings.cluster.version
    needed = [need for need in _floors(settings) if not gke_version.at_least(version, need[0])]
    if needed:
        floor, why = max(needed, key=lambda need: gke_version.parse(need[0]) or ())
        yield Fault("cluster.version", version, f"at least {floor}, which {why}", f"write '{floor}' or later")


def _floors(settings: Settings) -> Iterator[tuple[str, str]]:
    for index, section in enumerate(settings.slices):
        machine = machine_of(section) if "machine_type" in vars(section) else None
        if machine is not None:
            topology = vars(section).get("topology", "")
            yield minimum_gke(machine, topology), f"{machine.name} needs (slices[{index}].machineType)"
    yield from capacity_rules.floors(settings)
    if settings.teams:
        yield "1.30", "the admission policies of teams need"
    yield from mode_rules.floors(settings)
    yield from training_rules.floors(settings)


_OWNERS = ("version", "release_channel", "authorized_networks", "private_endpoint", "security_group")
"""What of a cluster is decided by whoever makes it."""


@rule
def _existing(settings: Settings) -> Iterator[Fault]:
    cluster = settings.cluster
    for name in _OWNERS:
        if cluster.existing and name in cluster.model_fields_set and name in vars(cluster):
            path = f"cluster.{ClusterSection.model_fields[name].alias}"
            yield of_its_owner(path, getattr(cluster, name))


_MOST_AUTHORIZED = 100
"""Ranges that GKE takes ("Authorized networks", limits)."""


@rule
def _authorized(settings: Settings) -> Iterator[Fault]:
    ranges, path = settings.cluster.authorized_networks, "cluster.authorizedNetworks"
    yield from duplicates([(f"{path}[{index}]", name) for index, name in enumerate(ranges)], "range", "remove it")
    if len(ranges) > _MOST_AUTHORIZED:
        wanted = f"at most {_MOST_AUTHORIZED} ranges, GKE's limit"
        yield Fault(path, Described(f"{len(ranges)} ranges"), wanted, "write larger ranges in their place")


_LEAST_READY_S = 300
"""A slice's nodes take minutes to be made, and an image minutes to be pulled: what is given less is evicted before it can run,
again and again."""


@rule
def _pods_ready(settings: Settings) -> Iterator[Fault]:
    section = settings.kueue.pods_ready
    if not section.enabled:
        return
    for name in ("timeout", "recovery_timeout"):
        stated = vars(section).get(name)
        if stated is not None and seconds(stated) < _LEAST_READY_S:
            least = f"{_LEAST_READY_S // 60}m"
            wanted = f"at least {least}: nodes and images take minutes, and a job that is not ready by then is evicted for ever"
            yield Fault(
                f"kueue.podsReady.{PodsReadySection.model_fields[name].alias}", stated, wanted, f"write {least} or more"
            )


@rule
def _labels(settings: Settings) -> Iterator[Fault]:
    count = len(settings.labels)
    if count > _MOST_LABELS:
        wanted = f"at most {_MOST_LABELS} labels, Google's limit for a cluster"
        yield Fault("labels", Described(f"{count} labels"), wanted, f"remove {count - _MOST_LABELS}")


@rule
def _tpu_zones(settings: Settings) -> Iterator[Fault]:
    families = sorted({machine.family for machine in MACHINE_TYPES.values()})
    for family in settings.tpu_zones:
        if family not in families:
            wanted = f"a family of machine types: {', '.join(families)}"
            yield Fault(f"tpuZones.{family}", family, wanted, did_you_mean(family, families, "remove the key"))


@rule
def _charts(settings: Settings, folder: Path) -> Iterator[Fault]:
    for key in ("kueue", "jobset", "kuberay"):
        if key in vars(settings.charts) and (key != "kuberay" or _kuberay_by_chart(settings)):
            yield from _chart(f"charts.{key}", getattr(settings.charts, key), folder)


def _kuberay_by_chart(settings: Settings) -> bool:
    return settings.ray.operator == "helm"


def _chart(path: str, chart: str, folder: Path) -> Iterator[Fault]:
    if _REMOTE.fullmatch(chart) is not None or os.path.isfile(folder / chart / "Chart.yaml"):
        return
    yield Fault(
        path,
        chart,
        "an oci:// or https:// address, or a folder with a Chart.yaml, relative to Pulumi.yaml",
        "correct the path, or leave the key out for the released chart (the rehearsal's set-up makes its own)",
    )
