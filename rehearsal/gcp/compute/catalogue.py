"""Regions, zones and machine types: what Google offers, not what a project has."""

from __future__ import annotations

from rehearsal.gcp.compute.operations import BASE
from rehearsal.gcp.core import Call, Handler, Object, not_found, number
from rehearsal.gcp.machines import MACHINES, REGIONS, Machine, offered, region_of, zones

CREATED = "2020-01-01T00:00:00.000-08:00"


def _zone(project: str, zone: str) -> Object:
    region = f"{BASE}/projects/{project}/regions/{region_of(zone)}"
    path = f"projects/{project}/zones/{zone}"
    return {
        "kind": "compute#zone", "id": number(zone, 4), "creationTimestamp": CREATED, "name": zone, "description": zone, "status": "UP",
        "region": region, "selfLink": f"{BASE}/{path}",
    }  # fmt: skip


def _region(project: str, region: str) -> Object:
    return {
        "kind": "compute#region", "id": number(region, 4), "creationTimestamp": CREATED, "name": region, "description": region, "status": "UP",
        "zones": [f"{BASE}/projects/{project}/zones/{zone}" for zone in zones(region)], "selfLink": f"{BASE}/projects/{project}/regions/{region}",
    }  # fmt: skip


def _machine(project: str, zone: str, machine: Machine) -> Object:
    found: Object = {
        "kind": "compute#machineType", "id": number(machine.name, 6), "creationTimestamp": CREATED, "name": machine.name,
        "description": f"{machine.cpus} vCPUs, {machine.memory_gb} GB RAM", "guestCpus": machine.cpus, "memoryMb": machine.memory_gb * 1024,
        "zone": zone, "selfLink": f"{BASE}/projects/{project}/zones/{zone}/machineTypes/{machine.name}",
    }  # fmt: skip
    if machine.chips:
        found["accelerators"] = [{"guestAcceleratorType": machine.family, "guestAcceleratorCount": machine.chips}]
    return found


def _missing(call: Call, path: str) -> Exception:
    return not_found(f"The resource 'projects/{call.project}/{path}' was not found")


def _get_zone(call: Call) -> Object:
    zone = call.params["zone"]
    if zone not in zones(region_of(zone)):
        raise _missing(call, f"zones/{zone}")
    return _zone(call.project, zone)


def _get_region(call: Call) -> Object:
    if call.params["region"] not in REGIONS:
        raise _missing(call, f"regions/{call.params['region']}")
    return _region(call.project, call.params["region"])


def _list_zones(call: Call) -> Object:
    return {
        "kind": "compute#zoneList",
        "items": [_zone(call.project, zone) for region in REGIONS for zone in zones(region)],
    }


def _list_regions(call: Call) -> Object:
    return {"kind": "compute#regionList", "items": [_region(call.project, region) for region in REGIONS]}


def _get_machine(call: Call) -> Object:
    zone, name = call.params["zone"], call.params["machineType"]
    if not offered(name, zone):
        raise _missing(call, f"zones/{zone}/machineTypes/{name}")
    return _machine(call.project, zone, MACHINES[name])


def _list_machines(call: Call) -> Object:
    zone = call.params["zone"]
    found = [_machine(call.project, zone, machine) for machine in MACHINES.values() if offered(machine.name, zone)]
    return {"kind": "compute#machineTypeList", "items": found}


HANDLERS: dict[str, Handler] = {
    "compute.zones.get": _get_zone,
    "compute.zones.list": _list_zones,
    "compute.regions.get": _get_region,
    "compute.regions.list": _list_regions,
    "compute.machineTypes.get": _get_machine,
    "compute.machineTypes.list": _list_machines,
}
