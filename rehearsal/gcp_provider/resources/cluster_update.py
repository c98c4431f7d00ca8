"""How a cluster changes in place: mostly one `ClusterUpdate` per part (`resourceContainerClusterUpdate`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rehearsal.gcp_provider.resources import cluster_body
from rehearsal.gcp_provider.resources.cluster_table import CLUSTER
from rehearsal.gcp_provider.resources.gke import ClusterCall
from rehearsal.gcp_provider.terraform.kind import Job, Values
from rehearsal.gcp_provider.terraform.mapping import expand, look
from rehearsal.gcp_provider.terraform.package import resource_types

_Make = Callable[[dict[str, Any], Values], dict[str, Any]]


def _desired(field: str, path: str, otherwise: Any = None) -> _Make:
    """`desiredX` with what is at that path of the cluster as it would be created."""

    def make(sent: dict[str, Any], inputs: Values) -> dict[str, Any]:
        value = look(sent, path)
        return {field: ({} if otherwise is None else otherwise) if value is None else value}

    return make


_ENDPOINTS: _Make = lambda sent, inputs: {  # noqa: E731 one of a table of such
    "desiredControlPlaneEndpointsConfig": cluster_body.control_plane_endpoints(inputs)
}
UPDATES: dict[str, _Make] = {
    "controlPlaneEndpointsConfig": _ENDPOINTS,
    "masterAuthorizedNetworksConfig": _ENDPOINTS,
    "addonsConfig": _desired("desiredAddonsConfig", "addonsConfig"),
    "clusterAutoscaling": _desired("desiredClusterAutoscaling", "autoscaling"),
    "dnsConfig": _desired("desiredDnsConfig", "networkConfig.dnsConfig"),
    "allowNetAdmin": _desired("desiredAutopilotWorkloadPolicyConfig", "autopilot.workloadPolicyConfig"),
    "enableShieldedNodes": _desired("desiredShieldedNodes", "shieldedNodes", {"enabled": False}),
    "binaryAuthorization": _desired("desiredBinaryAuthorization", "binaryAuthorization"),
    "privateIpv6GoogleAccess": _desired("desiredPrivateIpv6GoogleAccess", "networkConfig.privateIpv6GoogleAccess", ""),
    "enableL4IlbSubsetting": lambda sent, inputs: {
        "desiredL4ilbSubsettingConfig": {"enabled": bool(inputs.get("enableL4IlbSubsetting"))}
    },
    "enableIntranodeVisibility": lambda sent, inputs: {
        "desiredIntraNodeVisibilityConfig": {"enabled": bool(inputs.get("enableIntranodeVisibility"))}
    },
    "enableFqdnNetworkPolicy": lambda sent, inputs: {
        "desiredEnableFqdnNetworkPolicy": bool(inputs.get("enableFqdnNetworkPolicy"))
    },
    "enableCiliumClusterwideNetworkPolicy": lambda sent, inputs: {
        "desiredEnableCiliumClusterwideNetworkPolicy": bool(inputs.get("enableCiliumClusterwideNetworkPolicy"))
    },
    "costManagementConfig": _desired("desiredCostManagementConfig", "costManagementConfig"),
    "authenticatorGroupsConfig": _desired("desiredAuthenticatorGroupsConfig", "authenticatorGroupsConfig"),
    "loggingConfig": _desired("desiredLoggingConfig", "loggingConfig"),
    "loggingService": _desired("desiredLoggingService", "loggingService", ""),
    "monitoringConfig": _desired("desiredMonitoringConfig", "monitoringConfig"),
    "monitoringService": _desired("desiredMonitoringService", "monitoringService", ""),
    "notificationConfig": _desired("desiredNotificationConfig", "notificationConfig", {"pubsub": {"enabled": False}}),
    "releaseChannel": _desired("desiredReleaseChannel", "releaseChannel", {"channel": "UNSPECIFIED"}),
    "verticalPodAutoscaling": _desired("desiredVerticalPodAutoscaling", "verticalPodAutoscaling"),
    "serviceExternalIpsConfig": _desired("desiredServiceExternalIpsConfig", "networkConfig.serviceExternalIpsConfig"),
    "meshCertificates": _desired("desiredMeshCertificates", "meshCertificates"),
    "databaseEncryption": _desired("desiredDatabaseEncryption", "databaseEncryption"),
    "workloadIdentityConfig": _desired("desiredWorkloadIdentityConfig", "workloadIdentityConfig", {"workloadPool": ""}),
    "identityServiceConfig": _desired("desiredIdentityServiceConfig", "identityServiceConfig"),
    "defaultSnatStatus": _desired("desiredDefaultSnatStatus", "networkConfig.defaultSnatStatus"),
    "gatewayApiConfig": _desired("desiredGatewayApiConfig", "networkConfig.gatewayApiConfig"),
    "securityPostureConfig": _desired("desiredSecurityPostureConfig", "securityPostureConfig"),
    "secretManagerConfig": _desired("desiredSecretManagerConfig", "secretManagerConfig"),
    "resourceUsageExportConfig": _desired("desiredResourceUsageExportConfig", "resourceUsageExportConfig"),
    "fleet": _desired("desiredFleet", "fleet"),
    "enableK8sBetaApis": _desired("desiredK8sBetaApis", "enableK8sBetaApis"),
    "enterpriseConfig": lambda sent, inputs: {
        "desiredEnterpriseConfig": {"desiredTier": look(inputs, "enterpriseConfig.desiredTier")}
    },
    "podAutoscaling": _desired("desiredPodAutoscaling", "podAutoscaling"),
}


def calls(job: Job, inputs: Values, tops: set[str]) -> Iterator[ClusterCall]:
    """The calls for these properties, in a fixed order. Calls that need the state come from `Cluster` itself."""
    sent = expand(resource_types(cluster_body.TOKEN).inputs, inputs, CLUSTER)
    done: set[str] = set()
    for name, make in UPDATES.items():
        if name in tops:
            update = make(sent, inputs)
            if not done & set(update):
                yield _update(update, f"updating GKE cluster {name}")
            done |= set(update)
    if "privateClusterConfig" in tops:
        yield from _private(inputs, done)
    if "nodePoolDefaults" in tops:
        yield from _node_defaults(sent)
    if "nodePoolAutoConfig" in tops:
        tags = look(sent, "nodePoolAutoConfig.networkTags")
        yield _update(
            {"desiredNodePoolAutoConfigNetworkTags": {} if tags is None else tags},
            "updating GKE cluster node pool auto config",
        )
    if "enableLegacyAbac" in tops:
        yield ClusterCall(
            "POST", ":setLegacyAbac", {"enabled": bool(inputs.get("enableLegacyAbac"))}, "updating GKE legacy ABAC"
        )
    if "networkPolicy" in tops:
        policy = sent.get("networkPolicy", {"enabled": False})
        yield ClusterCall("POST", ":setNetworkPolicy", {"networkPolicy": policy}, "updating GKE cluster network policy")
    if "maintenancePolicy" in tops:
        body = {"maintenancePolicy": sent.get("maintenancePolicy", {})}
        yield ClusterCall("POST", ":setMaintenancePolicy", body, "updating GKE cluster maintenance policy")


def _update(update: dict[str, Any], activity: str) -> ClusterCall:
    return ClusterCall("PUT", "", {"update": update}, activity)


def _private(inputs: Values, done: set[str]) -> Iterator[ClusterCall]:
    private = inputs.get("privateClusterConfig", {})
    if "desiredControlPlaneEndpointsConfig" not in done:
        update = {"desiredControlPlaneEndpointsConfig": cluster_body.control_plane_endpoints(inputs)}
        yield _update(update, "updating GKE control plane endpoints config")
    if private.get("enablePrivateNodes") is not None:
        nodes = bool(private["enablePrivateNodes"])
        yield _update({"desiredDefaultEnablePrivateNodes": nodes}, "updating GKE cluster private nodes")


def _node_defaults(sent: dict[str, Any]) -> Iterator[ClusterCall]:
    defaults = look(sent, "nodePoolDefaults.nodeConfigDefaults")
    defaults = {} if defaults is None else defaults
    for part, field in (
        ("gcfsConfig", "desiredGcfsConfig"),
        ("containerdConfig", "desiredContainerdConfig"),
        ("loggingConfig", "desiredNodePoolLoggingConfig"),
        ("nodeKubeletConfig", "desiredNodeKubeletConfig"),
    ):
        if part in defaults:
            yield _update({field: defaults[part]}, f"updating GKE cluster desired node pool {part} defaults")
