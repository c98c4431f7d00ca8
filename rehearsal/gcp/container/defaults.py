"""What GKE fills in and reads back when a request does not say. Clients compare it with what they asked for."""

from __future__ import annotations

import base64
import copy
from typing import Any

from rehearsal.gcp.container.cluster_defaults import CLUSTER
from rehearsal.gcp.core import Object, number

SCOPES = [
    f"https://www.googleapis.com/auth/{scope}"
    for scope in (
        "devstorage.read_only",
        "logging.write",
        "monitoring",
        "service.management.readonly",
        "servicecontrol",
        "trace.append",
    )
]


_OPTIONAL = frozenset({"ipEndpointsConfig", "rbacBindingConfig", "kubeletConfig", "nodeKubeletConfig"})
"""Messages whose flags keep their default when unstated. Everywhere else an unstated flag of a stated message is false, which is what
a client means that leaves false values out (Google's Go client does)."""


def merged(defaults: Object, stated: Object, within: str = "") -> Object:
    """`stated` over `defaults`, object by object; lists and values are taken whole. `within` names the message; "" is the outermost."""
    drop = within != "" and within not in _OPTIONAL
    result = {k: copy.deepcopy(v) for k, v in defaults.items() if not (drop and v is True and k not in stated)}
    for key, value in stated.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value, key) if both else copy.deepcopy(value)
    return result


def node_config(config: Object, cluster: Object) -> Object:
    found: Object = {
        "machineType": "e2-medium",
        "diskSizeGb": 100,
        "diskType": "pd-balanced",
        "imageType": "COS_CONTAINERD",
        "oauthScopes": list(SCOPES),
        "metadata": {"disable-legacy-endpoints": "true"},
        "serviceAccount": "default",
        "shieldedInstanceConfig": {"enableIntegrityMonitoring": True},
        "windowsNodeConfig": {},
        "effectiveCgroupMode": "EFFECTIVE_CGROUP_MODE_V2",
        "kubeletConfig": {"insecureKubeletReadonlyPortEnabled": False},
        "bootDisk": {"diskType": config.get("diskType", "pd-balanced"), "sizeGb": str(config.get("diskSizeGb", 100))},
    }
    if "loggingConfig" not in config:
        found["loggingConfig"] = {"variantConfig": {"variant": "DEFAULT"}}
    if cluster.get("workloadIdentityConfig", {}).get("workloadPool"):
        found["workloadMetadataConfig"] = {"mode": "GKE_METADATA"}
    image = cluster.get("nodePoolDefaults", {}).get("nodeConfigDefaults", {}).get("gcfsConfig")
    if image is not None:
        found["gcfsConfig"] = image
    return merged(found, config)


def pool(stated: Object, cluster: Object, self_link: str) -> Object:
    found: Object = {
        "initialNodeCount": 0,
        "autoscaling": {},
        "management": {"autoUpgrade": True, "autoRepair": True},
        "maxPodsConstraint": {"maxPodsPerNode": "110"},
        "podIpv4CidrSize": 24,
        "locations": list(cluster["locations"]),
        "networkConfig": {
            "podRange": cluster["ipAllocationPolicy"].get("clusterSecondaryRangeName", ""),
            "podIpv4CidrBlock": cluster["clusterIpv4Cidr"],
            "enablePrivateNodes": bool(cluster.get("privateClusterConfig", {}).get("enablePrivateNodes", False)),
        },
        "upgradeSettings": {"maxSurge": 1, "strategy": "SURGE"},
        "version": cluster["currentMasterVersion"],
        "status": "PROVISIONING",
        "selfLink": self_link,
    }
    result = merged(found, stated)
    result["config"] = node_config(stated.get("config", {}), cluster)
    if result["config"].get("flexStart") and "strategy" not in stated.get("upgradeSettings", {}):
        result["upgradeSettings"] = {"strategy": "SHORT_LIVED"}
    result["etag"] = number(str(sorted(result.items(), key=str)), 12)
    return result


_NOT_KEPT = ("nodePools", "nodeConfig", "network", "subnetwork", "initialClusterVersion", "locations")
"""Fields of a request for a cluster that the cluster shows in another form."""


