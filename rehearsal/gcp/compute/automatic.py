"""The subnetworks that a network in auto mode has: one a region, from 10.128.0.0/9 (cloud.google.com/vpc/docs/subnets)."""

from __future__ import annotations

import ipaddress

from rehearsal.gcp.compute import defaults
from rehearsal.gcp.compute.kinds import BASE, fingerprint, path_of
from rehearsal.gcp.core import Object, World, now, number
from rehearsal.gcp.machines import REGIONS

_ALL = ipaddress.IPv4Network("10.128.0.0/9")
_KIND = "compute-subnetworks"


def populate(world: World, network: Object) -> None:
    """Gives a new network its subnetworks."""
    project = network["selfLink"].split("/projects/")[1].split("/")[0]
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


def _own(world: World, network: Object) -> list[Object]:
    rows = world.store.list(_KIND)
    return [row for row in rows if row["network"] == network["selfLink"] and row.get("_automatic")]


def release(world: World, network: Object) -> None:
    """Makes them ordinary subnetworks: the network is in custom mode from now on."""
    for row in _own(world, network):
        row.pop("_automatic")
        world.store.put(_KIND, path_of(row["selfLink"]), row)


def clear(world: World, network: Object) -> None:
    """They go with their network."""
    for row in _own(world, network):
        world.store.delete(_KIND, path_of(row["selfLink"]))
