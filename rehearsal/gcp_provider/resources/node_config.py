"""The table of `nodeConfig` (`node_config.go`), for pools and for the first pool of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.rules import Rule, empty_or, last_segment, rules, same_case

DEFAULT_SCOPES = tuple(
    f"https://www.googleapis.com/auth/{scope}"
    for scope in (
        "devstorage.read_only", "logging.write", "monitoring", "service.management.readonly", "servicecontrol", "trace.append",
    )
)  # fmt: skip


def _own_labels(old: Any, new: Any) -> bool:
    """Labels that GKE adds by itself are no difference (containerNodePoolLabelsSuppress)."""
    if not isinstance(old, Mapping):
        return False
    wanted = {} if new is None else dict(new)
    kept = {key: value for key, value in old.items() if key in wanted or not _googles(key)}
    return kept == wanted


def _googles(key: str) -> bool:
    return "cloud.google.com/" in key or key.startswith("goog-")


def containerd(prefix: str) -> dict[str, Rule]:
    """The registries of a node's containerd: lists that Pulumi names in the plural."""
    hosts = f"{prefix}.registryHosts.hosts"
    domains = f"{prefix}.privateRegistryAccessConfig.certificateAuthorityDomainConfigs"
    return {
        **rules("", domains, api="certificateAuthorityDomainConfig"),
        **rules("", f"{hosts}.headers.values", api="value"),
        **{
            key: rule
            for name in ("ca", "client", "header")
            for key, rule in rules("", f"{hosts}.{name}s", api=name).items()
        },
    }


NODE_CONFIG: dict[str, Rule] = {
    **rules("computed", "diskSizeGb", "diskType", "machineType", "loggingVariant"),
    **rules("computed", "loggingVariant", api="loggingConfig.variantConfig.variant"),
    **rules("computed", "imageType", suppress=same_case),
    **rules("computed", "labels", suppress=_own_labels),
    **rules("", "resourceLabels", suppress=_own_labels),
    **rules("", "resourceManagerTags", api="resourceManagerTags.tags"),
    **rules("", "tags", "taints", "gvnic", "fastSocket"),
    **rules("output", "effectiveTaints", api="taints"),
    **rules("force computed", "metadata", "minCpuPlatform", "serviceAccount", "localSsdCount"),
    **rules("force computed unordered", "oauthScopes"),
    **rules("force", "preemptible", "spot", "flexStart", "maxRunDuration", "nodeGroup", "bootDiskKmsKey"),
    **rules("force", "enableConfidentialStorage", "localSsdEncryptionMode"),
    **rules("unplayed", "gpudirectStrategy"),
    **rules("force single", "nodeImageConfigs", api="nodeImageConfig"),
    **containerd("containerdConfig"),
    **rules("force", "reservationAffinity", "reservationAffinity.consumeReservationType", "reservationAffinity.key"),
    **rules("force unordered", "reservationAffinity.values", "storagePools"),
    **rules("force computed", "guestAccelerators", api="accelerators"),
    **rules(
        "force", "guestAccelerators.count", "guestAccelerators.gpuPartitionSize", "guestAccelerators.gpuSharingConfig"
    ),
    **rules("force", "guestAccelerators.count", api="acceleratorCount"),
    **rules("force", "guestAccelerators.type", api="acceleratorType", suppress=last_segment),
    **rules("force computed", "guestAccelerators.gpuDriverInstallationConfig"),
    **rules("force computed", "shieldedInstanceConfig", "confidentialNodes"),
    **rules("force", "shieldedInstanceConfig.enableSecureBoot", "confidentialNodes.enabled"),
    **rules("force", "confidentialNodes.confidentialInstanceType"),
    **rules("force", "shieldedInstanceConfig.enableIntegrityMonitoring", default=True),
    **rules(
        "computed", "workloadMetadataConfig", "gcfsConfig", "kubeletConfig", "windowsNodeConfig", "linuxNodeConfig"
    ),
    **rules("computed", "kubeletConfig.insecureKubeletReadonlyPortEnabled", "bootDisk", "containerdConfig"),
    **rules(
        "computed", "bootDisk.diskType", "bootDisk.sizeGb", "bootDisk.provisionedIops", "bootDisk.provisionedThroughput"
    ),
    **rules("computed", "linuxNodeConfig.cgroupMode", suppress=empty_or("CGROUP_MODE_UNSPECIFIED")),
    **rules("", "linuxNodeConfig.hugepagesConfig", api="hugepages"),
    **rules("force", "windowsNodeConfig.osversion", default="OS_VERSION_UNSPECIFIED", api="osVersion"),
    **rules("force", "sandboxConfig", "advancedMachineFeatures", "soleTenantConfig", "hostMaintenancePolicy"),
    **rules("force", "advancedMachineFeatures.threadsPerCore", "advancedMachineFeatures.enableNestedVirtualization"),
    **rules("force", "hostMaintenancePolicy.maintenanceInterval", "secondaryBootDisks"),
    **rules("force", "secondaryBootDisks.diskImage", "secondaryBootDisks.mode"),
    **rules("force unordered", "soleTenantConfig.nodeAffinities"),
    **rules("force", "ephemeralStorageConfig", "ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig"),
    **rules("force", "ephemeralStorageConfig.localSsdCount", "ephemeralStorageLocalSsdConfig.localSsdCount"),
    **rules("force", "localNvmeSsdBlockConfig.localSsdCount"),
}


def complete(config: dict[str, Any]) -> dict[str, Any]:
    """What the provider sends although the program says nothing: gke-default's scopes; the kubelet's port as a bool."""
    config.setdefault("oauthScopes", list(DEFAULT_SCOPES))
    kubelet = config.get("kubeletConfig")
    if kubelet and isinstance(kubelet.get("insecureKubeletReadonlyPortEnabled"), str):
        kubelet["insecureKubeletReadonlyPortEnabled"] = kubelet["insecureKubeletReadonlyPortEnabled"].upper() == "TRUE"
    return config


def shown(config: dict[str, Any] | None, known: Any) -> dict[str, Any] | None:
    """As it is read back: only the taints that the program states are its own; all are `effectiveTaints`."""
    if config is None:
        return None
    stated = known.get("taints", []) if isinstance(known, Mapping) else []
    mine = {entry.get("key") for entry in stated if isinstance(entry, Mapping)}
    result = {**config, "taints": [taint for taint in config.get("taints", []) if taint["key"] in mine]}
    kubelet = result.get("kubeletConfig")
    if kubelet is not None:
        port = str(kubelet.get("insecureKubeletReadonlyPortEnabled", "")).upper()
        result["kubeletConfig"] = {
            **kubelet,
            "insecureKubeletReadonlyPortEnabled": port if port in ("TRUE", "FALSE") else "",
        }
    return result
