"""Changes of a cluster: `clusters.update` with its one `desired...` field, and the older calls that set one thing each."""

from __future__ import annotations

from typing import Any

from rehearsal.gcp.container import autopilot, defaults, names, pools
from rehearsal.gcp.container.operations import begin, refuse_if_busy
from rehearsal.gcp.container.versions import resolve
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, invalid
from rehearsal.gcp.core.discovery import document
from rehearsal.gcp.core.state import Task

UPDATE_S = 60.0

_WHERE: dict[str, tuple[str, ...]] = {
    "desiredClusterAutoscaling": ("autoscaling",),
    "desiredGcfsConfig": ("nodePoolDefaults", "nodeConfigDefaults", "gcfsConfig"),
    "desiredContainerdConfig": ("nodePoolDefaults", "nodeConfigDefaults", "containerdConfig"),
    "desiredNodePoolLoggingConfig": ("nodePoolDefaults", "nodeConfigDefaults", "loggingConfig"),
    "desiredNodeKubeletConfig": ("nodePoolDefaults", "nodeConfigDefaults", "nodeKubeletConfig"),
    "desiredNodePoolAutoConfigNetworkTags": ("nodePoolAutoConfig", "networkTags"),
    "desiredNodePoolAutoConfigKubeletConfig": ("nodePoolAutoConfig", "nodeKubeletConfig"),
    "desiredNodePoolAutoConfigLinuxNodeConfig": ("nodePoolAutoConfig", "linuxNodeConfig"),
    "desiredNodePoolAutoConfigResourceManagerTags": ("nodePoolAutoConfig", "resourceManagerTags"),
    "desiredStackType": ("ipAllocationPolicy", "stackType"),
    "desiredIntraNodeVisibilityConfig": ("networkConfig", "enableIntraNodeVisibility"),
    "desiredL4ilbSubsettingConfig": ("networkConfig", "enableL4ilbSubsetting"),
    **{
        f"desired{field[0].upper()}{field[1:]}": ("networkConfig", field)
        for field in (
            "datapathProvider", "defaultEnablePrivateNodes", "defaultSnatStatus", "disableL4LbFirewallReconciliation", "dnsConfig",
            "enableCiliumClusterwideNetworkPolicy", "enableFqdnNetworkPolicy", "enableMultiNetworking", "gatewayApiConfig",
            "inTransitEncryptionConfig", "networkPerformanceConfig", "privateIpv6GoogleAccess", "serviceExternalIpsConfig",
        )
    },
}  # fmt: skip
"""Where a desired field lands when that is not the cluster's field of the same name."""

_MERGED = frozenset({"addonsConfig", "monitoringConfig", "controlPlaneEndpointsConfig", "privateClusterConfig"})
"""Of these, what an update leaves out stays."""

_FLAGS = {"desiredIntraNodeVisibilityConfig": "enabled", "desiredL4ilbSubsettingConfig": "enabled"}


def _own_name(field: str) -> str:
    short = field.removeprefix("desired")
    return short[:1].lower() + short[1:]


def _place(world: CloudState, cluster: Object, field: str, value: Any) -> tuple[tuple[str, ...], Any]:
    """(Where in the cluster, what) one desired field sets. Raises ApiError for what the rehearsal does not play."""
    if field == "desiredMasterVersion":
        return ("currentMasterVersion",), resolve(world, value)
    if field == "desiredEnablePrivateEndpoint":
        return ("controlPlaneEndpointsConfig", "ipEndpointsConfig", "enablePublicEndpoint"), not value
    path = _WHERE.get(field, (_own_name(field),))
    if path[0] not in document("container.v1beta1")["schemas"]["Cluster"]["properties"]:
        raise ApiError(501, f"The field update.{field} is not supported by this rehearsal.")
    if field in _FLAGS:
        value = value.get(_FLAGS[field], False)
    if path[0] in _MERGED:
        value = defaults.merged(cluster.get(path[0], {}), value)
    return path, value


def _with(base: Any, path: tuple[str, ...], value: Any) -> Any:
    """`base` with `value` at the end of a path."""
    if not path:
        return value
    kept = base if isinstance(base, dict) else {}
    return {**kept, path[0]: _with(kept.get(path[0]), path[1:], value)}


def _both_names(cluster: Object, change: Object) -> Object:
    """Where an older and a newer field say the same thing, the one that an update did not state follows."""
    private = dict(cluster.get("privateClusterConfig", {}))
    if "networkConfig" in change:
        private["enablePrivateNodes"] = change["networkConfig"].get("defaultEnablePrivateNodes", False)
    if "controlPlaneEndpointsConfig" in change:
        ip = change["controlPlaneEndpointsConfig"].get("ipEndpointsConfig", {})
        private["enablePrivateEndpoint"] = not ip.get("enablePublicEndpoint", True)
        change.setdefault("masterAuthorizedNetworksConfig", ip.get("authorizedNetworksConfig", {}))
    elif "masterAuthorizedNetworksConfig" in change:
        path = ("ipEndpointsConfig", "authorizedNetworksConfig")
        old = cluster["controlPlaneEndpointsConfig"]
        change["controlPlaneEndpointsConfig"] = _with(old, path, change["masterAuthorizedNetworksConfig"])
    return {"privateClusterConfig": {k: v for k, v in private.items() if v is not False}, **change}


