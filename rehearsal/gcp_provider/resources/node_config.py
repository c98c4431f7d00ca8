"""The table of `nodeConfig` (`node_config.go`), for pools and for the first pool of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rehearsal.gcp_provider.terraform.rules import FieldRule, empty_or, last_segment, rules, same_case

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


def containerd(prefix: str) -> dict[str, FieldRule]:
    """The registries of a node's containerd: lists that Pulumi names in the plural."""
    hosts = f"{prefix}.registryHosts.hosts"
    domains = f"{prefix}.privateRegistryAccessConfig.certificateAuthorityDomainConfigs"
    return {
        **rules(domains, api="certificateAuthorityDomainConfig"),
        **rules(f"{hosts}.headers.values", api="value"),
        **{
            key: rule
            for name in ("ca", "client", "header")
            for key, rule in rules(f"{hosts}.{name}s", api=name).items()
        },
    }


NODE_CONFIG: dict[str, FieldRule] = {
    **rules("diskSizeGb", "diskType", "machineType", "loggingVariant", computed=True),
    **rules("loggingVariant", computed=True, api="loggingConfig.variantConfig.variant"),
    **rules("imageType", computed=True, suppress=same_case),
    **rules("labels", computed=True, suppress=_own_labels),
    **rules("resourceLabels", suppress=_own_labels),
    **rules("resourceManagerTags", api="resourceManagerTags.tags"),
    **rules("tags", "taints", "gvnic", "fastSocket"),
    **rules("effectiveTaints", output=True, api="taints"),
    **rules("metadata", "minCpuPlatform", "serviceAccount", "localSsdCount", force=True, computed=True),
    **rules("oauthScopes", force=True, computed=True, unordered=True),
    **rules("preemptible", "spot", "flexStart", "maxRunDuration", "nodeGroup", "bootDiskKmsKey", force=True),
    **rules("enableConfidentialStorage", "localSsdEncryptionMode", force=True),
    **rules("gpudirectStrategy", unsupported=True),
    **rules("nodeImageConfigs", force=True, single=True, api="nodeImageConfig"),
    **containerd("containerdConfig"),
    **rules("reservationAffinity", "reservationAffinity.consumeReservationType", "reservationAffinity.key", force=True),
    **rules("reservationAffinity.values", "storagePools", force=True, unordered=True),
    **rules("guestAccelerators", force=True, computed=True, api="accelerators"),
    **rules(
        "guestAccelerators.count",
        "guestAccelerators.gpuPartitionSize",
        "guestAccelerators.gpuSharingConfig",
        force=True,
    ),
    **rules("guestAccelerators.count", force=True, api="acceleratorCount"),
    **rules("guestAccelerators.type", force=True, api="acceleratorType", suppress=last_segment),
    **rules("guestAccelerators.gpuDriverInstallationConfig", force=True, computed=True),
    **rules("shieldedInstanceConfig", "confidentialNodes", force=True, computed=True),
    **rules("shieldedInstanceConfig.enableSecureBoot", "confidentialNodes.enabled", force=True),
    **rules("confidentialNodes.confidentialInstanceType", force=True),
    **rules("shieldedInstanceConfig.enableIntegrityMonitoring", force=True, default=True),
    **rules(
        "workloadMetadataConfig", "gcfsConfig", "kubeletConfig", "windowsNodeConfig", "linuxNodeConfig", computed=True
    ),
    **rules("kubeletConfig.insecureKubeletReadonlyPortEnabled", "bootDisk", "containerdConfig", computed=True),
    **rules(
        "bootDisk.diskType",
        "bootDisk.sizeGb",
        "bootDisk.provisionedIops",
        "bootDisk.provisionedThroughput",
        computed=True,
    ),
    **rules("linuxNodeConfig.cgroupMode", computed=True, suppress=empty_or("CGROUP_MODE_UNSPECIFIED")),
    **rules("linuxNodeConfig.hugepagesConfig", api="hugepages"),
    **rules("windowsNodeConfig.osversion", force=True, default="OS_VERSION_UNSPECIFIED", api="osVersion"),
    **rules("sandboxConfig", "advancedMachineFeatures", "soleTenantConfig", "hostMaintenancePolicy", force=True),
    **rules("advancedMachineFeatures.threadsPerCore", "advancedMachineFeatures.enableNestedVirtualization", force=True),
    **rules("hostMaintenancePolicy.maintenanceInterval", "secondaryBootDisks", force=True),
    **rules("secondaryBootDisks.diskImage", "secondaryBootDisks.mode", force=True),
    **rules("soleTenantConfig.nodeAffinities", force=True, unordered=True),
    **rules("ephemeralStorageConfig", "ephemeralStorageLocalSsdConfig", "localNvmeSsdBlockConfig", force=True),
    **rules("ephemeralStorageConfig.localSsdCount", "ephemeralStorageLocalSsdConfig.localSsdCount", force=True),
    **rules("localNvmeSsdBlockConfig.localSsdCount", force=True),
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
