"""Address ranges: private, of a size that Google takes, apart from each other, and large enough for the planned nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice

from settings.plan.slices import count_of, system_zones
from settings.schema.field_types import region_of
from settings.schema.network import NetworkSection
from settings.schema.stack import Settings
from settings.validation.problem import Described, Problem, not_with_existing_cluster

_PRIVATE = tuple(
    IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "240.0.0.0/4")
)
"""RFC 1918, RFC 6598 and class E. VPC takes public ranges too, but then hides the public hosts that have them."""
_CONTROL_PLANE_PREFIX = 28
"""GKE takes exactly a /28 for the control plane of a private cluster."""
_LONGEST = 29
"""The smallest subnetwork or secondary range (VPC, "IPv4 subnet ranges"). The largest, /8, is more than any private range."""
_PODS_PER_NODE_PREFIX = 24
"""With GKE's default of 110 pods per node each node takes a /24 of the pod range."""
_RESERVED = 4
"""Addresses of a subnetwork that Google keeps."""
_OWN = ("nodes_cidr", "pods_cidr", "services_cidr")
_ALL = (*_OWN, "control_plane_cidr")
_TRIES = 512
_PROJECT = re.compile(r"(?:^|/)projects/([^/]+)/")
_REGION = re.compile(r"(?:^|/)regions/([^/]+)/")


def check(settings: Settings) -> Iterator[Problem]:
    network = settings.network
    if settings.cluster.existing:
        yield from _clusters(network)
        return
    yield from _existing(network)
    yield from _existing_ranges(network)
    yield from _existing_network(settings)
    yield from _existing_subnetwork(settings)
    yield from _control_plane(network)
    needs = {name: _longest(name, settings) for name in _used(network)}
    public = [problem for name in needs for problem in _private(name, needs[name], network)]
    yield from public
    broken = {problem.path for problem in public}
    ranges = {name: _range(name, network) for name in _used(network) if _key(name) not in broken}
    yield from _overlaps(ranges, needs, network)
    for name in ranges:
        yield from _size(name, ranges, needs[name])


def _key(name: str) -> str:
    return f"network.{NetworkSection.model_fields[name].alias}"


def _used(network: NetworkSection) -> tuple[str, ...]:
    """In an existing network the stack chooses only the control plane's range."""
    return _ALL if network.existing is None else ("control_plane_cidr",)


def _range(name: str, network: NetworkSection) -> IPv4Network:
    """The range of a key. The control plane's is taken as a /28, the size that it must have."""
    found = IPv4Network(getattr(network, name))
    return _control_plane_range(found) if name == "control_plane_cidr" else found


def _control_plane_range(stated: IPv4Network) -> IPv4Network:
    return IPv4Network((stated.network_address, _CONTROL_PLANE_PREFIX), strict=False)


def _clusters(network: NetworkSection) -> Iterator[Problem]:
    """An existing cluster already has its network and all ranges."""
    for name in sorted(network.model_fields_set, key=list(NetworkSection.model_fields).index):
        value = Described("a network") if name == "existing" else getattr(network, name)
        yield not_with_existing_cluster(_key(name), value)


def _existing(network: NetworkSection) -> Iterator[Problem]:
    if network.existing is None:
        return
    for name in _OWN:
        if name in network.model_fields_set:
            own, ranges = network.existing, f"{network.existing.pods_range} and {network.existing.services_range}"
            expected = (
                f"not set, because network.existing has its own ranges (subnetwork {own.subnetwork} with {ranges})"
            )
            yield Problem(_key(name), getattr(network, name), expected, "remove the key, or remove network.existing")


def _existing_ranges(network: NetworkSection) -> Iterator[Problem]:
    """Secondary ranges are identified by name within their subnetwork."""
    existing = network.existing
    if existing is not None and existing.services_range == existing.pods_range:
        expected = (
            f"a different secondary range than the pods': network.existing.podsRange is also {existing.pods_range}"
        )
        yield Problem(
            "network.existing.servicesRange",
            existing.services_range,
            expected,
            "write the name of the range for services",
        )


def _existing_network(settings: Settings) -> Iterator[Problem]:
    """A firewall rule is in the project of its network (Compute Engine, `firewalls.insert`), and ours would be in the cluster's."""
    existing = settings.network.existing
    host = _PROJECT.search(existing.network) if existing is not None else None
    if existing is not None and host is not None and host.group(1) != settings.project and existing.firewall:
        expected = f"false: the network is in {host.group(1)}, but the stack's firewall rule would be created in {settings.project}"
        fix = "add `firewall: false`, and ask the network's owner to let the control plane reach the webhook ports (README)"
        yield Problem("network.existing.firewall", existing.firewall, expected, fix)


