"""A cluster as it is asked of GKE, and as it is read back."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.google.cloud import ATTRIBUTION
from rehearsal.gcp_provider.resources import node_config, pool_body
from rehearsal.gcp_provider.resources.cluster_table import CLUSTER
from rehearsal.gcp_provider.resources.compute import network_path
from rehearsal.gcp_provider.terraform.kind import Job, Values
from rehearsal.gcp_provider.terraform.mapping import expand, flatten, look
from rehearsal.gcp_provider.terraform.package import resource_types
from rehearsal.gcp_provider.terraform.rules import relative

TOKEN = "gcp:container/cluster:Cluster"
_OTHERWISE = (
    "network", "subnetwork", "ipAllocationPolicy", "privateClusterConfig", "masterAuthorizedNetworksConfig", "controlPlaneEndpointsConfig",
    "nodePools", "nodeVersion", "nodeLocations", "networkingMode", "nodeConfig", "initialNodeCount",
)  # fmt: skip
"""Sent, but not simply under a name of their own."""
_ALWAYS: dict[str, Any] = {
    "networkPolicy": {},
    "binaryAuthorization": {"enabled": False},
    "notificationConfig": {"pubsub": {}},
    "maintenancePolicy": {"window": {}},
}
"""Sent although the program does not state it."""


def is_zone(location: str) -> bool:
    return location.count("-") == 2


def request(job: Job, inputs: Values, labels: Mapping[str, str]) -> dict[str, Any]:
    """The cluster of a create call (`resourceContainerClusterCreate`). It states more than the program did."""
    plain = {name: value for name, value in inputs.items() if name not in _OTHERWISE}
    cluster = expand(resource_types(TOKEN).inputs, plain, CLUSTER)
    for block, name in (
        ("legacyAbac", "enableLegacyAbac"),
        ("autopilot", "enableAutopilot"),
        ("shieldedNodes", "enableShieldedNodes"),
    ):
        cluster[block] = {"enabled": bool(inputs.get(name, CLUSTER[name].default)), **cluster.get(block, {})}
    for block, unstated in _ALWAYS.items():
        cluster.setdefault(block, copy.deepcopy(unstated))
    if not inputs.get("enableAutopilot"):
        cluster.setdefault("autoscaling", {"enableNodeAutoprovisioning": False})
    cluster["controlPlaneEndpointsConfig"] = control_plane_endpoints(inputs)
    cluster["resourceLabels"] = dict(labels)
    if inputs.get("minMasterVersion"):
        cluster["initialClusterVersion"] = inputs["minMasterVersion"]
    _add_network(job, inputs, cluster)
    _add_nodes(job, inputs, cluster)
    return cluster


def _add_network(job: Job, inputs: Values, cluster: dict[str, Any]) -> None:
    project, location = job.cloud.project_of(inputs), job.cloud.location_of(inputs)
    cluster["network"] = network_path(project, inputs.get("network", "default"))
    if inputs.get("subnetwork"):
        cluster["subnetwork"] = subnetwork_path(project, location, inputs["subnetwork"])
    network = cluster.setdefault("networkConfig", {})
    private = inputs.get("privateClusterConfig", {})
    nodes = {"enablePrivateNodes": True} if private.get("enablePrivateNodes") else {}
    if nodes:
        network["defaultEnablePrivateNodes"] = True
    if private.get("masterIpv4CidrBlock"):
        cluster["privateClusterConfig"] = {"masterIpv4CidrBlock": private["masterIpv4CidrBlock"], **nodes}
    policy = ip_allocation(inputs)
    if policy is not None:
        cluster["ipAllocationPolicy"] = policy


def subnetwork_path(project: str, location: str, stated: str) -> str:
    if "/" in stated:
        return relative(stated)
    region = location.rsplit("-", 1)[0] if is_zone(location) else location
    return f"projects/{project}/regions/{region}/subnetworks/{stated}"


def ip_allocation(inputs: Values) -> dict[str, Any] | None:
    """VPC-native unless the program says otherwise, and then GKE chooses the ranges (`expandIPAllocationPolicy`)."""
    mode, stated = inputs.get("networkingMode", ""), inputs.get("ipAllocationPolicy")
    routes = mode == "ROUTES" or (mode == "" and stated is None and bool(inputs.get("clusterIpv4Cidr")))
    if stated is None:
        return {"useIpAliases": False, "useRoutes": True, "stackType": "IPV4"} if routes else None
    sent = expand(resource_types(TOKEN).inputs, {"ipAllocationPolicy": stated}, CLUSTER)["ipAllocationPolicy"]
    return {"useIpAliases": not routes, **({"useRoutes": True} if routes else {}), **sent}


def control_plane_endpoints(inputs: Values) -> dict[str, Any]:
    """Who reaches the control plane, from the newer block or the older two (`expandControlPlaneEndpointsConfig`)."""
    stated = inputs.get("controlPlaneEndpointsConfig")
    sent = expand(resource_types(TOKEN).inputs, {"controlPlaneEndpointsConfig": stated}, CLUSTER) if stated else {}
    endpoints = sent.get("controlPlaneEndpointsConfig", {})
    dns = {"enableK8sCertsViaDns": False, **endpoints.get("dnsEndpointConfig", {})}
    address = {"enabled": True, **endpoints.get("ipEndpointsConfig", {})}
    if not address["enabled"]:
        return {"dnsEndpointConfig": dns, "ipEndpointsConfig": address}
    private = inputs.get("privateClusterConfig", {})
    address["enablePublicEndpoint"] = not private.get("enablePrivateEndpoint", False)
    address["globalAccess"] = bool(look(private, "masterGlobalAccessConfig.enabled"))
    address["privateEndpointSubnetwork"] = private.get("privateEndpointSubnetwork", "")
    address["authorizedNetworksConfig"] = authorized_networks(inputs.get("masterAuthorizedNetworksConfig"))
    return {"dnsEndpointConfig": dns, "ipEndpointsConfig": address}


def authorized_networks(stated: Any) -> dict[str, Any]:
    if stated is None:
        return {}
    types = {"masterAuthorizedNetworksConfig": resource_types(TOKEN).inputs["masterAuthorizedNetworksConfig"]}
    sent = expand(types, {"masterAuthorizedNetworksConfig": stated}, CLUSTER)
    return {"enabled": True, **sent.get("masterAuthorizedNetworksConfig", {})}


def _add_nodes(job: Job, inputs: Values, cluster: dict[str, Any]) -> None:
    location = job.cloud.location_of(inputs)
    zones = inputs.get("nodeLocations")
    if zones:
        cluster["locations"] = sorted({*zones, location} if is_zone(location) else zones)
    pools = inputs.get("nodePools")
    if pools:
        cluster["nodePools"] = [pool_body.request(pool, str(pool.get("name", "default-pool"))) for pool in pools]
        return
    if inputs.get("initialNodeCount"):
        cluster["initialNodeCount"] = inputs["initialNodeCount"]
    types = {"nodeConfig": resource_types(TOKEN).inputs["nodeConfig"]}
    table = {path.removeprefix("nodeConfig."): rule for path, rule in CLUSTER.items() if path.startswith("nodeConfig.")}
    stated = expand(
        types,
        {"nodeConfig": inputs.get("nodeConfig", {})},
        {f"nodeConfig.{path}": rule for path, rule in table.items()},
    )
    cluster["nodeConfig"] = node_config.complete(stated.get("nodeConfig", {}))


def labels_of(job: Job, inputs: Values, old: Values | None = None) -> tuple[dict[str, str], dict[str, str]]:
    """(`pulumiLabels`, `effectiveLabels`): the program's and the provider's; those and what the provider marks with.

    The mark goes on what is created, and stays on what has it.
    """
    mine = {**job.cloud.default_labels, **inputs.get("resourceLabels", {})}
    mine = {key: value for key, value in mine.items() if not key.startswith("__")}
    marked = job.cloud.attribution if old is None else ATTRIBUTION in old.get("effectiveLabels", {})
    return mine, {**mine, **({ATTRIBUTION: "true"} if marked else {})}


def properties_of(job: Job, found: dict[str, Any], known: Values) -> dict[str, Any]:
    """A cluster's outputs (`resourceContainerClusterRead`)."""
    read = flatten(resource_types(TOKEN).outputs, found, CLUSTER)
    zone = found.get("zone", found.get("location", ""))
    read["nodeLocations"] = [entry for entry in found.get("locations", []) if entry != zone]
    read["networkingMode"] = "VPC_NATIVE" if look(found, "ipAllocationPolicy.useIpAliases") else "ROUTES"
    read["nodeConfig"] = node_config.shown(read.get("nodeConfig"), known.get("nodeConfig"))
    stated = known.get("nodePools")
    by_name = {pool.get("name"): pool for pool in stated} if isinstance(stated, list) else {}
    pools = found.get("nodePools", [])
    read["nodePools"] = [pool_body.properties_of(job, pool, by_name.get(pool["name"], {})) for pool in pools]
    read.update(_private(found))
    authorized = look(found, "controlPlaneEndpointsConfig.ipEndpointsConfig.authorizedNetworksConfig")
    authorized = found.get("masterAuthorizedNetworksConfig") if not _on(authorized) else authorized
    read["masterAuthorizedNetworksConfig"] = _authorized(authorized)
    if not any(
        look(found, f"maintenancePolicy.window.{name}") for name in ("dailyMaintenanceWindow", "recurringWindow")
    ):
        read["maintenancePolicy"] = None
    return {**read, **_labels(job, found, known)}


