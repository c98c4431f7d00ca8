"""Which address a reservation gets."""

from __future__ import annotations

import ipaddress
import itertools
from collections.abc import Iterator

from rehearsal.gcp.compute.kinds import missing, path_of, wrong
from rehearsal.gcp.core import CloudState, Object, number


def inside(inner: str, outer: str) -> bool:
    return ipaddress.IPv4Network(inner).subnet_of(ipaddress.IPv4Network(outer))


def chosen(world: CloudState, path: str, address: Object) -> Object:
    """A reservation with its address: the one asked for, or a free one."""
    if address["addressType"] == "INTERNAL":
        address = {"purpose": "GCE_ENDPOINT", **address}
        address.pop("networkTier", None)
        return {**address, "address": _internal(world, address)}
    if "address" in address:
        raise wrong("resource.address", address["address"], "External addresses are chosen by Google.")
    taken = _taken(world)
    return {**address, "address": next(text for text in _external(path) if text not in taken)}


def _taken(world: CloudState) -> set[str]:
    return {row["address"] for row in world.store.list("compute-addresses")}


def _external(path: str) -> Iterator[str]:
    """Addresses from 192.0.2.0/24 and its like, which are nobody's (RFC 5737), the first always the same for a path."""
    blocks = [ipaddress.IPv4Network(text) for text in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
    hosts = [str(host) for block in blocks for host in block.hosts()]
    start = int(number(path)) % len(hosts)
    return itertools.chain(hosts[start:], hosts[:start])


def _internal(world: CloudState, address: Object) -> str:
    if not address.get("subnetwork"):
        raise missing("resource.subnetwork")
    subnetwork = world.store.get("compute-subnetworks", path_of(address["subnetwork"]))
    if subnetwork is None:
        raise wrong("resource.subnetwork", address["subnetwork"], "The referenced subnetwork resource cannot be found.")
    network = ipaddress.IPv4Network(subnetwork["ipCidrRange"])
    asked = address.get("address")
    if asked is None:
        taken = _taken(world)
        return next(str(host) for host in itertools.islice(network.hosts(), 1, None) if str(host) not in taken)
    try:
        fits = ipaddress.IPv4Address(asked) in network
    except ValueError:
        fits = False
    if not fits:
        raise wrong("resource.address", asked, f"Must be an address of subnetwork '{subnetwork['name']}'.")
    return str(asked)
