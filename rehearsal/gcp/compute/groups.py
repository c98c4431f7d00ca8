"""The instance groups of node pools, for clients that follow a pool's `instanceGroupUrls`. They are read here and changed by GKE only."""

from __future__ import annotations

from rehearsal.gcp.compute import listing
from rehearsal.gcp.compute.kinds import BASE, absent, fingerprint, path_of, project, zone
from rehearsal.gcp.core import Call, CloudState, Handler, Object, number
from rehearsal.gcp.machines import REGIONS, zones
from rehearsal.gcp.nodes import pool_nodes


def _of(world: CloudState, of_project: str, zone_name: str) -> list[Object]:
    """The groups of a zone, one for each pool that has nodes there."""
    found = []
    for pool in world.store.list("pools", f"projects/{of_project}/"):
        for url in pool["instanceGroupUrls"]:
            if f"/zones/{zone_name}/" in url:
                found.append(_group(pool, url, of_project, zone_name))
    return found


def _group(pool: Object, url: str, of_project: str, zone_name: str) -> Object:
    place, name = f"{BASE}/projects/{of_project}/zones/{zone_name}", url.rsplit("/", 1)[-1]
    base_name = name.removesuffix("-grp")
    group: Object = {
        "kind": "compute#instanceGroupManager",
        "id": number(url, 19),
        "name": name,
        "zone": place,
        "instanceTemplate": f"{BASE}/projects/{of_project}/global/instanceTemplates/{base_name}",
        "instanceGroup": f"{place}/instanceGroups/{name}",
        "baseInstanceName": base_name,
        "targetSize": pool_nodes.in_zone(pool, zone_name),
        "status": {"isStable": pool.get("status") == "RUNNING"},
        "selfLink": f"{BASE}/{path_of(url)}",
    }
    return {**group, "fingerprint": fingerprint(group)}


def _get(call: Call) -> Object:
    of_project, place, name = project(call), zone(call), call.params["instanceGroupManager"]
    for group in _of(call.world, of_project, place):
        if group["name"] == name:
            return group
    raise absent(f"projects/{of_project}/zones/{place}/instanceGroupManagers/{name}")


def _list(call: Call) -> Object:
    of_project, place = project(call), zone(call)
    path = f"projects/{of_project}/zones/{place}/instanceGroupManagers"
    return listing.page(call, "instanceGroupManager", path, _of(call.world, of_project, place))


def _aggregated(call: Call) -> Object:
    of_project = project(call)
    places = [name for region in REGIONS for name in zones(region)]
    rows = {f"zones/{place}": _of(call.world, of_project, place) for place in places}
    return listing.aggregated(call, "instanceGroupManager", "instanceGroupManagers", of_project, rows)


HANDLERS: dict[str, Handler] = {
    "compute.instanceGroupManagers.get": _get,
    "compute.instanceGroupManagers.list": _list,
    "compute.instanceGroupManagers.aggregatedList": _aggregated,
}
