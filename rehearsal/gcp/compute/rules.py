"""What compute refuses to make or change, by kind of resource."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable

from rehearsal.gcp.compute import ranges
from rehearsal.gcp.compute.kinds import BASE, NAME, missing, not_ready, path_of, wrong
from rehearsal.gcp.compute.users import range_users
from rehearsal.gcp.core import CloudState, Object

Rule = Callable[[CloudState, str, Object, Object | None], None]
"""Takes the path of a resource, what it is to be, and what it was (None for a new one)."""

FIXED = {
    "networks": ("autoCreateSubnetworks",),
    "subnetworks": ("network", "ipCidrRange", "purpose"),
    "firewalls": ("network", "direction"),
    "routers": ("network",),
}
"""What a patch or an update cannot change. A subnetwork's range grows by a call of its own."""
PROTOCOLS = frozenset({"tcp", "udp", "icmp", "esp", "ah", "sctp", "ipip", "all"})
_WITH_PORTS = frozenset({"tcp", "udp", "sctp", "6", "17", "132"})
_NAT_SOURCES = ("ALL_SUBNETWORKS_ALL_IP_RANGES", "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES", "LIST_OF_SUBNETWORKS")


def check(plural: str, world: CloudState, path: str, resource: Object, before: Object | None = None) -> None:
    """Raises ApiError when a resource of that kind cannot be so."""
    if before is not None:
        for field in FIXED.get(plural, ()):
            if resource.get(field) != before.get(field):
                raise wrong(
                    f"resource.{field}",
                    resource.get(field, ""),
                    f"The field cannot be changed from '{before.get(field)}'.",
                )
    if plural in _RULES:
        _RULES[plural](world, path, resource, before)


def check_name(name: str, field: str = "resource.name") -> None:
    if not name:
        raise missing(field)
    if re.fullmatch(NAME, name) is None:
        raise wrong(field, name, f"Must be a match of regex '{NAME}'")


