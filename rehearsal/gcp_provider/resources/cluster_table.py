"""The table of clusters (`resource_container_cluster.go`, its schema)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.resources.node_config import NODE_CONFIG, containerd
from rehearsal.gcp_provider.resources.pool_body import POOL
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY
from rehearsal.gcp_provider.terraform.rules import FieldRule, cidr_or_size, empty_or, last_segment, rules, under


def _disabled(old: Any, new: Any) -> bool:
    """No block, and a block that says `enabled: false`, are one."""
    return not _enabled(old) and not _enabled(new)


def _enabled(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(value.get("enabled"))


def _no_mode(old: Any, new: Any) -> bool:
    """Binary Authorization that is off, stated or not (BinaryAuthorizationDiffSuppress)."""

    def mode(value: Any) -> Any:
        return value.get("evaluationMode") if isinstance(value, Mapping) else None

    return new is None and not _enabled(old) and mode(old) in (None, "", "DISABLED")


_LOCAL = {
    **DELETION_POLICY,
    **rules("deletionProtection", local=True, default=True),
    **rules(
        "removeDefaultNodePool", "ignoreNodeCountChanges", "skipNodePoolRefresh", "rollbackSafeUpgrade", local=True
    ),
    **rules("minMasterVersion", "desiredEmulatedVersion", local=True),
    **rules("project", "location", local=True, force=True, computed=True),
    **rules("operation", output=True, local=True),
}
_NAMES_AND_RANGES = {
    **rules("name", "description", force=True),
    **rules("network", force=True, default="default", suppress=last_segment, api="networkConfig.network"),
    **rules("subnetwork", force=True, computed=True, suppress=last_segment, api="networkConfig.subnetwork"),
    **rules("clusterIpv4Cidr", force=True, computed=True),
    # What it says is in `ipAllocationPolicy` at Google.
    **rules("networkingMode", force=True, computed=True, local=True),
    **rules("ipAllocationPolicy.podCidrOverprovisionConfig.disabled", api="disable"),
    **rules("defaultMaxPodsPerNode", force=True, computed=True, api="defaultMaxPodsConstraint.maxPodsPerNode"),
    **rules("nodeLocations", computed=True, unordered=True, api="locations"),
    **rules("ipAllocationPolicy", "ipAllocationPolicy.podCidrOverprovisionConfig", force=True, computed=True),
    **rules("ipAllocationPolicy.clusterIpv4CidrBlock", force=True, computed=True, suppress=cidr_or_size),
    **rules("ipAllocationPolicy.servicesIpv4CidrBlock", force=True, computed=True, suppress=cidr_or_size),
    **rules(
        "ipAllocationPolicy.clusterSecondaryRangeName",
        "ipAllocationPolicy.servicesSecondaryRangeName",
        force=True,
        computed=True,
    ),
    **rules("ipAllocationPolicy.stackType", force=True, default="IPV4"),
    **rules("ipAllocationPolicy.autoIpamConfig", "ipAllocationPolicy.networkTierConfig", computed=True),
    **rules("ipAllocationPolicy.additionalIpRangesConfigs", single=True),
    **rules("ipAllocationPolicy.additionalPodRangesConfig.podRangeNames", unordered=True),
}
_SWITCHES = {
    **rules("enableAutopilot", force=True, api="autopilot.enabled"),
    **rules("allowNetAdmin", api="autopilot.workloadPolicyConfig.allowNetAdmin"),
    **rules("enableKubernetesAlpha", force=True, default=False),
    **rules("enableTpu", force=True, computed=True),
    **rules("enableLegacyAbac", default=False, api="legacyAbac.enabled"),
    **rules("enableShieldedNodes", default=True, api="shieldedNodes.enabled"),
    **rules(
        "enableCiliumClusterwideNetworkPolicy",
        default=False,
        api="networkConfig.enableCiliumClusterwideNetworkPolicy",
    ),
    **rules("enableIntranodeVisibility", computed=True, api="networkConfig.enableIntraNodeVisibility"),
    **rules("enableL4IlbSubsetting", default=False, api="networkConfig.enableL4ilbSubsetting"),
    **rules("disableL4LbFirewallReconciliation", default=False, api="networkConfig.disableL4LbFirewallReconciliation"),
    **rules("enableMultiNetworking", force=True, default=False, api="networkConfig.enableMultiNetworking"),
    **rules("enableFqdnNetworkPolicy", default=False, api="networkConfig.enableFqdnNetworkPolicy"),
    **rules("privateIpv6GoogleAccess", computed=True, api="networkConfig.privateIpv6GoogleAccess"),
    **rules("inTransitEncryptionConfig", computed=True, api="networkConfig.inTransitEncryptionConfig"),
    **rules(
        "datapathProvider",
        force=True,
        computed=True,
        api="networkConfig.datapathProvider",
        suppress=empty_or("DATAPATH_PROVIDER_UNSPECIFIED"),
    ),
}
_BLOCKS = {
    **rules(
        "addonsConfig",
        "clusterAutoscaling",
        "authenticatorGroupsConfig",
        "loggingConfig",
        "loggingService",
        computed=True,
    ),
    **rules(
        "monitoringConfig",
        "monitoringService",
        "notificationConfig",
        "protectConfig",
        "securityPostureConfig",
        computed=True,
    ),
    **rules(
        "nodePoolDefaults",
        "nodePoolAutoConfig",
        "nodeVersion",
        "verticalPodAutoscaling",
        "meshCertificates",
        computed=True,
    ),
    **rules("workloadIdentityConfig", "identityServiceConfig", "databaseEncryption", "releaseChannel", computed=True),
    **rules("clusterTelemetry", "costManagementConfig", "workloadAltsConfig", "tpuConfig", "masterAuth", computed=True),
    **rules(
        "privateClusterConfig", "enterpriseConfig", "podAutoscaling", "anonymousAuthenticationConfig", computed=True
    ),
    **rules(
        "rbacBindingConfig",
        "userManagedKeysConfig",
        "gkeAutoUpgradeConfig",
        "managedOpentelemetryConfig",
        computed=True,
    ),
    **rules("nodeCreationConfig", "managedMachineLearningDiagnosticsConfig", computed=True),
    **rules("controlPlaneEndpointsConfig", "fleet", "confidentialNodes", computed=True),
    **rules("defaultSnatStatus", computed=True, api="networkConfig.defaultSnatStatus"),
    **rules("gatewayApiConfig", computed=True, api="networkConfig.gatewayApiConfig"),
    **rules("serviceExternalIpsConfig", computed=True, api="networkConfig.serviceExternalIpsConfig"),
    **rules("dnsConfig", api="networkConfig.dnsConfig"),
    **rules("clusterAutoscaling", computed=True, api="autoscaling"),
    **rules("networkPerformanceConfig", computed=True, api="networkConfig.networkPerformanceConfig"),
    **rules(
        "autopilotClusterPolicyConfig", "autopilotPrivilegedAdmissions", "dataplaneOptimizationMode", unsupported=True
    ),
    **rules("networkPolicy", "podSecurityPolicyConfig", "secretManagerConfig", "secretSyncConfig", suppress=_disabled),
    **rules("binaryAuthorization", suppress=_no_mode),
    **rules("maintenancePolicy", "resourceUsageExportConfig", "enableK8sBetaApis", "masterAuthorizedNetworksConfig"),
}
_INSIDE_BLOCKS = {
    **rules(*(f"addonsConfig.{addon}" for addon in (
        "agentSandboxConfig", "cloudrunConfig", "configConnectorConfig", "dnsCacheConfig", "gcePersistentDiskCsiDriverConfig",
        "gcpFilestoreCsiDriverConfig", "gcsFuseCsiDriverConfig", "gkeBackupAgentConfig", "highScaleCheckpointingConfig",
        "horizontalPodAutoscaling", "httpLoadBalancing", "istioConfig", "kalmConfig", "lustreCsiDriverConfig", "networkPolicyConfig",
        "nodeReadinessConfig", "parallelstoreCsiDriverConfig", "podSnapshotConfig", "sliceControllerConfig", "slurmOperatorConfig",
        "statefulHaConfig",
    )), computed=True),
    **rules("addonsConfig.cloudrunConfig", computed=True, api="cloudRunConfig"),
    **rules("addonsConfig.rayOperatorConfigs", computed=True, single=True, api="rayOperatorConfig"),
    **rules("addonsConfig.rayOperatorConfigs.rayClusterLoggingConfig", computed=True),
    **rules("addonsConfig.rayOperatorConfigs.rayClusterMonitoringConfig", computed=True),
    **rules("addonsConfig.httpLoadBalancing.disabled", "addonsConfig.horizontalPodAutoscaling.disabled", zero=True),
    **rules("addonsConfig.networkPolicyConfig.disabled", "addonsConfig.gcePersistentDiskCsiDriverConfig.enabled", zero=True),
    **rules("addonsConfig.gcsFuseCsiDriverConfig.enabled", "addonsConfig.rayOperatorConfigs.enabled", zero=True),
    **rules("clusterAutoscaling.enabled", computed=True, api="enableNodeAutoprovisioning"),
    **rules("clusterAutoscaling.autoProvisioningDefaults", computed=True, api="autoprovisioningNodePoolDefaults"),
    **rules("clusterAutoscaling.autoProvisioningLocations", computed=True, api="autoprovisioningLocations"),
    **rules("clusterAutoscaling.autoscalingProfile", default="BALANCED"),
    **rules("clusterAutoscaling.defaultComputeClassEnabled", computed=True, api="defaultComputeClassConfig.enabled"),
    **rules("loggingConfig.enableComponents", computed=True, api="componentConfig.enableComponents"),
    **rules("monitoringConfig.enableComponents", computed=True, unordered=True, api="componentConfig.enableComponents"),
    **rules("monitoringConfig.managedPrometheus", computed=True, api="managedPrometheusConfig"),
    **rules("monitoringConfig.managedPrometheus.autoMonitoringConfig", computed=True),
    **rules("monitoringConfig.advancedDatapathObservabilityConfig", computed=True),
    **rules("monitoringConfig.managedPrometheus.enabled", zero=True),
    **rules("monitoringConfig.advancedDatapathObservabilityConfig.enableMetrics", zero=True),
    **rules("notificationConfig.pubsub", computed=True),
    **rules("securityPostureConfig.mode", computed=True, suppress=empty_or("MODE_UNSPECIFIED")),
    **rules("securityPostureConfig.vulnerabilityMode", computed=True, suppress=empty_or("VULNERABILITY_MODE_UNSPECIFIED")),
    **rules("masterAuth.clientCertificateConfig", "masterAuth.clientCertificateConfig.issueClientCertificate", force=True),
    **rules("masterAuth.clientCertificate", "masterAuth.clusterCaCertificate", output=True),
    **rules("masterAuth.clientKey", output=True, secret=True),
    **rules("masterAuthorizedNetworksConfig.cidrBlocks", unordered=True),
    **rules("masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled", computed=True),
    **rules("privateClusterConfig.peeringName", "privateClusterConfig.privateEndpoint", "privateClusterConfig.publicEndpoint", output=True),
    **rules("privateClusterConfig.masterIpv4CidrBlock", force=True, computed=True),
    **rules("privateClusterConfig.privateEndpointSubnetwork", force=True, suppress=last_segment),
    **rules("privateClusterConfig.masterGlobalAccessConfig", computed=True),
    **rules("controlPlaneEndpointsConfig.ipEndpointsConfig", "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint", computed=True),
    **rules("networkPolicy.provider", suppress=empty_or("PROVIDER_UNSPECIFIED")),
    **rules("networkPolicy.enabled", "verticalPodAutoscaling.enabled", "costManagementConfig.enabled", zero=True),
    **rules("defaultSnatStatus.disabled", "meshCertificates.enableCertificates", "identityServiceConfig.enabled", zero=True),
    **rules("dnsConfig.clusterDns", default="PROVIDER_UNSPECIFIED"),
    **rules("dnsConfig.clusterDnsScope", default="DNS_SCOPE_UNSPECIFIED"),
    **rules("nodePoolDefaults.nodeConfigDefaults.gcfsConfig", computed=True),
    **rules("nodePoolDefaults.nodeConfigDefaults.loggingVariant", computed=True, api="loggingConfig.variantConfig.variant"),
    **rules("nodePoolDefaults.nodeConfigDefaults.insecureKubeletReadonlyPortEnabled", computed=True,
            api="nodeKubeletConfig.insecureKubeletReadonlyPortEnabled"),
    **rules("enableK8sBetaApis.enabledApis", unordered=True),
    **rules("maintenancePolicy.maintenanceExclusions", "maintenancePolicy.recurringMaintenanceWindow", unsupported=True),
    **rules("maintenancePolicy.dailyMaintenanceWindow", api="window.dailyMaintenanceWindow"),
    **rules("maintenancePolicy.dailyMaintenanceWindow.duration", output=True),
    **rules("maintenancePolicy.recurringWindow", api="window.recurringWindow"),
    **rules("maintenancePolicy.recurringWindow.startTime", api="window.startTime"),
    **rules("maintenancePolicy.recurringWindow.endTime", api="window.endTime"),
    **rules("notificationConfig.pubsub.filter.eventTypes", api="eventType"),
    **rules("resourceUsageExportConfig.enableResourceConsumptionMetering", default=True, api="consumptionMeteringConfig.enabled"),
    **rules("clusterAutoscaling.autoProvisioningDefaults.diskSize", default=100, api="diskSizeGb"),
    **rules(*(f"clusterAutoscaling.autoProvisioningDefaults.{field}" for field in (
        "oauthScopes", "management", "management.autoUpgrade", "management.autoRepair", "upgradeSettings", "upgradeSettings.strategy",
    )), computed=True),
    **rules("nodePoolAutoConfig.nodeKubeletConfig", computed=True),
    **containerd("nodePoolDefaults.nodeConfigDefaults.containerdConfig"),
    **rules("confidentialNodes.enabled", "confidentialNodes.confidentialInstanceType", force=True, computed=True),
    **rules("fleet.membership", "fleet.preRegistered", output=True),
    **rules("fleet.membershipId", "fleet.membershipLocation", output=True, local=True),
}  # fmt: skip
_READ_BACK = {
    **rules("selfLink", "endpoint", "labelFingerprint", "tpuIpv4CidrBlock", "servicesIpv4Cidr", output=True),
    **rules("masterVersion", output=True, api="currentMasterVersion"),
    **rules("emulatedVersion", output=True, api="currentEmulatedVersion"),
    **rules("effectiveLabels", "pulumiLabels", output=True, local=True),
    **rules("resourceLabels", local=True),
}
# A change of the first pool's nodes or of the pools inside the cluster replaces the cluster.
_IN_CLUSTER = ("labels", "workloadMetadataConfig", "resourceManagerTags")
CLUSTER: dict[str, FieldRule] = {
    **_LOCAL,
    **_NAMES_AND_RANGES,
    **_SWITCHES,
    **_BLOCKS,
    **_INSIDE_BLOCKS,
    **_READ_BACK,
    **rules("initialNodeCount", force=True),
    **rules("nodeConfig", "nodePools", force=True, computed=True),
    **rules("nodeVersion", computed=True, api="currentNodeVersion"),
    **under("nodeConfig", NODE_CONFIG, force=_IN_CLUSTER),
    **under("nodePools", POOL),
}
