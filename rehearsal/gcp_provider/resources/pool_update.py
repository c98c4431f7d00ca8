"""How a node pool changes in place: one call per part, in the real provider's order (`nodePoolUpdate`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rehearsal.gcp_provider.errors import ProviderError
from rehearsal.gcp_provider.resources.gke import ClusterCall
from rehearsal.gcp_provider.resources.pool_body import request
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import Values
from rehearsal.gcp_provider.terraform.mapping import DEFAULTS, look

OF_THE_CLUSTER = "cluster"
"""The target of a call that is made on the pool's cluster."""


def calls(name: str, inputs: Values, changed: Sequence[FieldChange]) -> Iterator[ClusterCall]:
    body = request({**inputs, "initialNodeCount": None}, name)
    paths = [change.path for change in changed]
    if _touches(paths, "autoscaling"):
        yield _autoscaling(name, body)
    if _touches(paths, "nodeConfig"):
        yield from _node_config(name, inputs, body, paths)
    if _touches(paths, "nodeCount"):
        yield ClusterCall("POST", ":setSize", {"nodeCount": _count(inputs)}, "updating GKE node pool size")
    if _touches(paths, "management"):
        stated = {key: bool(look(inputs, f"management.{key}")) for key in ("autoRepair", "autoUpgrade")}
        yield ClusterCall("POST", ":setManagement", {"management": stated}, "updating GKE node pool management")
    if _touches(paths, "version"):
        yield ClusterCall(
            "PUT", "", {"nodePoolId": name, "nodeVersion": inputs["version"]}, "updating GKE node pool version"
        )
    if _touches(paths, "nodeLocations"):
        yield ClusterCall("PUT", "", {"locations": inputs["nodeLocations"]}, "updating GKE node pool node locations")
    if _touches(paths, "upgradeSettings"):
        yield ClusterCall(
            "PUT", "", {"upgradeSettings": _upgrade(inputs, body)}, "updating GKE node pool upgrade settings"
        )
    if _touches(paths, "networkConfig"):
        yield ClusterCall(
            "PUT",
            "",
            {"nodePoolId": name, "nodeNetworkConfig": body["networkConfig"]},
            "updating GKE node pool network_config",
        )
    if _touches(paths, "nodeDrainConfigs"):
        yield ClusterCall(
            "PUT", "", {"nodeDrainConfig": body.get("nodeDrainConfig", {})}, "updating GKE node pool node_drain_config"
        )
    if _touches(paths, "maintenancePolicies"):
        yield ClusterCall(
            "PUT",
            "",
            {"maintenancePolicy": body.get("maintenancePolicy", {})},
            "updating GKE node pool maintenance policy",
        )


def _touches(paths: Sequence[str], name: str) -> bool:
    return any(path == name or path.startswith((f"{name}.", f"{name}[")) for path in paths)


def _count(inputs: Values) -> int:
    count = inputs.get("nodeCount")
    if count is None:
        raise ProviderError("node_count: not stated, so there is nothing to set")
    return int(count)


def _autoscaling(name: str, body: dict[str, Any]) -> ClusterCall:
    wanted = body.get("autoscaling", {"enabled": False})
    update = {"desiredNodePoolId": name, "desiredNodePoolAutoscaling": wanted}
    return ClusterCall("PUT", OF_THE_CLUSTER, {"update": update}, "updating GKE node pool")


def _upgrade(inputs: Values, body: dict[str, Any]) -> dict[str, Any]:
    if not inputs.get("upgradeSettings"):
        return {}
    return dict(body["upgradeSettings"])


_Part = Callable[[Values, dict[str, Any]], dict[str, Any]]


def _whole(name: str) -> _Part:
    return lambda stated, sent: {name: sent.get(name, {})}


_MACHINE = ("diskSizeGb", "diskType", "machineType", "storagePools", "bootDisk")
_PARTS: dict[str, _Part] = {
    "containerdConfig": _whole("containerdConfig"),
    "gcfsConfig": _whole("gcfsConfig"),
    "gvnic": _whole("gvnic"),
    "fastSocket": _whole("fastSocket"),
    "imageType": lambda stated, sent: {"imageType": sent.get("imageType", "")},
    "kubeletConfig": _whole("kubeletConfig"),
    "labels": lambda stated, sent: {"labels": {"labels": sent.get("labels", {})}},
    "linuxNodeConfig": _whole("linuxNodeConfig"),
    "loggingVariant": _whole("loggingConfig"),
    "resourceLabels": lambda stated, sent: {"resourceLabels": {"labels": sent.get("resourceLabels", {})}},
    "resourceManagerTags": _whole("resourceManagerTags"),
    "tags": lambda stated, sent: {"tags": {"tags": sent.get("tags", [])}},
    "taints": lambda stated, sent: {"taints": {"taints": sent.get("taints", [])}},
    "windowsNodeConfig": _whole("windowsNodeConfig"),
    "workloadMetadataConfig": _whole("workloadMetadataConfig"),
}


def _node_config(name: str, inputs: Values, body: dict[str, Any], paths: Sequence[str]) -> Iterator[ClusterCall]:
    """Each part of the nodes' configuration is a call; machine and disk go in one (`nodePoolNodeConfigUpdate`)."""
    stated, sent = inputs.get("nodeConfig", {}), body["config"]
    stated = {key: value for key, value in stated.items() if key != DEFAULTS}
    if any(_touches(paths, f"nodeConfig.{part}") for part in _MACHINE):
        machine = {part: sent[part] for part in _MACHINE if part in sent}
        if "diskSizeGb" in machine:
            machine["diskSizeGb"] = str(machine["diskSizeGb"])
        yield ClusterCall(
            "PUT", "", {"nodePoolId": name, **machine}, "updating GKE node pool disk_size_gb/disk_type/machine_type"
        )
    for part, make in _PARTS.items():
        if _touches(paths, f"nodeConfig.{part}"):
            yield ClusterCall("PUT", "", {"nodePoolId": name, **make(stated, sent)}, f"updating GKE node pool {part}")
