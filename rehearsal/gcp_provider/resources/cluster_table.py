"""The table of clusters (`resource_container_cluster.go`, its schema)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.kind import DELETION_POLICY
from rehearsal.gcp_provider.resources.node_config import NODE_CONFIG, containerd
from rehearsal.gcp_provider.resources.pool_body import POOL
from rehearsal.gcp_provider.rules import Rule, cidr_or_size, empty_or, last_segment, rules, under


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
    **rules("local", "deletionProtection", default=True),
    **rules("local", "removeDefaultNodePool", "ignoreNodeCountChanges", "skipNodePoolRefresh", "rollbackSafeUpgrade"),
    **rules("local", "minMasterVersion", "desiredEmulatedVersion"),
    **rules("local force computed", "project", "location"),
    **rules("output local", "operation"),
}
_NAMES_AND_RANGES = {
    **rules("force", "name", "description"),
    **rules("force", "network", default="default", suppress=last_segment, api="networkConfig.network"),
    **rules("force computed", "subnetwork", suppress=last_segment, api="networkConfig.subnetwork"),
    **rules("force computed", "clusterIpv4Cidr"),
    # What it says is in `ipAllocationPolicy` at Google.
    **rules("force computed local", "networkingMode"),
    **rules("", "ipAllocationPolicy.podCidrOverprovisionConfig.disabled", api="disable"),
    **rules("force computed", "defaultMaxPodsPerNode", api="defaultMaxPodsConstraint.maxPodsPerNode"),
    **rules("computed unordered", "nodeLocations", api="locations"),
    **rules("force computed", "ipAllocationPolicy", "ipAllocationPolicy.podCidrOverprovisionConfig"),
    **rules("force computed", "ipAllocationPolicy.clusterIpv4CidrBlock", suppress=cidr_or_size),
    **rules("force computed", "ipAllocationPolicy.servicesIpv4CidrBlock", suppress=cidr_or_size),
    **rules(
        "force computed",
        "ipAllocationPolicy.clusterSecondaryRangeName",
        "ipAllocationPolicy.servicesSecondaryRangeName",
    ),
    **rules("force", "ipAllocationPolicy.stackType", default="IPV4"),
    **rules("computed", "ipAllocationPolicy.autoIpamConfig", "ipAllocationPolicy.networkTierConfig"),
    **rules("single", "ipAllocationPolicy.additionalIpRangesConfigs"),
    **rules("unordered", "ipAllocationPolicy.additionalPodRangesConfig.podRangeNames"),
}
_SWITCHES = {
    **rules("force", "enableAutopilot", api="autopilot.enabled"),
    **rules("", "allowNetAdmin", api="autopilot.workloadPolicyConfig.allowNetAdmin"),
    **rules("force", "enableKubernetesAlpha", default=False),
    **rules("force computed", "enableTpu"),
    **rules("", "enableLegacyAbac", default=False, api="legacyAbac.enabled"),
    **rules("", "enableShieldedNodes", default=True, api="shieldedNodes.enabled"),
    **rules(
        "",
        "enableCiliumClusterwideNetworkPolicy",
        default=False,
        api="networkConfig.enableCiliumClusterwideNetworkPolicy",
    ),
    **rules("computed", "enableIntranodeVisibility", api="networkConfig.enableIntraNodeVisibility"),
    **rules("", "enableL4IlbSubsetting", default=False, api="networkConfig.enableL4ilbSubsetting"),
    **rules(
        "", "disableL4LbFirewallReconciliation", default=False, api="networkConfig.disableL4LbFirewallReconciliation"
    ),
    **rules("force", "enableMultiNetworking", default=False, api="networkConfig.enableMultiNetworking"),
    **rules("", "enableFqdnNetworkPolicy", default=False, api="networkConfig.enableFqdnNetworkPolicy"),
    **rules("computed", "privateIpv6GoogleAccess", api="networkConfig.privateIpv6GoogleAccess"),
    **rules("computed", "inTransitEncryptionConfig", api="networkConfig.inTransitEncryptionConfig"),
    **rules(
        "force computed",
        "datapathProvider",
        api="networkConfig.datapathProvider",
        suppress=empty_or("DATAPATH_PROVIDER_UNSPECIFIED"),
    ),
}
_BLOCKS = {
    **rules(
        "computed", "addonsConfig", "clusterAutoscaling", "authenticatorGroupsConfig", "loggingConfig", "loggingService"
    ),
    **rules(
        "computed",
        "monitoringConfig",
        "monitoringService",
        "notificationConfig",
        "protectConfig",
        "securityPostureConfig",
    ),
    **rules(
        "computed",
        "nodePoolDefaults",
        "nodePoolAutoConfig",
        "nodeVersion",
        "verticalPodAutoscaling",
        "meshCertificates",
    ),
    **rules("computed", "workloadIdentityConfig", "identityServiceConfig", "databaseEncryption", "releaseChannel"),
    **rules("computed", "clusterTelemetry", "costManagementConfig", "workloadAltsConfig", "tpuConfig", "masterAuth"),
    **rules("computed", "privateClusterConfig", "enterpriseConfig", "podAutoscaling", "anonymousAuthenticationConfig"),
    **rules(
        "computed", "rbacBindingConfig", "userManagedKeysConfig", "gkeAutoUpgradeConfig", "managedOpentelemetryConfig"
    ),
    **rules("computed", "nodeCreationConfig", "managedMachineLearningDiagnosticsConfig"),
    **rules("computed", "controlPlaneEndpointsConfig", "fleet", "confidentialNodes"),
    **rules("computed", "defaultSnatStatus", api="networkConfig.defaultSnatStatus"),
    **rules("computed", "gatewayApiConfig", api="networkConfig.gatewayApiConfig"),
    **rules("computed", "serviceExternalIpsConfig", api="networkConfig.serviceExternalIpsConfig"),
    **rules("", "dnsConfig", api="networkConfig.dnsConfig"),
    **rules("computed", "clusterAutoscaling", api="autoscaling"),
    **rules("computed", "networkPerformanceConfig", api="networkConfig.networkPerformanceConfig"),
    **rules("unplayed", "autopilotClusterPolicyConfig", "autopilotPrivilegedAdmissions", "dataplaneOptimizationMode"),
    **rules(
        "", "networkPolicy", "podSecurityPolicyConfig", "secretManagerConfig", "secretSyncConfig", suppress=_disabled
    ),
    **rules("", "binaryAuthorization", suppress=_no_mode),
    **rules(
        "", "maintenancePolicy", "resourceUsageExportConfig", "enableK8sBetaApis", "masterAuthorizedNetworksConfig"
    ),
}
_INSIDE_BLOCKS = {
    **rules("computed", *(f"addonsConfig.{addon}" for addon in (
        "agentSandboxConfig", "cloudrunConfig", "configConnectorConfig", "dnsCacheConfig", "gcePersistentDiskCsiDriverConfig",
        "gcpFilestoreCsiDriverConfig", "gcsFuseCsiDriverConfig", "gkeBackupAgentConfig", "highScaleCheckpointingConfig",
        "horizontalPodAutoscaling", "httpLoadBalancing", "istioConfig", "kalmConfig", "lustreCsiDriverConfig", "networkPolicyConfig",
        "nodeReadinessConfig", "parallelstoreCsiDriverConfig", "podSnapshotConfig", "sliceControllerConfig", "slurmOperatorConfig",
        "statefulHaConfig",
    ))),
    **rules("computed", "addonsConfig.cloudrunConfig", api="cloudRunConfig"),
    **rules("computed single", "addonsConfig.rayOperatorConfigs", api="rayOperatorConfig"),
    **rules("computed", "addonsConfig.rayOperatorConfigs.rayClusterLoggingConfig"),
    **rules("computed", "addonsConfig.rayOperatorConfigs.rayClusterMonitoringConfig"),
    **rules("zero", "addonsConfig.httpLoadBalancing.disabled", "addonsConfig.horizontalPodAutoscaling.disabled"),
    **rules("zero", "addonsConfig.networkPolicyConfig.disabled", "addonsConfig.gcePersistentDiskCsiDriverConfig.enabled"),
    **rules("zero", "addonsConfig.gcsFuseCsiDriverConfig.enabled", "addonsConfig.rayOperatorConfigs.enabled"),
    **rules("computed", "clusterAutoscaling.enabled", api="enableNodeAutoprovisioning"),
    **rules("computed", "clusterAutoscaling.autoProvisioningDefaults", api="autoprovisioningNodePoolDefaults"),
    **rules("computed", "clusterAutoscaling.autoProvisioningLocations", api="autoprovisioningLocations"),
    **rules("", "clusterAutoscaling.autoscalingProfile", default="BALANCED"),
    **rules("computed", "clusterAutoscaling.defaultComputeClassEnabled", api="defaultComputeClassConfig.enabled"),
    **rules("computed", "loggingConfig.enableComponents", api="componentConfig.enableComponents"),
    **rules("computed unordered", "monitoringConfig.enableComponents", api="componentConfig.enableComponents"),
    **rules("computed", "monitoringConfig.managedPrometheus", api="managedPrometheusConfig"),
    **rules("computed", "monitoringConfig.managedPrometheus.autoMonitoringConfig", "monitoringConfig.advancedDatapathObservabilityConfig"),
    **rules("zero", "monitoringConfig.managedPrometheus.enabled"),
    **rules("zero", "monitoringConfig.advancedDatapathObservabilityConfig.enableMetrics"),
    **rules("computed", "notificationConfig.pubsub"),
    **rules("computed", "securityPostureConfig.mode", suppress=empty_or("MODE_UNSPECIFIED")),
    **rules("computed", "securityPostureConfig.vulnerabilityMode", suppress=empty_or("VULNERABILITY_MODE_UNSPECIFIED")),
    **rules("force", "masterAuth.clientCertificateConfig", "masterAuth.clientCertificateConfig.issueClientCertificate"),
    **rules("output", "masterAuth.clientCertificate", "masterAuth.clusterCaCertificate"),
    **rules("output secret", "masterAuth.clientKey"),
    **rules("unordered", "masterAuthorizedNetworksConfig.cidrBlocks"),
    **rules("computed", "masterAuthorizedNetworksConfig.gcpPublicCidrsAccessEnabled"),
    **rules("output", "privateClusterConfig.peeringName", "privateClusterConfig.privateEndpoint", "privateClusterConfig.publicEndpoint"),
    **rules("force computed", "privateClusterConfig.masterIpv4CidrBlock"),
    **rules("force", "privateClusterConfig.privateEndpointSubnetwork", suppress=last_segment),
    **rules("computed", "privateClusterConfig.masterGlobalAccessConfig"),
    **rules("computed", "controlPlaneEndpointsConfig.ipEndpointsConfig", "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint"),
    **rules("", "networkPolicy.provider", suppress=empty_or("PROVIDER_UNSPECIFIED")),
    **rules("zero", "networkPolicy.enabled", "verticalPodAutoscaling.enabled", "costManagementConfig.enabled"),
    **rules("zero", "defaultSnatStatus.disabled", "meshCertificates.enableCertificates", "identityServiceConfig.enabled"),
    **rules("", "dnsConfig.clusterDns", default="PROVIDER_UNSPECIFIED"),
    **rules("", "dnsConfig.clusterDnsScope", default="DNS_SCOPE_UNSPECIFIED"),
    **rules("computed", "nodePoolDefaults.nodeConfigDefaults.gcfsConfig"),
    **rules("computed", "nodePoolDefaults.nodeConfigDefaults.loggingVariant", api="loggingConfig.variantConfig.variant"),
    **rules("computed", "nodePoolDefaults.nodeConfigDefaults.insecureKubeletReadonlyPortEnabled",
            api="nodeKubeletConfig.insecureKubeletReadonlyPortEnabled"),
    **rules("unordered", "enableK8sBetaApis.enabledApis"),
    **rules("unplayed", "maintenancePolicy.maintenanceExclusions", "maintenancePolicy.recurringMaintenanceWindow"),
    **rules("", "maintenancePolicy.dailyMaintenanceWindow", api="window.dailyMaintenanceWindow"),
    **rules("output", "maintenancePolicy.dailyMaintenanceWindow.duration"),
    **rules("", "maintenancePolicy.recurringWindow", api="window.recurringWindow"),
    **rules("", "maintenancePolicy.recurringWindow.startTime", api="window.startTime"),
    **rules("", "maintenancePolicy.recurringWindow.endTime", api="window.endTime"),
    **rules("", "notificationConfig.pubsub.filter.eventTypes", api="eventType"),
    **rules("", "resourceUsageExportConfig.enableResourceConsumptionMetering", default=True, api="consumptionMeteringConfig.enabled"),
    **rules("", "clusterAutoscaling.autoProvisioningDefaults.diskSize", default=100, api="diskSizeGb"),
    **rules("computed", *(f"clusterAutoscaling.autoProvisioningDefaults.{field}" for field in (
        "oauthScopes", "management", "management.autoUpgrade", "management.autoRepair", "upgradeSettings", "upgradeSettings.strategy",
    ))),
    **rules("computed", "nodePoolAutoConfig.nodeKubeletConfig"),
    **containerd("nodePoolDefaults.nodeConfigDefaults.containerdConfig"),
    **rules("force computed", "confidentialNodes.enabled", "confidentialNodes.confidentialInstanceType"),
    **rules("output", "fleet.membership", "fleet.preRegistered"),
    **rules("output local", "fleet.membershipId", "fleet.membershipLocation"),
}  # fmt: skip
_READ_BACK = {
    **rules("output", "selfLink", "endpoint", "labelFingerprint", "tpuIpv4CidrBlock", "servicesIpv4Cidr"),
    **rules("output", "masterVersion", api="currentMasterVersion"),
    **rules("output", "emulatedVersion", api="currentEmulatedVersion"),
    **rules("output local", "effectiveLabels", "pulumiLabels"),
    **rules("local", "resourceLabels"),
}
# A change of the first pool's nodes or of the pools inside the cluster replaces the cluster.
_IN_CLUSTER = ("labels", "workloadMetadataConfig", "resourceManagerTags")
CLUSTER: dict[str, Rule] = {
    **_LOCAL,
    **_NAMES_AND_RANGES,
    **_SWITCHES,
    **_BLOCKS,
    **_INSIDE_BLOCKS,
    **_READ_BACK,
    **rules("force", "initialNodeCount"),
    **rules("force computed", "nodeConfig", "nodePools"),
    **rules("computed", "nodeVersion", api="currentNodeVersion"),
    **under("nodeConfig", NODE_CONFIG, force=_IN_CLUSTER),
    **under("nodePools", POOL),
}