def cluster(stated: Object, name: str, version: str, location: str, zones: list[str], self_link: str) -> Object:
    """A cluster as GKE reads it back: the request over the defaults, with all that follows from its name and place."""
    ranges = stated.get("ipAllocationPolicy", {})
    pods = _cidr(ranges.get("clusterIpv4CidrBlock"), "10.4.0.0/14")
    services = _cidr(ranges.get("servicesIpv4CidrBlock"), "34.118.224.0/20")
    found = _joined(CLUSTER, _place(stated, name, location, zones), _ranges(pods, services))
    found |= {
        "id": number(name, 40),
        "initialClusterVersion": version,
        "currentMasterVersion": version,
        "currentNodeVersion": version,
        "selfLink": self_link,
    }
    result = merged(found, {key: value for key, value in stated.items() if key not in _NOT_KEPT})
    _services(result, stated)
    result["ipAllocationPolicy"] |= {"clusterIpv4CidrBlock": pods, "servicesIpv4CidrBlock": services}
    result["etag"] = number(name + version, 12)
    return _consistent(result)


def _place(stated: Object, name: str, location: str, zones: list[str]) -> Object:
    project = name.split("/")[1]
    region = location if location.count("-") == 1 else location.rsplit("-", 1)[0]
    network, subnetwork = (stated.get(key, "default").rsplit("/", 1)[-1] for key in ("network", "subnetwork"))
    return {
        "location": location,
        "zone": location,
        "locations": zones,
        "network": network,
        "subnetwork": subnetwork,
        "networkConfig": {
            "network": f"projects/{project}/global/networks/{network}",
            "subnetwork": f"projects/{project}/regions/{region}/subnetworks/{subnetwork}",
        },
        "controlPlaneEndpointsConfig": {
            "dnsEndpointConfig": {"endpoint": f"gke-{number(name)}.{region}.gke.goog", "allowExternalTraffic": False},
        },
    }


def _ranges(pods: str, services: str) -> Object:
    return {
        "clusterIpv4Cidr": pods,
        "servicesIpv4Cidr": services,
        "ipAllocationPolicy": {
            "clusterIpv4Cidr": pods,
            "servicesIpv4Cidr": services,
            "clusterIpv4CidrBlock": pods,
            "servicesIpv4CidrBlock": services,
        },
    }


def _joined(*parts: Object) -> Object:
    """One object of several, object by object; none states a value of another."""
    result: Object = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(result.get(key), dict)
            result[key] = _joined(result[key], value) if both else copy.deepcopy(value)
    return result


def _services(found: Object, stated: Object) -> None:
    """The older way to say where logs and metrics go follows the newer one."""
    for field, service in (("loggingConfig", "loggingService"), ("monitoringConfig", "monitoringService")):
        components = found[field].get("componentConfig", {}).get("enableComponents", [])
        if stated.get(service) == "none":
            found[field] = {"componentConfig": {}}
        elif not components and field in stated:
            found[service] = "none"


def _cidr(stated: Any, default: str) -> str:
    return default if not stated or str(stated).startswith("/") else str(stated)


def _consistent(found: Object) -> Object:
    """Where two fields say the same thing, an older and a newer one, both read back."""
    private = found["privateClusterConfig"]
    endpoints = found["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]
    if private.get("enablePrivateNodes"):
        found["networkConfig"]["defaultEnablePrivateNodes"] = True
    if found["networkConfig"].get("defaultEnablePrivateNodes"):
        private["enablePrivateNodes"] = True
    if private.get("enablePrivateEndpoint"):
        endpoints["enablePublicEndpoint"] = False
    elif not endpoints.get("enablePublicEndpoint", True):
        private["enablePrivateEndpoint"] = True
    authorized = found["masterAuthorizedNetworksConfig"]
    if authorized.get("enabled"):
        endpoints["authorizedNetworksConfig"] = merged(endpoints.get("authorizedNetworksConfig", {}), authorized)
    if found.get("workloadIdentityConfig", {}) == {}:
        found.pop("workloadIdentityConfig", None)
    return found


def authority(pem: str) -> str:
    """A certificate as `masterAuth.clusterCaCertificate` has it."""
    return base64.b64encode(pem.encode()).decode()
