"""What compute fills in where a request is silent, by kind of resource (the compute.v1 descriptions, and what the API answers)."""

from __future__ import annotations

from rehearsal.gcp.compute import ranges
from rehearsal.gcp.core import Object

ANYWHERE = ["0.0.0.0/0"]


def completed(plural: str, stated: Object, project: str) -> Object:
    """A resource as it is saved: what is stated over what is filled in."""
    if plural == "networks":
        return _network(stated)
    if plural == "subnetworks":
        return _subnetwork(stated)
    if plural == "firewalls":
        return _firewall(stated, project)
    if plural == "routers":
        return _router(stated)
    if plural == "routes":
        return {"priority": 1000, **stated}
    if plural == "resourcePolicies":
        return {**stated, "status": "READY"}
    return {"addressType": "EXTERNAL", "networkTier": "PREMIUM", "status": "RESERVED", **stated}


def _network(stated: Object) -> Object:
    routing = {"routingMode": "REGIONAL", "bgpBestPathSelectionMode": "LEGACY", **stated.get("routingConfig", {})}
    found = {
        "autoCreateSubnetworks": True, "mtu": 1460, "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL", **stated,
    }  # fmt: skip
    return {**found, "routingConfig": routing}


def _subnetwork(stated: Object) -> Object:
    network = ranges.parse("resource.ipCidrRange", stated.get("ipCidrRange", ""))
    found: Object = {
        "privateIpGoogleAccess": False, "privateIpv6GoogleAccess": "DISABLE_GOOGLE_ACCESS", "purpose": "PRIVATE", "stackType": "IPV4_ONLY",
        "enableFlowLogs": False, **stated, "gatewayAddress": str(network.network_address + 1),
    }  # fmt: skip
    logs = found.get("logConfig", {})
    if logs.get("enable", found["enableFlowLogs"]):
        filled = {"aggregationInterval": "INTERVAL_5_SEC", "flowSampling": 0.5, "metadata": "INCLUDE_ALL_METADATA"}
        return {**found, "enableFlowLogs": True, "logConfig": {"enable": True, "filterExpr": "true", **filled, **logs}}
    return {**found, "enableFlowLogs": False, "logConfig": {**logs, "enable": False}}


def _firewall(stated: Object, project: str) -> Object:
    default = f"https://www.googleapis.com/compute/v1/projects/{project}/global/networks/default"
    found = {
        "network": default, "direction": "INGRESS", "priority": 1000, "disabled": False, "logConfig": {"enable": False}, **stated,
    }  # fmt: skip
    if found["direction"] == "EGRESS":
        return {"destinationRanges": ANYWHERE, **found}
    if not any(found.get(key) for key in ("sourceRanges", "sourceTags", "sourceServiceAccounts")):
        found["sourceRanges"] = ANYWHERE
    return found


def _router(stated: Object) -> Object:
    found = {"encryptedInterconnectRouter": False, **stated}
    if found.get("bgp"):
        found["bgp"] = {"advertiseMode": "DEFAULT", "keepaliveInterval": 20, **found["bgp"]}
    if "nats" in found:
        found["nats"] = [_nat(nat) for nat in found["nats"]]
    return {key: value for key, value in found.items() if not (key == "nats" and not value)}


def _nat(stated: Object) -> Object:
    """A NAT gateway. Without addresses of its own it takes Google's."""
    return {
        "type": "PUBLIC",
        "natIpAllocateOption": "MANUAL_ONLY" if stated.get("natIps") else "AUTO_ONLY",
        "enableEndpointIndependentMapping": False,
        "endpointTypes": ["ENDPOINT_TYPE_VM"],
        "autoNetworkTier": "PREMIUM",
        **stated,
    }