def _existing_subnetwork(settings: Settings) -> Iterator[Problem]:
    existing, region = settings.network.existing, region_of(settings.location)
    stated = _REGION.search(existing.subnetwork) if existing is not None else None
    if existing is not None and stated is not None and stated.group(1) != region:
        expected = f"a subnetwork in {region}, where the cluster is"
        yield Problem(
            "network.existing.subnetwork",
            existing.subnetwork,
            expected,
            f"write one of {region}, or move the cluster (location)",
        )


def _control_plane(network: NetworkSection) -> Iterator[Problem]:
    stated = IPv4Network(network.control_plane_cidr)
    if stated.prefixlen != _CONTROL_PLANE_PREFIX and _is_private(_control_plane_range(stated)):
        expected = "a /28 range, the only size GKE takes"
        yield Problem(_key("control_plane_cidr"), str(stated), expected, f"write {_control_plane_range(stated)}")


def _is_private(stated: IPv4Network) -> bool:
    return any(stated.subnet_of(private) for private in _PRIVATE)


def _private(name: str, need: _Need, network: NetworkSection) -> Iterator[Problem]:
    stated = _range(name, network)
    if not _is_private(stated):
        others = [_range(other, network) for other in _used(network) if other != name]
        expected = f"a private range, in one of {', '.join(str(private) for private in _PRIVATE)}"
        free = _instead(name, need.prefix, stated.prefixlen, others)
        yield Problem(_key(name), getattr(network, name), expected, f"write {free}")


def _instead(name: str, longest: int, prefix: int, others: Sequence[IPv4Network]) -> IPv4Network | str:
    """A range that overlaps no other: the default if it is large enough, or the first private one of the stated size."""
    default = IPv4Network(NetworkSection.model_fields[name].default)
    clear = not any(default.overlaps(other) for other in others)
    if clear and default.prefixlen <= longest:
        return default
    for private in _PRIVATE:
        size = min(prefix, longest)
        if size < private.prefixlen:
            continue
        for candidate in islice(private.subnets(new_prefix=size), _TRIES):
            if not any(candidate.overlaps(other) for other in others):
                return candidate
    return "a private range that is free"


def _overlaps(
    ranges: Mapping[str, IPv4Network], needs: Mapping[str, _Need], network: NetworkSection
) -> Iterator[Problem]:
    """One problem for each range that must move: the one with most overlaps; among equals one that the user wrote, or the later."""
    left = dict(ranges)
    while True:
        clashes = {a: [b for b in left if b != a and left[a].overlaps(left[b])] for a in left}
        worst = max(left, key=lambda a: (len(clashes[a]), a in network.model_fields_set, _ALL.index(a)), default=None)
        if worst is None or not clashes[worst]:
            return
        others = ", ".join(f"{_key(name)} ({left[name]})" for name in clashes[worst])
        kept = [found for name, found in left.items() if name != worst]
        free = _instead(worst, needs[worst].prefix, left[worst].prefixlen, kept)
        fix = f"write {free}, or move {' and '.join(_key(name) for name in clashes[worst])}"
        yield Problem(_key(worst), getattr(network, worst), f"a range outside {others}", fix)
        del left[worst]


@dataclass(frozen=True)
class _Need:
    """The longest prefix that a range may have, and why."""

    prefix: int
    why: str


def _longest(name: str, settings: Settings) -> _Need:
    if name == "control_plane_cidr":
        return _Need(_CONTROL_PLANE_PREFIX, "the only size GKE takes")
    smallest = _Need(_LONGEST, f"a range of /{_LONGEST} or larger, as a subnetwork has")
    nodes = _nodes(settings)
    if name == "nodes_cidr":
        prefix = min(_LONGEST, 32 - (nodes + _RESERVED - 1).bit_length())
        return _Need(prefix, f"room for {nodes} nodes and the {_RESERVED} addresses that Google reserves")
    if name == "pods_cidr":
        prefix = max(0, _PODS_PER_NODE_PREFIX - (nodes - 1).bit_length())
        return _Need(prefix, f"room for {nodes} nodes, each of which takes a /{_PODS_PER_NODE_PREFIX}")
    return smallest


def _size(name: str, ranges: Mapping[str, IPv4Network], need: _Need) -> Iterator[Problem]:
    stated = ranges[name]
    if stated.prefixlen > need.prefix:
        wider = IPv4Network((stated.network_address, need.prefix), strict=False)
        others = [found for other, found in ranges.items() if other != name]
        clear = _is_private(wider) and not any(wider.overlaps(other) for other in others)
        near = wider if clear else _instead(name, need.prefix, need.prefix, others)
        yield Problem(_key(name), str(stated), need.why, f"write {near}, or a larger range")


def _nodes(settings: Settings) -> int:
    """How many nodes the plan has when all slices exist."""
    system = settings.cluster.default_pool.nodes * len(system_zones(settings))
    return system + sum(section.shape.hosts * count_of(section) for section in settings.slices)
