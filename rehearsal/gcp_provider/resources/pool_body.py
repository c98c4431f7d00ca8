"""A node pool as Google sees it and as a program does. Also for pools stated inside a cluster."""

from __future__ import annotations

import re
from typing import Any

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.kind import Job, Values
from rehearsal.gcp_provider.mapping import expand, flatten
from rehearsal.gcp_provider.package import Property, resource_types
from rehearsal.gcp_provider.resources import node_config
from rehearsal.gcp_provider.rules import Rule, cidr_or_size, last_segment, rules, under

POOL: dict[str, Rule] = {
    **rules("force computed", "name"),
    **rules("force computed local", "namePrefix"),
    **rules("force computed", "initialNodeCount"),
    **rules("force computed", "maxPodsPerNode", api="maxPodsConstraint.maxPodsPerNode"),
    **rules("computed local", "nodeCount"),
    **rules("local", "ignoreNodeCountChanges"),
    **rules("computed unordered", "nodeLocations", api="locations"),
    **rules("computed", "version", "management", "upgradeSettings", "networkConfig"),
    **rules("computed single", "nodeDrainConfigs", api="nodeDrainConfig"),
    **rules("single", "maintenancePolicies", api="maintenancePolicy"),
    **rules("single", "maintenancePolicies.exclusionUntilEndOfSupports", api="exclusionUntilEndOfSupport"),
    **rules("output", "maintenancePolicies.exclusionUntilEndOfSupports.startTime"),
    **rules("output", "maintenancePolicies.exclusionUntilEndOfSupports.endTime"),
    # The real provider states all four, whichever pair the program uses.
    **rules("zero", "autoscaling.minNodeCount", "autoscaling.maxNodeCount"),
    **rules("zero", "autoscaling.totalMinNodeCount", "autoscaling.totalMaxNodeCount"),
    **rules("computed", "autoscaling.locationPolicy"),
    **rules("", "management.autoRepair", "management.autoUpgrade", default=True),
    **rules("", "upgradeSettings.strategy", default="SURGE"),
    **rules(
        "computed", "upgradeSettings.maxSurge", "upgradeSettings.maxUnavailable", "upgradeSettings.blueGreenSettings"
    ),
    **rules("computed", "upgradeSettings.blueGreenSettings.nodePoolSoakDuration"),
    **rules("computed", "upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchPercentage"),
    **rules("computed", "upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchNodeCount"),
    **rules("computed", "upgradeSettings.blueGreenSettings.standardRolloutPolicy.batchSoakDuration"),
    # The block replaces, and a policy's name; the type and the topology by themselves do not: Google's provider then
    # "updates" with no call, and shows the same difference again. A program asks for the replacement itself.
    **rules("force", "placementPolicy", "placementPolicy.policyName"),
    **rules("force", "queuedProvisioning", "queuedProvisioning.enabled", "bestEffortProvisioning"),
    **rules("force", "bestEffortProvisioning.enabled", "bestEffortProvisioning.minProvisionNodes"),
    **rules("force write_only", "networkConfig.createPodRange"),
    **rules("force", "networkConfig.acceleratorNetworkProfile", "networkConfig.additionalPodNetworkConfigs"),
    **rules("force computed", "networkConfig.podRange", "networkConfig.additionalNodeNetworkConfigs"),
    **rules("force computed", "networkConfig.podIpv4CidrBlock", suppress=cidr_or_size),
    **rules("force computed", "networkConfig.subnetwork", suppress=last_segment),
    **rules("force computed", "networkConfig.podCidrOverprovisionConfig"),
    **rules("", "networkConfig.podCidrOverprovisionConfig.disabled", api="disable"),
    **rules("computed zero", "networkConfig.enablePrivateNodes"),
    **rules("output", "instanceGroupUrls"),
    **rules("output local", "managedInstanceGroupUrls"),
    **rules("force computed", "nodeConfig", api="config"),
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
