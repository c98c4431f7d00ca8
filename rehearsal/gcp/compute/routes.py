"""Routes: those that are stored, and one for each range of a subnetwork, which is there as long as the range is.

What networks have by themselves: cloud.google.com/vpc/docs/routes, "Subnet routes" and "System-generated default routes".
"""

from __future__ import annotations

from collections.abc import Iterator

from rehearsal.gcp.compute import listing, ranges, resources
from rehearsal.gcp.compute.kinds import BASE, path_of, project
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, number, public


def _local(world: CloudState, of_project: str) -> Iterator[Object]:
    """The routes inside a project's networks."""
    for subnetwork in world.store.list("compute-subnetworks", f"projects/{of_project}/regions/"):
        for _, text, _ in ranges.of(subnetwork):
            digits = number(f"{path_of(subnetwork['selfLink'])} {text}", 16)
            name = f"default-route-r-{digits}"
            yield {
                "kind": "compute#route", "id": digits, "creationTimestamp": subnetwork["creationTimestamp"], "name": name,
                "description": f"Default local route to the subnetwork {text}.", "network": subnetwork["network"],
                "destRange": text, "priority": 0, "nextHopNetwork": subnetwork["network"],
                "selfLink": f"{BASE}/projects/{of_project}/global/routes/{name}",
            }  # fmt: skip


def _local_named(call: Call) -> Object | None:
    rows = (route for route in _local(call.world, project(call)) if route["name"] == call.params["route"])
    return next(rows, None)


def _list(call: Call) -> Object:
    path = f"projects/{project(call)}/global/routes"
    stored = [public(route) for route in call.world.store.list("compute-routes", f"{path}/")]
    return listing.page(call, "route", path, [*stored, *_local(call.world, project(call))])


def _get(call: Call) -> Object:
    local = _local_named(call)
    return resources.HANDLERS["compute.routes.get"](call) if local is None else local


def _delete(call: Call) -> Object:
    """The text of the refusal: genevieve/leftovers #71."""
    if _local_named(call) is not None:
        raise ApiError(400, "The local route cannot be deleted.")
    return resources.HANDLERS["compute.routes.delete"](call)


HANDLERS: dict[str, Handler] = {
    "compute.routes.list": _list,
    "compute.routes.get": _get,
    "compute.routes.delete": _delete,
}
