"""Regions, zones and machine types: what Google offers, not what a project has. And the project as compute sees it."""

from __future__ import annotations

from rehearsal.gcp.compute import listing
from rehearsal.gcp.compute.kinds import BASE, absent, fingerprint, project, zone
from rehearsal.gcp.core import Call, Handler, Object, number
from rehearsal.gcp.machines import MACHINES, REGIONS, Machine, offered, region_of, zones

CREATED = "2020-01-01T00:00:00.000-08:00"
DISKS, DISK_GB = 128, "263168"
"""The most persistent disks of a machine, and their most gigabytes together (cloud.google.com/compute/docs/disks)."""


def _place(kind: str, of_project: str, path: str) -> Object:
    name = path.rsplit("/", 1)[-1]
    return {
        "kind": f"compute#{kind}", "id": number(name, 4), "creationTimestamp": CREATED, "name": name, "description": name,
        "status": "UP", "selfLink": f"{BASE}/projects/{of_project}/{path}",
    }  # fmt: skip


def _zone(of_project: str, name: str) -> Object:
    region = f"{BASE}/projects/{of_project}/regions/{region_of(name)}"
    return {**_place("zone", of_project, f"zones/{name}"), "region": region}


def _region(of_project: str, name: str) -> Object:
    links = [f"{BASE}/projects/{of_project}/zones/{zone_name}" for zone_name in zones(name)]
    return {**_place("region", of_project, f"regions/{name}"), "zones": links, "quotas": []}


def _machine(of_project: str, zone_name: str, machine: Machine) -> Object:
    chips = f", {machine.chips} {machine.family} TPU chips" if machine.chips else ""
    found: Object = {
        "kind": "compute#machineType",
        "id": number(machine.name, 6),
        "creationTimestamp": CREATED,
        "name": machine.name,
        "description": f"{machine.cpus} vCPUs, {machine.memory_gb} GB RAM{chips}",
        "guestCpus": machine.cpus,
        "memoryMb": machine.memory_gb * 1024,
        "imageSpaceGb": 0,
        "maximumPersistentDisks": DISKS,
        "maximumPersistentDisksSizeGb": DISK_GB,
        "isSharedCpu": machine.name in ("e2-micro", "e2-small", "e2-medium"),
        "architecture": "X86_64",
        "zone": zone_name,
        "selfLink": f"{BASE}/projects/{of_project}/zones/{zone_name}/machineTypes/{machine.name}",
    }
    if machine.chips:
        found["accelerators"] = [{"guestAcceleratorType": machine.family, "guestAcceleratorCount": machine.chips}]
    return found


def _machines(of_project: str, zone_name: str) -> list[Object]:
    return [_machine(of_project, zone_name, m) for m in MACHINES.values() if offered(m.name, zone_name)]


def _get_zone(call: Call) -> Object:
    name = call.params["zone"]
    if name not in zones(region_of(name)):
        raise absent(f"projects/{project(call)}/zones/{name}")
    return _zone(project(call), name)


def _get_region(call: Call) -> Object:
    name = call.params["region"]
    if name not in REGIONS:
        raise absent(f"projects/{project(call)}/regions/{name}")
    return _region(project(call), name)


def _list_zones(call: Call) -> Object:
    rows = [_zone(project(call), name) for region in REGIONS for name in zones(region)]
    return listing.page(call, "zone", f"projects/{project(call)}/zones", rows)


def _list_regions(call: Call) -> Object:
    rows = [_region(project(call), name) for name in REGIONS]
    return listing.page(call, "region", f"projects/{project(call)}/regions", rows)


def _get_machine(call: Call) -> Object:
    place, name = zone(call), call.params["machineType"]
    if not offered(name, place):
        raise absent(f"projects/{project(call)}/zones/{place}/machineTypes/{name}")
    return _machine(project(call), place, MACHINES[name])


def _list_machines(call: Call) -> Object:
    place = zone(call)
    path = f"projects/{project(call)}/zones/{place}/machineTypes"
    return listing.page(call, "machineType", path, _machines(project(call), place))


def _all_machines(call: Call) -> Object:
    rows = {f"zones/{name}": _machines(project(call), name) for region in REGIONS for name in zones(region)}
    return listing.aggregated(call, "machineType", "machineTypes", project(call), rows)


def _get_project(call: Call) -> Object:
    name = project(call)
    digits = number(name)
    return {
        "kind": "compute#project", "id": number(digits, 19), "creationTimestamp": CREATED, "name": name,
        "commonInstanceMetadata": {"kind": "compute#metadata", "fingerprint": fingerprint({"project": name})},
        "quotas": [], "selfLink": f"{BASE}/projects/{name}", "defaultServiceAccount": f"{digits}-compute@developer.gserviceaccount.com",
        "xpnProjectStatus": "UNSPECIFIED_XPN_PROJECT_STATUS", "defaultNetworkTier": "PREMIUM", "vmDnsSetting": "ZONAL_ONLY",
    }  # fmt: skip


HANDLERS: dict[str, Handler] = {
    "compute.projects.get": _get_project,
    "compute.zones.get": _get_zone,
    "compute.zones.list": _list_zones,
    "compute.regions.get": _get_region,
    "compute.regions.list": _list_regions,
    "compute.machineTypes.get": _get_machine,
    "compute.machineTypes.list": _list_machines,
    "compute.machineTypes.aggregatedList": _all_machines,
}
