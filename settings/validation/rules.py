"""What must hold between values: each rule yields the faults it finds, and all rules are always asked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from settings.catalogue import gke_version
from settings.catalogue.accelerators import MACHINE_TYPES, minimum_gke
from settings.plan.slices import machine_of
from settings.schema.field_types import seconds
from settings.schema.stack import ClusterSection, PodsReadySection, Settings
from settings.validation import (
    availability,
    capacity,
    cluster_mode,
    cohorts,
    job_flavors,
    job_kind,
    jobs,
    kueue,
    locations,
    monitoring,
    namespaces,
    network,
    prices,
    priorities,
    queues,
    ray,
    ray_flavors,
    ray_head,
    ray_queue,
    references,
    slices,
    system_nodes,
    teams,
    training,
)
from settings.validation.messages import keys_of
from settings.validation.parse import Parsed
from settings.validation.problem import Described, Problem, did_you_mean, duplicates, of_its_owner, rule

_MOST_LABELS = 64
"""Of a cluster, which is a resource of Google's with labels for billing."""
_REMOTE = re.compile(r"(oci|https)://[^/\s]+/\S+")


def all_problems(parsed: Parsed, folder: Path | None) -> list[Problem]:
    """All faults of a configuration: those of single values, then those between values where the values themselves have
    none. In the order of the keys in the model, so that the report reads like a stack file."""
    settings = parsed.settings
    problems = list(parsed.problems) or [
        *slices.shapes(settings),
        *cluster_mode.sizes(settings),
        *references.check(settings),
    ]
    return sorted(problems or check(settings, folder), key=_position)


def _position(problem: Problem) -> tuple[int, int]:
    """The top-level key, and which of its entries. What is not ours stands first."""
    match = re.match(r"([^.\[]*)(?:\[([0-9]{1,6})\])?", problem.path)
    first, entry = match.groups() if match is not None else ("", None)
    keys = keys_of(Settings)
    return keys.index(first) if first in keys and problem.prefix else -1, int(entry) if entry is not None else -1


def check(settings: Settings, folder: Path | None) -> list[Problem]:
    """All faults between values. `folder` is the project's, which chart folders are relative to; None leaves them out."""
    return [
        *slices.check(settings),
        *capacity.check(settings),
        *availability.check(settings),
        *cluster_mode.check(settings),
        *locations.check(settings),
        *system_nodes.check(settings),
        *_version(settings),
        *_existing(settings),
        *_authorized(settings),
        *_pods_ready(settings),
        *_labels(settings),
        *_tpu_zones(settings),
        *monitoring.check(settings),
        *prices.check(settings),
        *network.check(settings),
        *priorities.check(settings),
        *queues.check(settings),
        *cohorts.check(settings),
        *teams.check(settings),
        *namespaces.check(settings),
        *kueue.check(settings),
        *job_flavors.check(settings),
        *jobs.check(settings),
        *job_kind.check(settings),
        *training.check(settings),
        *ray.check(settings),
        *ray_flavors.check(settings),
        *ray_queue.check(settings),
        *ray_head.check(settings),
        *(_charts(settings, folder) if folder is not None else ()),
    ]


@rule
def _version(settings: Settings) -> Iterator[Problem]:
    """One fault, for the newest of the versions that something needs."""
    version = settings.cluster.version
    needed = [need for need in _floors(settings) if not gke_version.at_least(version, need[0])]
    if needed:
        floor, why = max(needed, key=lambda need: gke_version.parse(need[0]) or ())
        yield Problem("cluster.version", version, f"at least {floor}, which {why}", f"write '{floor}' or later")


def _floors(settings: Settings) -> Iterator[tuple[str, str]]:
    for index, section in enumerate(settings.slices):
        machine = machine_of(section) if "machine_type" in vars(section) else None
        if machine is not None:
            topology = vars(section).get("topology", "")
            yield minimum_gke(machine, topology), f"{machine.name} needs (slices[{index}].machineType)"
    yield from capacity.floors(settings)
    if settings.teams:
        yield "1.30", "the admission policies of teams need"
    yield from cluster_mode.floors(settings)
    yield from training.floors(settings)


_OWNERS = ("version", "release_channel", "authorized_networks", "private_endpoint", "security_group")
"""What of a cluster is decided by whoever makes it."""


@rule
def _existing(settings: Settings) -> Iterator[Problem]:
    cluster = settings.cluster
    for name in _OWNERS:
        if cluster.existing and name in cluster.model_fields_set and name in vars(cluster):
            path = f"cluster.{ClusterSection.model_fields[name].alias}"
            yield of_its_owner(path, getattr(cluster, name))


_MOST_AUTHORIZED = 100
"""Ranges that GKE takes ("Authorized networks", limits)."""


@rule
def _authorized(settings: Settings) -> Iterator[Problem]:
    ranges, path = settings.cluster.authorized_networks, "cluster.authorizedNetworks"
    yield from duplicates([(f"{path}[{index}]", name) for index, name in enumerate(ranges)], "range", "remove it")
    if len(ranges) > _MOST_AUTHORIZED:
        expected = f"at most {_MOST_AUTHORIZED} ranges, GKE's limit"
        yield Problem(path, Described(f"{len(ranges)} ranges"), expected, "write larger ranges in their place")


_LEAST_READY_S = 300
"""A slice's nodes take minutes to be made, and an image minutes to be pulled: what is given less is evicted before it can run,
again and again."""


@rule
def _pods_ready(settings: Settings) -> Iterator[Problem]:
    section = settings.kueue.pods_ready
    if not section.enabled:
        return
    for name in ("timeout", "recovery_timeout"):
        stated = vars(section).get(name)
        if stated is not None and seconds(stated) < _LEAST_READY_S:
            least = f"{_LEAST_READY_S // 60}m"
            expected = f"at least {least}: nodes and images take minutes, and a job that is not ready by then is evicted for ever"
            yield Problem(
                f"kueue.podsReady.{PodsReadySection.model_fields[name].alias}",
                stated,
                expected,
                f"write {least} or more",
            )


@rule
def _labels(settings: Settings) -> Iterator[Problem]:
    count = len(settings.labels)
    if count > _MOST_LABELS:
        expected = f"at most {_MOST_LABELS} labels, Google's limit for a cluster"
        yield Problem("labels", Described(f"{count} labels"), expected, f"remove {count - _MOST_LABELS}")


@rule
def _tpu_zones(settings: Settings) -> Iterator[Problem]:
    families = sorted({machine.family for machine in MACHINE_TYPES.values()})
    for family in settings.tpu_zones:
        if family not in families:
            expected = f"a family of machine types: {', '.join(families)}"
            yield Problem(f"tpuZones.{family}", family, expected, did_you_mean(family, families, "remove the key"))


@rule
def _charts(settings: Settings, folder: Path) -> Iterator[Problem]:
    for key in ("kueue", "jobset", "kuberay"):
        if key in vars(settings.charts) and (key != "kuberay" or _kuberay_by_chart(settings)):
            yield from _chart(f"charts.{key}", getattr(settings.charts, key), folder)


def _kuberay_by_chart(settings: Settings) -> bool:
    return settings.ray.operator == "helm"


def _chart(path: str, chart: str, folder: Path) -> Iterator[Problem]:
    if _REMOTE.fullmatch(chart) is not None or os.path.isfile(folder / chart / "Chart.yaml"):
        return
    yield Problem(
        path,
        chart,
        "an oci:// or https:// address, or a folder with a Chart.yaml, relative to Pulumi.yaml",
        "correct the path, or leave the key out for the released chart (the rehearsal's set-up makes its own)",
    )
