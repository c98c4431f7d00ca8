"""Which RayClusters are let in: a worker group on TPUs must have as many hosts as its topology."""

from __future__ import annotations

from rehearsal.gke.ray.webhook.shared import TOPOLOGY, Object, Refused, chips, hosts

MISMATCH = "Number of workers in worker group not equal to specified topology"


def refusal(ray_cluster: Object) -> str:
    """Why a RayCluster is denied, or "". Raises Refused where the webhook itself fails."""
    groups = ray_cluster["spec"].get("workerGroupSpecs") or []
    return MISMATCH if any(not _matches(group) for group in groups) else ""


def _matches(group: Object) -> bool:
    spec = group["template"]["spec"]
    containers = spec.get("containers") or []
    if containers and not chips(containers):
        return True
    wanted = int(group.get("numOfHosts", 1))
    if wanted == 0:
        raise Refused("workerGroupSpec NumOfHosts not set")
    if not containers:
        raise Refused("Container path not specified")
    topology = (spec.get("nodeSelector") or {}).get(TOPOLOGY, "")
    if not topology:
        raise Refused("TPU topology not specified")
    return hosts(topology, chips(containers)) == wanted
