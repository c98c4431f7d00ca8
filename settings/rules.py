"""What must hold between values: each rule yields the faults it finds, and all rules are always asked."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from settings import capacity_rules, gke_version, job_rules, network_rules, queue_rules, ray_rules
from settings.accelerators import (
    MACHINE_TYPES,
    ZONES,
    MachineType,
    SliceShape,
    minimum_gke,
    nearest_topology,
    offered_in,
)
from settings.faults import Fault, did_you_mean, duplicates
from settings.model import Settings, SliceSection
from settings.names import is_zone, region_of
from settings.shapes import machine_of, shape_of


def check(settings: Settings, folder: Path) -> list[Fault]:
    """All faults between values. `folder` is the project's, which chart folders are relative to."""
    return [
        *_slices(settings),
        *_flavors(settings),
        *_pool_names(settings),
        *_location(settings),
        *_version(settings),
        *_tpu_zones(settings),
        *network_rules.check(settings),
        *capacity_rules.check(settings),
        *queue_rules.check(settings),
        *job_rules.check(settings),
        *ray_rules.check(settings),
        *_charts(settings, folder),
    ]


def zones_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The catalogue's zones, with the families that the stack states itself replaced."""
    return {**ZONES, **{family: tuple(zones) for family, zones in settings.tpu_zones.items()}}


def _slices(settings: Settings) -> Iterator[Fault]:
    for index, section in enumerate(settings.slices):
        path = f"slices[{index}]"
        machine = machine_of(section)
        if machine is None:
            remedy = did_you_mean(section.machine_type, MACHINE_TYPES, f"write one of {', '.join(MACHINE_TYPES)}")
            yield Fault(f"{path}.machineType", section.machine_type, "a TPU machine type of the catalogue", remedy)
            continue
        yield from _topology(path, section, machine)
        yield from _zone(path, section, machine, settings)
        yield from _quota(path, section)


def _topology(path: str, section: SliceSection, machine: MachineType) -> Iterator[Fault]:
    valid = machine.topologies()
    if section.topology in valid:
        return
    shown = ", ".join(valid) if len(valid) <= 12 else f"{', '.join(valid[:8])}, ... {valid[-1]} ({len(valid)} in all)"
    makers = [other.name for other in MACHINE_TYPES.values() if section.topology in other.topologies()]
    remedy = f"write {nearest_topology(machine, section.topology)}"
    if makers:
        remedy += f", or keep the topology with machine type {' or '.join(makers)}"
    yield Fault(f"{path}.topology", section.topology, f"a topology that {machine.name} makes: {shown}", remedy)


def _zone(path: str, section: SliceSection, machine: MachineType, settings: Settings) -> Iterator[Fault]:
    zones = zones_of(settings)
    if not offered_in(machine.family, section.zone, zones):
        known = zones.get(machine.family, ())
        near = [zone for zone in known if region_of(zone) == region_of(section.zone)]
        nearest = f"write {near[0]}" if near else did_you_mean(section.zone, known, "use a zone that has it")
        wanted = (
            f"a zone that has {machine.family}: {', '.join(known)}"
            if known
            else f"a zone stated in tpuZones.{machine.family}"
        )
        yield Fault(
            f"{path}.zone",
            section.zone,
            wanted,
            f"{nearest}; if Google has added this zone, state it in tpuZones.{machine.family}",
        )
    if region_of(section.zone) != region_of(settings.location):
        yield Fault(
            f"{path}.zone",
            section.zone,
            f"a zone of the cluster's region {region_of(settings.location)}",
            f"write location: {region_of(section.zone)}, or a zone of {region_of(settings.location)}",
        )


