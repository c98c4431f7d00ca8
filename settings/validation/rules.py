"""Runs all rules, in two stages, and holds those that have no file of their own."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from settings.catalogue import gke_version
from settings.catalogue.accelerators import MACHINE_TYPES, minimum_gke
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
from settings.validation.problem import Described, Problem, did_you_mean, duplicates, not_with_existing_cluster

_MOST_LABELS = 64
"""Google's limit for the labels of one resource."""
_REMOTE = re.compile(r"(oci|https)://[^/\s]+/\S+")


def all_problems(parsed: Parsed, folder: Path | None) -> list[Problem]:
    """The problems of the first stage that finds some, in the order of the model's keys, so that the report reads like a
    stack file. Stage one: values and names, on their own. Stage two, on settings that are whole: what must hold between them.
    """
    if not isinstance(parsed, Settings):
        return sorted(parsed, key=_position)
    return sorted(_each_entry(parsed) or check(parsed, folder), key=_position)


def _each_entry(settings: Settings) -> list[Problem]:
    """The rest of stage one, once the file fits the schema: entries against the catalogue, and names against each other."""
    return [*slices.shapes(settings), *cluster_mode.sizes(settings), *references.check(settings)]


def _position(problem: Problem) -> tuple[int, int]:
    """The top-level key's place in the model, and the entry below it. Keys without our prefix come first."""
    match = re.match(r"([^.\[]*)(?:\[([0-9]{1,6})\])?", problem.path)
    first, entry = match.groups() if match is not None else ("", None)
    keys = keys_of(Settings)
    return keys.index(first) if first in keys and problem.prefix else -1, int(entry) if entry is not None else -1


def check(settings: Settings, folder: Path | None) -> list[Problem]:
    """All problems between values. Chart folders are relative to `folder`, the project's; None leaves them unchecked."""
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


def _version(settings: Settings) -> Iterator[Problem]:
    """One problem, for the newest version that something requires."""
    version = settings.cluster.version
    needed = [need for need in _floors(settings) if not gke_version.at_least(version, need[0])]
    if needed:
        floor, why = max(needed, key=lambda need: gke_version.parse(need[0]) or ())
        yield Problem("cluster.version", version, f"{floor} or later: required for {why}", f"write '{floor}' or later")


def _floors(settings: Settings) -> Iterator[tuple[str, str]]:
    for index, section in enumerate(settings.slices):
        machine = section.machine
        yield minimum_gke(machine, section.topology), f"{machine.name} (slices[{index}].machineType)"
    yield from capacity.floors(settings)
    if settings.teams:
        yield "1.30", "the admission policies of teams"
    yield from cluster_mode.floors(settings)
    yield from training.floors(settings)


_OWNERS = ("version", "release_channel", "authorized_networks", "private_endpoint", "security_group")
"""Keys that configure a cluster at its creation."""


def _existing(settings: Settings) -> Iterator[Problem]:
    cluster = settings.cluster
    for name in _OWNERS:
        if cluster.existing and name in cluster.model_fields_set:
            path = f"cluster.{ClusterSection.model_fields[name].alias}"
            yield not_with_existing_cluster(path, getattr(cluster, name))


_MOST_AUTHORIZED = 100
"""Ranges that GKE takes ("Authorized networks", limits)."""


def _authorized(settings: Settings) -> Iterator[Problem]:
    ranges, path = settings.cluster.authorized_networks, "cluster.authorizedNetworks"
    yield from duplicates([(f"{path}[{index}]", name) for index, name in enumerate(ranges)], "range", "remove it")
    if len(ranges) > _MOST_AUTHORIZED:
        expected = f"at most {_MOST_AUTHORIZED} ranges, GKE's limit"
        yield Problem(path, Described(f"{len(ranges)} ranges"), expected, "write fewer, larger ranges")


_LEAST_READY_S = 300
"""Creating a slice's nodes takes minutes, and so does pulling an image: a job with less time is evicted before it can run,
over and over."""


def _pods_ready(settings: Settings) -> Iterator[Problem]:
    section = settings.kueue.pods_ready
    if not section.enabled:
        return
    for name in ("timeout", "recovery_timeout"):
        stated = getattr(section, name)
        if seconds(stated) < _LEAST_READY_S:
            least = f"{_LEAST_READY_S // 60}m"
            expected = (
                f"at least {least}: nodes and images take minutes, and a job not ready by then is evicted over and over"
            )
            yield Problem(
                f"kueue.podsReady.{PodsReadySection.model_fields[name].alias}",
                stated,
                expected,
                f"write {least} or more",
            )


def _labels(settings: Settings) -> Iterator[Problem]:
    count = len(settings.labels)
    if count > _MOST_LABELS:
        expected = f"at most {_MOST_LABELS} labels, Google's limit for a cluster"
        yield Problem("labels", Described(f"{count} labels"), expected, f"remove {count - _MOST_LABELS}")


def _tpu_zones(settings: Settings) -> Iterator[Problem]:
    families = sorted({machine.family for machine in MACHINE_TYPES.values()})
    for family in settings.tpu_zones:
        if family not in families:
            expected = f"a family of machine types: {', '.join(families)}"
            yield Problem(f"tpuZones.{family}", family, expected, did_you_mean(family, families, "remove the key"))


def _charts(settings: Settings, folder: Path) -> Iterator[Problem]:
    for key in ("kueue", "jobset", "kuberay"):
        if key != "kuberay" or _kuberay_by_chart(settings):
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
