"""Address ranges: they must not overlap, and must be large enough for the nodes the plan asks for."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from settings.faults import Fault
from settings.model import Settings
from settings.shapes import shape_of

_CONTROL_PLANE_PREFIX = 28
"""GKE takes exactly a /28 for the control plane of a private cluster."""
_PODS_PER_NODE_PREFIX = 24
"""With GKE's default of 110 pods per node each node takes a /24 of the pod range."""


def check(settings: Settings) -> Iterator[Fault]:
    network = settings.network
    control_plane = _range(network.control_plane_cidr)
    if control_plane is not None and control_plane.prefixlen != _CONTROL_PLANE_PREFIX:
        yield Fault(
            "network.controlPlaneCidr",
            network.control_plane_cidr,
            "a /28 range, the only size GKE takes",
            f"write {control_plane.network_address}/28",
        )
    if network.given is None:
        yield from _overlaps(settings)
        yield from _room(settings)


def _range(text: str) -> IPv4Network | None:
    """None for what is not a range: the key's own rule has said so already."""
    try:
        return IPv4Network(text)
    except ValueError:
        return None


def _overlaps(settings: Settings) -> Iterator[Fault]:
    network = settings.network
    texts = {
        "nodesCidr": network.nodes_cidr,
        "podsCidr": network.pods_cidr,
        "servicesCidr": network.services_cidr,
        "controlPlaneCidr": network.control_plane_cidr,
    }
    ranges = {name: parsed for name, text in texts.items() if (parsed := _range(text)) is not None}
    for name, earlier in ((b, a) for a, b in combinations(ranges, 2)):
        if ranges[name].overlaps(ranges[earlier]):
            wanted = f"a range outside network.{earlier} ({ranges[earlier]})"
            yield Fault(f"network.{name}", texts[name], wanted, "move one of them")


def _room(settings: Settings) -> Iterator[Fault]:
    pods = _range(settings.network.pods_cidr)
    if pods is None:
        return
    nodes = _nodes(settings)
    room = 2 ** max(0, _PODS_PER_NODE_PREFIX - pods.prefixlen)
    if pods.prefixlen > _PODS_PER_NODE_PREFIX or nodes > room:
        yield Fault(
            "network.podsCidr",
            settings.network.pods_cidr,
            f"room for {nodes} nodes, each of which takes a /24",
            f"write a prefix of /{_PODS_PER_NODE_PREFIX - (nodes - 1).bit_length()} or shorter",
        )


def _nodes(settings: Settings) -> int:
    """How many nodes the plan asks for."""
    pool = settings.cluster.default_pool
    zones = pool.zones if pool.zones else list({section.zone for section in settings.slices})
    shapes = [(shape_of(section), len(section.pools)) for section in settings.slices]
    return pool.nodes * len(zones) + sum(shape.hosts * pools for shape, pools in shapes if shape is not None)
