"""What a network has without being told: a route to the internet (cloud.google.com/vpc/docs/routes), and in auto mode a subnetwork
in each region, from 10.128.0.0/9 (cloud.google.com/vpc/docs/subnets)."""

from __future__ import annotations

import ipaddress

from rehearsal.gcp.compute import defaults
from rehearsal.gcp.compute.kinds import BASE, fingerprint, path_of
from rehearsal.gcp.core import CloudState, Object, now, number
from rehearsal.gcp.machines import REGIONS

_ALL = ipaddress.IPv4Network("10.128.0.0/9")
_KIND = "compute-subnetworks"


def populate(world: CloudState, network: Object) -> None:
    """Gives a new network its route and its subnetworks."""
    project = network["selfLink"].split("/projects/")[1].split("/")[0]
    _route(world, network, project)
    if network["autoCreateSubnetworks"]:
        _subnetworks(world, network, project)


def _route(world: CloudState, network: Object, project: str) -> None:
    """It can be deleted, and does not come back."""
    digits = number(f"{network['selfLink']} {now()}", 16)
    path = f"projects/{project}/global/routes/default-route-{digits}"
    row = {
        "kind": "compute#route", "id": digits, "creationTimestamp": now(), "name": path.rsplit("/", 1)[-1],
        "description": "Default route to the Internet.", "network": network["selfLink"], "destRange": "0.0.0.0/0", "priority": 1000,
        "nextHopGateway": f"{BASE}/projects/{project}/global/gateways/default-internet-gateway", "selfLink": f"{BASE}/{path}",
        "_automatic": True,
    }  # fmt: skip
    world.store.put("compute-routes", path, row)


def _subnetworks(world: CloudState, network: Object, project: str) -> None:
    for region, block in zip(sorted(REGIONS), _ALL.subnets(new_prefix=20), strict=False):
        path = f"projects/{project}/regions/{region}/subnetworks/{network['name']}"
        if world.store.get(_KIND, path) is not None:
            continue
        stated = {"ipCidrRange": str(block), "network": network["selfLink"], "_automatic": True}
        row = {
            **defaults.completed("subnetworks", stated, project), "kind": "compute#subnetwork", "id": number(path + now(), 19),
            "creationTimestamp": now(), "name": network["name"], "selfLink": f"{BASE}/{path}",
            "region": f"{BASE}/projects/{project}/regions/{region}",
        }  # fmt: skip
        world.store.put(_KIND, path, {**row, "fingerprint": fingerprint(row)})


def _own(world: CloudState, kind: str, network: Object) -> list[Object]:
    return [row for row in world.store.list(kind) if row["network"] == network["selfLink"] and row.get("_automatic")]


def release(world: CloudState, network: Object) -> None:
    """Makes its subnetworks ordinary ones: the network is in custom mode from now on."""
    for row in _own(world, _KIND, network):
        row.pop("_automatic")
        world.store.put(_KIND, path_of(row["selfLink"]), row)


def clear(world: CloudState, network: Object) -> None:
    """They go with their network."""
    for kind in (_KIND, "compute-routes"):
        for row in _own(world, kind, network):
            world.store.delete(kind, path_of(row["selfLink"]))
