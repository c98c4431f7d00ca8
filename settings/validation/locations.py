"""Locations: the cluster, its slices and the nodes for system pods are in one region, and slices in zones that have their TPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.catalogue.accelerators import ZONES, offered_in
from settings.schema.field_types import is_zone, region_of
from settings.schema.stack import Settings, SliceSection
from settings.validation.problem import Problem, duplicates, nearest


def check(settings: Settings) -> Iterator[Problem]:
    elsewhere = list(_location(settings))
    yield from elsewhere
    location = None if elsewhere else settings.location
    for index, section in enumerate(settings.slices):
        yield from _zone(f"slices[{index}].zone", section, location, settings)
    yield from _default_zones(location, settings)


def zones_of(settings: Settings) -> dict[str, tuple[str, ...]]:
    """The catalogue's zones, with the families that the stack states itself replaced."""
    return {**ZONES, **{family: tuple(zones) for family, zones in settings.tpu_zones.items()}}


def _inside(zone: str, location: str) -> bool:
    return zone == location or (not is_zone(location) and region_of(zone) == location)


def _location(settings: Settings) -> Iterator[Problem]:
    """Where several slices agree with each other on a region and not with the location, the location is the mistake."""
    location, zones = settings.location, list(dict.fromkeys(section.zone for section in settings.slices))
    outside = [section for section in settings.slices if not _inside(section.zone, location)]
    regions = {region_of(zone) for zone in zones}
    if len(outside) < 2 or len(regions) > 1 or not all(_offered(section, settings) for section in settings.slices):
        return
    expected = f"a location that contains the slices' zones: {', '.join(zones)}"
    yield Problem("location", location, expected, f"write {regions.pop()}")


def _offered(section: SliceSection, settings: Settings) -> bool:
    return offered_in(section.machine.family, section.zone, zones_of(settings))


def _zone(path: str, section: SliceSection, location: str | None, settings: Settings) -> Iterator[Problem]:
    inside, offered = location is None or _inside(section.zone, location), _offered(section, settings)
    if inside and offered:
        return
    family = section.machine.family
    known = zones_of(settings).get(family, ())
    expected = []
    if not inside and location is not None:
        place = "the zone of the zonal cluster," if is_zone(location) else "a zone of the cluster's region"
        expected.append(f"{place} {location}")
    if not offered:
        has = f"a zone that has {family}: {', '.join(known)}"
        expected.append(has if known else f"a zone listed in tpuZones.{family}, because no zone is published for it")
    fix = _zone_remedy(section.zone, location, known, offered)
    if inside or not fix:
        also = f"if Google has added {section.zone}, add it to tpuZones.{family}"
        fix = f"{fix}; {also}" if fix else also
    yield Problem(path, section.zone, ", and ".join(expected), fix)


def _zone_remedy(zone: str, location: str | None, known: Sequence[str], offered: bool) -> str:
    """First a zone that is both in the cluster's place and has the TPUs, then a place that the zone is in, and where there
    is neither, the two together."""
    place = location if location is not None else region_of(zone)
    here = [near for near in known if _inside(near, place) or place.startswith(f"{near}-")]
    options = []
    if here:
        options.append(here[0] if is_zone(here[0]) else place if is_zone(place) else f"a zone of {here[0]}")
    if offered:
        options.append(f"location: {region_of(zone)}")
    if not options and known:
        near = nearest(zone, known)
        other = near if near is not None else known[0]
        options.append(f"{other if is_zone(other) else f'a zone of {other}'}, and location: {region_of(other)}")
    return f"write {', or '.join(options)}" if options else ""


def _default_zones(location: str | None, settings: Settings) -> Iterator[Problem]:
    zones = settings.cluster.default_pool.zones
    named = [(f"cluster.defaultPool.zones[{index}]", zone) for index, zone in enumerate(zones)]
    yield from duplicates(named, "zone")
    for path, zone in named:
        if location is not None and region_of(zone) != region_of(location):
            region = region_of(location)
            yield Problem(path, zone, f"a zone of the cluster's region {region}", f"write a zone of {region}")
