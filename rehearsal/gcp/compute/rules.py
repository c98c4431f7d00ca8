"""What compute fills in and what it refuses, by kind of resource."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator

from rehearsal.gcp.compute.operations import BASE, in_use
from rehearsal.gcp.core import Object, World, invalid

Rule = Callable[[World, str, Object], None]


def defaults(plural: str, body: Object) -> Object:
    """What a resource of that kind has when the request does not say. A router's gateways in `body` are filled in where they are."""
    if plural == "networks":
        return {
            "autoCreateSubnetworks": True,
            "routingConfig": {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY"},
            "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
        }
    if plural == "subnetworks":
        return _subnetwork(body)
    if plural == "firewalls":
        return {
            "direction": "INGRESS",
            "priority": 1000,
            "disabled": False,
            "logConfig": {"enable": False},
            "network": f"{BASE}/projects/-/global/networks/default",
        }
    if plural == "routers":
        if body.get("nats"):
            body["nats"] = [_nat(nat) for nat in body["nats"]]
        return {"encryptedInterconnectRouter": False}
    return {"status": "READY"} if plural == "resourcePolicies" else {}


def _subnetwork(body: Object) -> Object:
    found: Object = {
        "purpose": "PRIVATE",
        "stackType": "IPV4_ONLY",
        "privateIpGoogleAccess": False,
        "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS",
        "enableFlowLogs": False,
    }
    network = _range("ipCidrRange", body.get("ipCidrRange", ""))
    return {**found, "gatewayAddress": str(network.network_address + 1)}


def _nat(nat: Object) -> Object:
    """A NAT gateway with the API's defaults (compute.v1 RouterNat)."""
    return {
        "type": "PUBLIC", "natIpAllocateOption": "AUTO_ONLY", "enableEndpointIndependentMapping": False, "endpointTypes": ["ENDPOINT_TYPE_VM"],
        "autoNetworkTier": "PREMIUM", **nat,
    }  # fmt: skip


def _range(field: str, text: str) -> ipaddress.IPv4Network:
    try:
        return ipaddress.IPv4Network(text)
    except ValueError:
        raise invalid(
            f"Invalid value for field 'resource.{field}': '{text}'. Must be a CIDR address range that is contained in the RFC1918 private address blocks: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16]"
        ) from None


def _ranges(resource: Object) -> Iterator[tuple[str, ipaddress.IPv4Network]]:
    yield resource["name"], _range("ipCidrRange", resource["ipCidrRange"])
    for n, secondary in enumerate(resource.get("secondaryIpRanges", [])):
        yield secondary["rangeName"], _range(f"secondaryIpRanges[{n}].ipCidrRange", secondary["ipCidrRange"])


def _network_must_exist(world: World, resource: Object) -> None:
    path = resource.get("network", "").removeprefix(f"{BASE}/")
    if world.store.get("compute-networks", path) is None and not path.endswith("/default"):
        raise invalid(
            f"Invalid value for field 'resource.network': '{resource.get('network', '')}'. The referenced network resource cannot be found."
        )


def _check_subnetwork(world: World, path: str, resource: Object) -> None:
    _network_must_exist(world, resource)
    mine = list(_ranges(resource))
    others = [
        s
        for s in world.store.list("compute-subnetworks")
        if s["network"] == resource["network"] and s["selfLink"] != f"{BASE}/{path}"
    ]
    taken = [entry for other in others for entry in _ranges(other)]
    for n, (name, network) in enumerate(mine):
        for other, used in [*taken, *mine[:n]]:
            if network.overlaps(used):
                raise invalid(
                    f"Invalid IPCidrRange: {network} conflicts with existing subnetwork '{other}' in region '{path.split('/')[3]}'."
                    if (other, used) in taken
                    else f"Invalid value for field 'resource.secondaryIpRanges': ranges '{other}' and '{name}' overlap."
                )


def _check_attached(world: World, path: str, resource: Object) -> None:
    _network_must_exist(world, resource)


def _check_router(world: World, path: str, resource: Object) -> None:
    _network_must_exist(world, resource)
    names = [nat["name"] for nat in resource.get("nats", [])]
    if len(names) != len(set(names)):
        raise invalid("Invalid value for field 'resource.nats': NAT names must be unique within a router.")


def _network_users(world: World, path: str, resource: Object) -> None:
    for kind in ("subnetworks", "firewalls", "routers"):
        for user in world.store.list(f"compute-{kind}"):
            if user.get("network") == resource["selfLink"]:
                raise in_use("network", path, user["selfLink"].removeprefix(f"{BASE}/"))
    _cluster_users(world, path, "network", "network")


def _subnetwork_users(world: World, path: str, resource: Object) -> None:
    _cluster_users(world, path, "subnetwork", "subnetwork")


def _cluster_users(world: World, path: str, field: str, kind: str) -> None:
    for name in world.store.names("clusters"):
        cluster = world.store.get("clusters", name) or {}
        if cluster.get("networkConfig", {}).get(field) == path:
            raise in_use(kind, path, name)


CHECKS: dict[str, Rule] = {"subnetworks": _check_subnetwork, "firewalls": _check_attached, "routers": _check_router}
USERS: dict[str, Rule] = {"networks": _network_users, "subnetworks": _subnetwork_users}