def _quota(path: str, section: SliceSection) -> Iterator[Fault]:
    shape = shape_of(section)
    if section.quota is None or shape is None:
        return
    capacity = shape.chips * len(section.pools)
    if section.quota < shape.chips:
        yield Fault(
            f"{path}.quota",
            section.quota,
            f"at least one slice, {shape.chips} chips: below it no job is ever admitted",
            f"write {shape.chips}, or leave the key out for all {capacity}",
        )
    elif section.quota > capacity:
        yield Fault(
            f"{path}.quota",
            section.quota,
            f"at most what {len(section.pools)} pools have, {capacity} chips: jobs above it wait for nodes for ever",
            f"write {capacity}, or leave the key out",
        )
    elif section.quota % shape.chips != 0:
        near = shape.chips * math.floor(section.quota / shape.chips)
        yield Fault(f"{path}.quota", section.quota, f"whole slices, multiples of {shape.chips} chips", f"write {near}")


def _flavors(settings: Settings) -> Iterator[Fault]:
    yield from duplicates("slices[{}].flavor", [section.flavor for section in settings.slices], "flavor")
    seen: dict[tuple[SliceShape, str], int] = {}
    for index, section in enumerate(settings.slices):
        shape = shape_of(section)
        if shape is None:
            continue
        key = (shape, section.capacity)
        if key in seen:
            yield Fault(
                f"slices[{index}].topology",
                section.topology,
                f"another shape or another capacity than slices[{seen[key]}]: alike, they are one flavor with more pools",
                f"move these pools into slices[{seen[key]}].pools",
            )
        seen.setdefault(key, index)


def _pool_names(settings: Settings) -> Iterator[Fault]:
    names = [
        (f"slices[{i}].pools[{j}]", name)
        for i, section in enumerate(settings.slices)
        for j, name in enumerate(section.pools)
    ]
    seen = {"default-pool": "the pool for system pods"}
    for path, name in names:
        if name in seen:
            yield Fault(path, name, f"a pool name of its own: it is also {seen[name]}", "give it another name")
        seen.setdefault(name, path)


def _location(settings: Settings) -> Iterator[Fault]:
    region = region_of(settings.location)
    for index, zone in enumerate(settings.cluster.default_pool.zones):
        if region_of(zone) != region:
            yield Fault(
                f"cluster.defaultPool.zones[{index}]", zone, f"a zone of {region}", "use zones of the cluster's region"
            )
    yield from duplicates("cluster.defaultPool.zones[{}]", settings.cluster.default_pool.zones, "zone")
    if is_zone(settings.location):
        for index, section in enumerate(settings.slices):
            if region_of(section.zone) == region and section.zone != settings.location:
                yield Fault(
                    f"slices[{index}].zone",
                    section.zone,
                    f"the zone of the zonal cluster, {settings.location}",
                    f"write {settings.location}, or make the cluster regional with location: {region}",
                )


def _version(settings: Settings) -> Iterator[Fault]:
    version = settings.cluster.version
    if gke_version.parse(version) is None:
        yield Fault("cluster.version", version, "a GKE version like 1.34 or 1.34.1-gke.1829001", "write '1.34'")
        return
    for section in settings.slices:
        machine = machine_of(section)
        if machine is not None and not gke_version.at_least(version, minimum_gke(machine)):
            floor = minimum_gke(machine)
            yield Fault(
                "cluster.version", version, f"at least {floor}, which {machine.name} needs", f"write {floor} or later"
            )


def _tpu_zones(settings: Settings) -> Iterator[Fault]:
    families = sorted({machine.family for machine in MACHINE_TYPES.values()})
    for family in settings.tpu_zones:
        if family not in families:
            yield Fault(
                f"tpuZones.{family}",
                family,
                f"a family of machine types: {', '.join(families)}",
                did_you_mean(family, families, "remove the key"),
            )


def _charts(settings: Settings, folder: Path) -> Iterator[Fault]:
    charts = settings.charts
    ray = [("kuberay", charts.kuberay)] if settings.ray is not None and settings.ray.operator == "helm" else []
    for key, chart in (("kueue", charts.kueue), ("jobset", charts.jobset), *ray):
        if chart.startswith(("oci://", "https://")):
            continue
        if not (folder / chart / "Chart.yaml").is_file():
            yield Fault(
                f"charts.{key}",
                chart,
                "an oci:// or https:// address, or a folder with a Chart.yaml, relative to Pulumi.yaml",
                "correct the path, or leave the key out for the released chart (the rehearsal's set-up makes its own)",
            )
