"""Address ranges: private, of a size that Google takes, apart from each other, and large enough for the planned nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice

from settings.plan.slices import count_of, sound_shape, system_zones
from settings.schema.field_types import region_of
from settings.schema.network import NetworkSection
from settings.schema.stack import Settings
from settings.validation.problem import Described, Problem, Unsound, rule

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


@rule
def check(settings: Settings) -> Iterator[Problem]:
    network = settings.network
    if settings.cluster.existing:
        yield from _clusters(network)
        return
    yield from _given(network)
    yield from _given_ranges(network)
    yield from _given_network(settings)
    yield from _given_subnetwork(settings)
    yield from _control_plane(network)
    needs = {name: _longest(name, settings) for name in _used(network)}
    public = [problem for name in needs for problem in _private(name, needs[name], network)]
    yield from public
    broken = {problem.path for problem in public}
    ranges = {name: found for name in _used(network) if _key(name) not in broken for found in _range(name, network)}
    yield from _overlaps(ranges, needs, network)
    for name in ranges:
        yield from _size(name, ranges, needs[name])


def _key(name: str) -> str:
    return f"network.{NetworkSection.model_fields[name].alias}"


def _used(network: NetworkSection) -> tuple[str, ...]:
    """In a given network only the control plane's range is ours to choose."""
    return _ALL if "given" in vars(network) and network.given is None else ("control_plane_cidr",)


def _range(name: str, network: NetworkSection) -> Iterator[IPv4Network]:
    """The range of a key, none for one that is broken. A control plane's in the size that it must have."""
    if name in vars(network):
        found = IPv4Network(getattr(network, name))
        yield _control_plane_range(found) if name == "control_plane_cidr" else found


def _control_plane_range(stated: IPv4Network) -> IPv4Network:
    return IPv4Network((stated.network_address, _CONTROL_PLANE_PREFIX), strict=False)


def _clusters(network: NetworkSection) -> Iterator[Problem]:
    """An existing cluster has its network, and with it all ranges."""
    for name in sorted(network.model_fields_set, key=list(NetworkSection.model_fields).index):
        if name in vars(network):
            expected = "nothing: the network is that of the existing cluster (cluster.existing)"
            value = getattr(network, name)
            got = Described("a network") if name == "given" else value
            yield Problem(_key(name), got, expected, "remove the key, or remove cluster.existing")


@rule
def _given(network: NetworkSection) -> Iterator[Problem]:
    if network.given is None:
        return
    for name in _OWN:
        if name in network.model_fields_set:
            own, given = network.given, f"{network.given.pods_range} and {network.given.services_range}"
            expected = f"nothing: network.given has its own ranges (subnetwork {own.subnetwork} with {given})"
            yield Problem(_key(name), getattr(network, name), expected, "remove the key, or remove network.given")


@rule
def _given_ranges(network: NetworkSection) -> Iterator[Problem]:
    """A secondary range of a subnetwork is known by its name."""
    given = network.given
    if given is not None and given.services_range == given.pods_range:
        expected = f"another secondary range than that of the pods: network.given.podsRange is {given.pods_range} too"
        yield Problem(
            "network.given.servicesRange", given.services_range, expected, "write the name of the range for services"
        )


@rule
def _given_network(settings: Settings) -> Iterator[Problem]:
    """A firewall rule is in the project of its network (Compute Engine, `firewalls.insert`), and ours would be in the cluster's."""
    given = settings.network.given
    host = _PROJECT.search(given.network) if given is not None else None
    if given is not None and host is not None and host.group(1) != settings.project and given.firewall:
        expected = (
            f"false: the network is in {host.group(1)} and a firewall rule of ours would be in {settings.project}"
        )
        fix = "add `firewall: false`, and have its owner let the control plane reach the webhooks' ports (README)"
        yield Problem("network.given.firewall", given.firewall, expected, fix)


@rule
def _given_subnetwork(settings: Settings) -> Iterator[Problem]:
    given, region = settings.network.given, region_of(settings.location)
    stated = _REGION.search(given.subnetwork) if given is not None else None
    if given is not None and stated is not None and stated.group(1) != region:
        expected = f"a subnetwork in {region}, where the cluster is"
        yield Problem(
            "network.given.subnetwork",
            given.subnetwork,
            expected,
            f"write one of {region}, or move the cluster (location)",
        )


@rule
def _control_plane(network: NetworkSection) -> Iterator[Problem]:
    stated = IPv4Network(network.control_plane_cidr)
    if stated.prefixlen != _CONTROL_PLANE_PREFIX and _is_private(_control_plane_range(stated)):
        expected = "a /28 range, the only size GKE takes"
        yield Problem(_key("control_plane_cidr"), str(stated), expected, f"write {_control_plane_range(stated)}")


def _is_private(stated: IPv4Network) -> bool:
    return any(stated.subnet_of(private) for private in _PRIVATE)


@rule
def _private(name: str, need: _Need, network: NetworkSection) -> Iterator[Problem]:
    for stated in _range(name, network):
        if not _is_private(stated):
            others = [found for other in _used(network) if other != name for found in _range(other, network)]
            expected = f"a private range, in one of {', '.join(str(private) for private in _PRIVATE)}"
            free = _instead(name, need.prefix, stated.prefixlen, others)
            yield Problem(_key(name), getattr(network, name), expected, f"write {free}")


def _instead(name: str, longest: int, prefix: int, others: Sequence[IPv4Network]) -> IPv4Network | str:
    """A range that is in nobody's way: the default if it is large enough, or the first private one of the stated size."""
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
    """One fault for each range that is in the way: of those with most overlaps the one that the user wrote, or the later."""
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
    try:
        nodes = _nodes(settings)
    except Unsound:
        return smallest
    if name == "nodes_cidr":
        prefix = min(_LONGEST, 32 - (nodes + _RESERVED - 1).bit_length())
        return _Need(prefix, f"room for {nodes} nodes and the {_RESERVED} addresses that Google keeps")
    if name == "pods_cidr":
        prefix = max(0, _PODS_PER_NODE_PREFIX - (nodes - 1).bit_length())
        return _Need(prefix, f"room for {nodes} nodes, each of which takes a /{_PODS_PER_NODE_PREFIX}")
    return smallest


@rule
def _size(name: str, ranges: Mapping[str, IPv4Network], need: _Need) -> Iterator[Problem]:
    stated = ranges[name]
    if stated.prefixlen > need.prefix:
        wider = IPv4Network((stated.network_address, need.prefix), strict=False)
        others = [found for other, found in ranges.items() if other != name]
        clear = _is_private(wider) and not any(wider.overlaps(other) for other in others)
        near = wider if clear else _instead(name, need.prefix, need.prefix, others)
        yield Problem(_key(name), str(stated), need.why, f"write {near}, or a larger range")


def _nodes(settings: Settings) -> int:
    """How many nodes the plan asks for. Raises Unsound while that is not known."""
    system = settings.cluster.default_pool.nodes * len(system_zones(settings))
    return system + sum(sound_shape(section).hosts * count_of(section) for section in settings.slices)
