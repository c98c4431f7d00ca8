"""A node pool as Google sees it and as a program does. Also for pools stated inside a cluster."""

from __future__ import annotations

import re
from typing import Any

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.resources import node_config
from rehearsal.gcp_provider.terraform.kind import Job, Values
from rehearsal.gcp_provider.terraform.mapping import expand, flatten
from rehearsal.gcp_provider.terraform.package import Property, resource_types
from rehearsal.gcp_provider.terraform.rules import FieldRule, cidr_or_size, last_segment, rules, under

POOL: dict[str, FieldRule] = {
    **rules("name", force=True, computed=True),
    **rules("namePrefix", force=True, computed=True, local=True),
    **rules("initialNodeCount", force=True, computed=True),
    **rules("maxPodsPerNode", force=True, computed=True, api="maxPodsConstraint.maxPodsPerNode"),
    **rules("nodeCount", computed=True, local=True),
    **rules("ignoreNodeCountChanges", local=True),
    **rules("nodeLocations", computed=True, unordered=True, api="locations"),
    **rules("version", "management", "upgradeSettings", "networkConfig", computed=True),
    **rules("nodeDrainConfigs", computed=True, single=True, api="nodeDrainConfig"),
    **rules("maintenancePolicies", single=True, api="maintenancePolicy"),
    **rules("maintenancePolicies.exclusionUntilEndOfSupports", single=True, api="exclusionUntilEndOfSupport"),
    **rules("maintenancePolicies.exclusionUntilEndOfSupports.startTime", output=True),
    **rules("maintenancePolicies.exclusionUntilEndOfSupports.endTime", output=True),
    # The real provider states all four, whichever pair the program uses.
    **rules("autoscaling.minNodeCount", "autoscaling.maxNodeCount", zero=True),
    **rules("autoscaling.totalMinNodeCount", "autoscaling.totalMaxNodeCount", zero=True),
    **rules("autoscaling.locationPolicy", computed=True),
    **rules("management.autoRepair", "management.autoUpgrade", default=True),
    **rules("upgradeSettings.strategy", default="SURGE"),
    **rules(
        "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable", "upgradeSettings.blueGreenSettings", computed=True
    ),
    **rules("upgradeSettings.blueGreenSettings.nodePoolSoakDuration", computed=True),
    **rules("upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchPercentage", computed=True),
    **rules("upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchNodeCount", computed=True),
    **rules("upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchSoakDuration", computed=True),
    # The block replaces, and a policy's name; the type and the topology by themselves do not: Google's provider then
    # "updates" with no call, and shows the same difference again. A program asks for the replacement itself.
    **rules("placementPolicy", "placementPolicy.policyName", force=True),
    **rules("queuedProvisioning", "queuedProvisioning.enabled", "bestEffortProvisioning", force=True),
    **rules("bestEffortProvisioning.enabled", "bestEffortProvisioning.minProvisionNodes", force=True),
    **rules("networkConfig.createPodRange", force=True, write_only=True),
    **rules("networkConfig.acceleratorNetworkProfile", "networkConfig.additionalPodNetworkConfigs", force=True),
    **rules("networkConfig.podRange", "networkConfig.additionalNodeNetworkConfigs", force=True, computed=True),
    **rules("networkConfig.podIpv4CidrBlock", force=True, computed=True, suppress=cidr_or_size),
    **rules("networkConfig.subnetwork", force=True, computed=True, suppress=last_segment),
    **rules("networkConfig.podCidrOverprovisionConfig", force=True, computed=True),
    **rules("networkConfig.podCidrOverprovisionConfig.disabled", api="disable"),
    **rules("networkConfig.enablePrivateNodes", computed=True, zero=True),
    **rules("instanceGroupUrls", output=True),
    **rules("managedInstanceGroupUrls", output=True, local=True),
    **rules("nodeConfig", force=True, computed=True, api="config"),
    **under("nodeConfig", node_config.NODE_CONFIG),
}
_GROUP = re.compile(r"projects/([^/]+)/zones/([^/]+)/instanceGroupManagers/([^/]+)")


def pool_types() -> dict[str, Property]:
    """A pool's properties, without those that say where it is."""
    types = resource_types("gcp:container/nodePool:NodePool").outputs
    return {
        name: prop
        for name, prop in types.items()
        if name not in ("cluster", "project", "location", "operation", "deletionPolicy")
    }


def request(values: Values, name: str) -> dict[str, Any]:
    """A pool to be made (`expandNodePool`)."""
    initial, count = values.get("initialNodeCount"), values.get("nodeCount")
    if initial and count:
        raise ProviderError(f"Cannot set both initial_node_count and node_count on node pool {name}")
    stated = {key: entry for key, entry in values.items() if key != "initialNodeCount"}
    body = {**expand(pool_types(), stated, POOL), "name": name}
    size = count if count else initial
    if size:
        body["initialNodeCount"] = size
    if "autoscaling" in values:
        limits = ("minNodeCount", "maxNodeCount", "totalMinNodeCount", "totalMaxNodeCount")
        body["autoscaling"] = {"enabled": True, **dict.fromkeys(limits, 0), **body.get("autoscaling", {})}
    body["config"] = node_config.complete(body.get("config", {}))
    body.setdefault("networkConfig", {})
    if "maintenancePolicies" in values:
        body.setdefault("maintenancePolicy", {})
    return body


def properties_of(job: Job, pool: dict[str, Any], known: Values) -> dict[str, Any]:
    """A pool as it is read back (`flattenNodePool`)."""
    result = flatten(pool_types(), pool, POOL)
    result["nodeConfig"] = node_config.shown(result.get("nodeConfig"), known.get("nodeConfig"))
    if not pool.get("autoscaling", {}).get("enabled"):
        result.pop("autoscaling", None)
    if not pool.get("networkConfig"):
        result.pop("networkConfig", None)
    elif isinstance(known.get("networkConfig"), dict) and "createPodRange" in known["networkConfig"]:
        result["networkConfig"]["createPodRange"] = known["networkConfig"]["createPodRange"]
    count, groups = size(job, pool)
    result["nodeCount"] = count
    result["managedInstanceGroupUrls"] = groups
    return result


def size(job: Job, pool: dict[str, Any]) -> tuple[int, list[str]]:
    """Nodes per zone, as the instance groups tell it, and the groups.

    A server that has no instance groups leaves the size at what the pool says of itself, as
    `ignoreNodeCountChanges` does in the real provider.
    """
    total, groups, seen = 0, [], 0
    for url in pool.get("instanceGroupUrls", []):
        manager = _manager(job, url)
        if manager is not None:
            seen += 1
            total += int(manager.get("targetSize", 0))
            groups.append(manager.get("instanceGroup", ""))
    return (total // seen, groups) if seen else (int(pool.get("initialNodeCount", 0)), [])


def _manager(job: Job, url: str) -> dict[str, Any] | None:
    match = _GROUP.search(url)
    if match is None:
        raise ProviderError(f"Error reading instance group manage URL {url!r}")
    project, zone, name = match.groups()
    try:
        listed = job.rest.find("compute", f"projects/{project}/zones/{zone}/instanceGroupManagers", job.patience)
    except GoogleError as error:
        if error.code != 501:
            raise
        return None
    items = [] if listed is None else listed.get("items", [])
    return next((entry for entry in items if entry.get("name") == name), None)