def _attached(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    """Every project has a network `default`, which is not kept here."""
    if not resource.get("network"):
        raise missing("resource.network")
    network = path_of(resource["network"])
    found = world.store.get("compute-networks", network)
    if found is None and not network.endswith("/default"):
        raise wrong("resource.network", resource["network"], "The referenced network resource cannot be found.")
    if found is not None and before is None and found.get("_busy") in ("insert", "delete"):
        raise not_ready(network)


def _network(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    if not 1300 <= resource["mtu"] <= 8896:
        raise wrong("resource.mtu", resource["mtu"], "Must be between 1300 and 8896.")


def _subnetwork(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    _attached(world, path, resource, before)
    secondary = resource.get("secondaryIpRanges", [])
    for n, row in enumerate(secondary):
        check_name(row.get("rangeName", ""), f"resource.secondaryIpRanges[{n}].rangeName")
        if row["rangeName"] in [other["rangeName"] for other in secondary[:n]]:
            raise wrong(
                f"resource.secondaryIpRanges[{n}].rangeName",
                row["rangeName"],
                "Range names must be unique in a subnetwork.",
            )
    others = [s for s in world.store.list("compute-subnetworks") if s["network"] == resource["network"]]
    ranges.refuse_overlaps(resource, [s for s in others if path_of(s["selfLink"]) != path])
    for row in (before or {}).get("secondaryIpRanges", []):
        if row not in secondary:
            range_users(world, path, row["rangeName"])


def _firewall(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    _attached(world, path, resource, before)
    if bool(resource.get("allowed")) == bool(resource.get("denied")):
        raise wrong(
            "resource.allowed", resource.get("allowed", ""), "Exactly one of allowed and denied must be specified."
        )
    if not 0 <= resource["priority"] <= 65535:
        raise wrong("resource.priority", resource["priority"], "Must be between 0 and 65535.")
    for list_ in ("allowed", "denied"):
        for n, row in enumerate(resource.get(list_, [])):
            _traffic(f"resource.{list_}[{n}]", row)
    for list_ in ("sourceRanges", "destinationRanges"):
        for n, text in enumerate(resource.get(list_, [])):
            _block(f"resource.{list_}[{n}]", text)
    if resource["direction"] == "EGRESS":
        for field in ("sourceTags", "sourceServiceAccounts"):
            if resource.get(field):
                raise wrong(
                    f"resource.{field}",
                    resource[field],
                    "Sources of that kind cannot be specified for EGRESS firewalls.",
                )
    tags, accounts = (
        any(resource.get(f"{side}{kind}") for side in ("source", "target")) for kind in ("Tags", "ServiceAccounts")
    )
    if tags and accounts:
        raise wrong(
            "resource.targetTags",
            resource.get("targetTags", ""),
            "Tags and service accounts cannot be used in one firewall.",
        )


def _traffic(field: str, row: Object) -> None:
    protocol = str(row.get("IPProtocol", "")).lower()
    number = protocol.isdigit() and int(protocol) <= 255
    if not number and protocol not in PROTOCOLS:
        raise wrong(
            f"{field}.IPProtocol",
            row.get("IPProtocol", ""),
            "Must be a well-known protocol name or an IP protocol number.",
        )
    for n, text in enumerate(row.get("ports", [])):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if protocol not in _WITH_PORTS or not first <= last <= 65535:
            why = "Must be a port or a range of ports from 0 to 65535, of a protocol that has ports."
            raise wrong(f"{field}.ports[{n}]", text, why)


def _block(field: str, text: str) -> None:
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise wrong(field, text, f"Must be a valid CIDR address range. {error}.") from None


def _router(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    _attached(world, path, resource, before)
    others = [
        r
        for r in world.store.list("compute-routers", path.rsplit("/", 1)[0] + "/")
        if r["network"] == resource["network"]
    ]
    taken = [(r["name"], nat) for r in others if path_of(r["selfLink"]) != path for nat in r.get("nats", [])]
    for n, nat in enumerate(resource.get("nats", [])):
        field = f"resource.nats[{n}]"
        check_name(nat.get("name", ""), f"{field}.name")
        source = nat.get("sourceSubnetworkIpRangesToNat", "")
        if source not in _NAT_SOURCES:
            raise missing(f"{field}.sourceSubnetworkIpRangesToNat")
        if (source == "LIST_OF_SUBNETWORKS") != bool(nat.get("subnetworks")):
            raise wrong(f"{field}.subnetworks", "", f"Subnetworks go with LIST_OF_SUBNETWORKS, and not with {source}.")
        for name, other in [*taken, *((resource["name"], earlier) for earlier in resource["nats"][:n])]:
            if name == resource["name"] and other["name"] == nat["name"]:
                raise wrong(f"{field}.name", nat["name"], "NAT names must be unique within a router.")
            if source in _NAT_SOURCES[:2] and other["sourceSubnetworkIpRangesToNat"] in _NAT_SOURCES[:2]:
                why = f"The subnetworks of network {resource['network']} already use NAT '{other['name']}' of router '{name}'."
                raise wrong(f"{field}.sourceSubnetworkIpRangesToNat", source, why)
        _nat_parts(world, field, nat)


def _nat_parts(world: CloudState, field: str, nat: Object) -> None:
    if (nat["natIpAllocateOption"] == "MANUAL_ONLY") != bool(nat.get("natIps")):
        raise wrong(f"{field}.natIps", nat.get("natIps", ""), f"Does not go with {nat['natIpAllocateOption']}.")
    parts = [("compute-addresses", "natIps", text) for text in nat.get("natIps", [])]
    parts += [("compute-subnetworks", "subnetworks", row.get("name", "")) for row in nat.get("subnetworks", [])]
    for store, part, text in parts:
        if not text.startswith(BASE) or world.store.get(store, path_of(text)) is None:
            raise wrong(f"{field}.{part}", text, "The referenced resource cannot be found.")


def _route(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    _attached(world, path, resource, before)
    _block("resource.destRange", resource.get("destRange", ""))
    if sum(key.startswith("nextHop") for key in resource) != 1:
        raise wrong("resource", resource["name"], "Exactly one next hop must be specified.")


def _resource_policy(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    kinds = [key for key in resource if key.endswith("Policy")]
    if len(kinds) != 1:
        raise wrong("resource", resource["name"], "Exactly one kind of policy must be specified.")


def _address(world: CloudState, path: str, resource: Object, before: Object | None) -> None:
    subnetwork = resource.get("subnetwork")
    if subnetwork and world.store.get("compute-subnetworks", path_of(subnetwork)) is None:
        raise wrong("resource.subnetwork", subnetwork, "The referenced subnetwork resource cannot be found.")
    for other in world.store.list("compute-addresses"):
        if other["address"] == resource["address"] and path_of(other["selfLink"]) != path:
            raise wrong("resource.address", resource["address"], "Specified IP address is already reserved.")


_RULES: dict[str, Rule] = {
    "networks": _network, "subnetworks": _subnetwork, "firewalls": _firewall, "routers": _router, "resourcePolicies": _resource_policy,
    "addresses": _address, "routes": _route,
}  # fmt: skip
