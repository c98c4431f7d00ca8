"""Address ranges: which there can be, and which are in each other's way."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from rehearsal.gcp.compute.kinds import missing, wrong
from rehearsal.gcp.core import Object

Named = tuple[str, str, ipaddress.IPv4Network]
"""The field of a request that states a range, its text, and what it covers."""

SHORTEST, LONGEST = 8, 29
"""Prefix lengths of subnetworks (cloud.google.com/vpc/docs/subnets, "IPv4 subnet ranges")."""
_PROHIBITED = tuple(
    ipaddress.IPv4Network(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")
)


def parse(field: str, text: str) -> ipaddress.IPv4Network:
    """A range of a subnetwork. Raises ApiError for one that no network can have."""
    if not text:
        raise missing(field)
    try:
        network = ipaddress.IPv4Network(text)
    except ValueError as error:
        raise wrong(field, text, f"Must be a CIDR address range. {error}.") from None
    if "/" not in text or not SHORTEST <= network.prefixlen <= LONGEST:
        raise wrong(field, text, f"Must be a CIDR address range of a length from /{SHORTEST} to /{LONGEST}.")
    if any(network.overlaps(prohibited) for prohibited in _PROHIBITED):
        raise wrong(field, text, "Invalid IPCidrRange: the range overlaps addresses that subnetworks must not have.")
    return network


def of(subnetwork: Object) -> Iterator[Named]:
    """The primary range of a subnetwork and its secondary ones."""
    field = "resource.ipCidrRange"
    yield field, subnetwork.get("ipCidrRange", ""), parse(field, subnetwork.get("ipCidrRange", ""))
    for n, secondary in enumerate(subnetwork.get("secondaryIpRanges", [])):
        field = f"resource.secondaryIpRanges[{n}].ipCidrRange"
        yield field, secondary.get("ipCidrRange", ""), parse(field, secondary.get("ipCidrRange", ""))


def refuse_overlaps(subnetwork: Object, others: list[Object]) -> None:
    """All ranges of one network are kept apart, primary and secondary alike."""
    taken = [(other["name"], other["region"].rsplit("/", 1)[-1], used) for other in others for _, _, used in of(other)]
    mine: list[Named] = []
    for field, text, network in of(subnetwork):
        for name, region, used in taken:
            if network.overlaps(used):
                why = f"Invalid IPCidrRange: {text} conflicts with existing subnetwork '{name}' in region '{region}'."
                raise wrong(field, text, why)
        for _, other, used in mine:
            if network.overlaps(used):
                raise wrong(field, text, f"Invalid IPCidrRange: {text} overlaps with {other} of the same subnetwork.")
        mine.append((field, text, network))