def _update(call: Call) -> Object:
    update = {k: v for k, v in call.body.get("update", {}).items() if k != "etag"}
    cluster = names.cluster(call)
    if not update:
        raise invalid("At least one of the fields in update must be set.")
    of_pools = {"desiredNodeVersion", "desiredNodePoolId", "desiredNodePoolAutoscaling", "desiredImageType"} & set(
        update
    )
    if of_pools and autopilot.is_autopilot(cluster):
        raise autopilot.hidden()
    if of_pools:
        return _update_pools(call, update)
    change: Object = {}
    for field, value in update.items():
        path, wanted = _place(call.world, cluster, field, value)
        change |= _with({path[0]: change.get(path[0], cluster.get(path[0]))}, path, wanted)
    kind = "UPGRADE_MASTER" if "currentMasterVersion" in change else "UPDATE_CLUSTER"
    return _change(call, kind, _both_names(cluster, change))


def _update_pools(call: Call, update: Object) -> Object:
    """The fields of an update that mean node pools: the one named, or the only one."""
    mine = pools.of(call.world, names.cluster_name(call))
    wanted = update.get("desiredNodePoolId")
    chosen = [pool for pool in mine if wanted in (None, "-", pool["name"])]
    if not chosen or (wanted is None and len(mine) > 1):
        raise invalid("desired_node_pool_id must name one of the cluster's node pools.")
    change: Object = {"config": {}}
    if "desiredNodeVersion" in update:
        change["version"] = resolve(call.world, update["desiredNodeVersion"])
    if "desiredImageType" in update:
        change["config"]["imageType"] = update["desiredImageType"]
    if "desiredNodePoolAutoscaling" in update:
        change["autoscaling"] = update["desiredNodePoolAutoscaling"]
    kind = "UPGRADE_NODES" if "version" in change else "UPDATE_CLUSTER"
    return pools.change(call, chosen[0]["_name"], kind, change)


def _change(call: Call, kind: str, change: Object) -> Object:
    name = names.cluster_name(call)
    with call.world.store.lock:
        cluster = names.cluster(call)
        refuse_if_busy(call.world, name)
        call.world.store.put("clusters", name, {**cluster, "status": "RECONCILING"})
        return begin(call, kind, name, UPDATE_S, "cluster-change", {"name": name, "change": change})


def _change_task(world: CloudState, args: Object) -> None:
    with world.store.lock:
        cluster = world.store.get("clusters", args["name"])
        if cluster is not None:
            world.store.put("clusters", args["name"], {**cluster, **args["change"], "status": "RUNNING"})
    world.settings.kubernetes.apply_addons(world, args["name"])


def _setter(field: str, key: str, kind: str = "UPDATE_CLUSTER") -> Handler:
    return lambda call: _change(call, kind, {key: call.body.get(field, {})})


def _set_abac(call: Call) -> Object:
    return _change(call, "UPDATE_CLUSTER", {"legacyAbac": {"enabled": True} if call.body.get("enabled") else {}})


def _set_addons(call: Call) -> Object:
    merged = defaults.merged(names.cluster(call)["addonsConfig"], call.body.get("addonsConfig", {}))
    return _change(call, "UPDATE_CLUSTER", {"addonsConfig": merged})


def _set_maintenance(call: Call) -> Object:
    return _change(call, "SET_MAINTENANCE_POLICY", {"maintenancePolicy": call.body.get("maintenancePolicy", {})})


def _update_master(call: Call) -> Object:
    return _change(
        call, "UPGRADE_MASTER", {"currentMasterVersion": resolve(call.world, call.body.get("masterVersion", ""))}
    )


_BOTH: dict[str, Handler] = {
    "update": _update,
    "setMaintenancePolicy": _set_maintenance,
    "setNetworkPolicy": _setter("networkPolicy", "networkPolicy", "SET_NETWORK_POLICY"),
}
_NAMES: tuple[tuple[str, str, Handler], ...] = (
    ("setResourceLabels", "resourceLabels", _setter("resourceLabels", "resourceLabels", "SET_LABELS")),
    ("setLogging", "logging", _setter("loggingService", "loggingService")),
    ("setMonitoring", "monitoring", _setter("monitoringService", "monitoringService")),
    ("setLocations", "locations", _setter("locations", "locations")),
    ("setAddons", "addons", _set_addons),
    ("setLegacyAbac", "legacyAbac", _set_abac),
    ("updateMaster", "master", _update_master),
)
"""The same call under its name by location, and by zone."""

HANDLERS: dict[str, Handler] = {
    **{
        f"container.projects.{style}.clusters.{verb}": h
        for style in ("locations", "zones")
        for verb, h in _BOTH.items()
    },
    **{f"container.projects.locations.clusters.{verb}": h for verb, _, h in _NAMES},
    **{f"container.projects.zones.clusters.{verb}": h for _, verb, h in _NAMES},
}
TASKS: dict[str, Task] = {"cluster-change": _change_task}