def _on(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value.get("enabled"))


def _authorized(value: Any) -> dict[str, Any] | None:
    if not _on(value):
        return None
    types = {"masterAuthorizedNetworksConfig": resource_types(TOKEN).inputs["masterAuthorizedNetworksConfig"]}
    return dict(flatten(types, {"masterAuthorizedNetworksConfig": value}, CLUSTER)["masterAuthorizedNetworksConfig"])


def _private(found: dict[str, Any]) -> dict[str, Any]:
    """The older block is read from where the newer one keeps things."""
    old = found.get("privateClusterConfig", {})
    address = look(found, "controlPlaneEndpointsConfig.ipEndpointsConfig")
    address = {} if address is None else address
    hidden = bool(old.get("enablePrivateEndpoint"))
    private = {
        "enablePrivateEndpoint": not address.get("enablePublicEndpoint", not hidden),
        "enablePrivateNodes": bool(look(found, "networkConfig.defaultEnablePrivateNodes")) or bool(old.get("enablePrivateNodes")),
        "masterGlobalAccessConfig": {"enabled": bool(address.get("globalAccess"))},
        "masterIpv4CidrBlock": old.get("masterIpv4CidrBlock", ""),
        "peeringName": old.get("peeringName", ""),
        "privateEndpoint": address.get("privateEndpoint", old.get("privateEndpoint", "")),
        "privateEndpointSubnetwork": address.get("privateEndpointSubnetwork", old.get("privateEndpointSubnetwork", "")),
        "publicEndpoint": address.get("publicEndpoint", old.get("publicEndpoint", "")),
    }  # fmt: skip
    return {"privateClusterConfig": private}


def _labels(job: Job, found: dict[str, Any], known: Values) -> dict[str, Any]:
    """`resourceLabels` holds only those that the program states; all are in `effectiveLabels`."""
    there = dict(found.get("resourceLabels", {}))
    stated = known.get("resourceLabels")
    stated = {} if stated is None else stated
    mine = {**job.cloud.default_labels, **stated}
    return {
        "resourceLabels": {key: there[key] for key in stated if key in there},
        "pulumiLabels": {key: there[key] for key in mine if key in there},
        "effectiveLabels": there,
    }
