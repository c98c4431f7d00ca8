"""Google has no machines, or no quota for them: what ends an operation in error and leaves a pool without nodes, by a fault that is
switched on or because the capacity table has no chips left.

The texts are those that users report (hashicorp/terraform-provider-google #6287 and #10121).
"""

from __future__ import annotations

from rehearsal.gcp import capacity
from rehearsal.gcp.core import ApiError, CloudState, Object
from rehearsal.gcp.machines import MACHINES, region_of
from rehearsal.gcp.nodes.shapes import node_names

_QUOTAS = {
    "ct4p": "TPUS_PER_TPU_FAMILY, dimensions: TPU_V4",
    "ct5lp": "TPU_LITE_PODSLICE_V5",
    "ct5l": "TPU_LITE_DEVICE_V5",
    "ct5p": "TPU_PODSLICE_V5",
    "ct6e": "TPUS_PER_TPU_FAMILY, dimensions: CT6E",
    "tpu7x": "TPUS_PER_TPU_FAMILY, dimensions: TPU7X",
}


def find(world: CloudState, pool: Object, method: str) -> ApiError | None:
    """The refusal of a pool of that size, or None when its chips are there and taken. A fault is used up by it."""
    machine = MACHINES[pool["config"]["machineType"]]
    zone = pool["locations"][0]
    if world.fault("stockout", method, pool["name"]):
        return _refusal(_stockout(pool, zone), "GCE_STOCKOUT")
    if world.fault("quota", method, pool["name"]):
        quota = _QUOTAS.get(machine.family, f"{machine.family.upper()}_CPUS")
        text = f"Insufficient quota to satisfy the request: Quota '{quota}' exceeded. Limit: 0.0 in region {region_of(zone)}."
        return _refusal(f"Google Compute Engine: {text}", "GCE_QUOTA_EXCEEDED")
    if machine.chips and not capacity.claim(world, pool, pool["_size"]):
        return _refusal(_stockout(pool, zone), "GCE_STOCKOUT")
    return None


def _stockout(pool: Object, zone: str) -> str:
    _, project, *_ = pool["_cluster"].split("/")
    expected = max(1, pool["_size"])
    (node, _), *_ = node_names({**pool, "_size": expected})
    return (
        f"Google Compute Engine: Not all instances running in IGM after 14.691006793s. Expected {expected}, running 0, "
        f"transitioning {expected}. Current errors: [GCE_STOCKOUT]: Instance '{node}' creation failed: The zone "
        f"'projects/{project}/zones/{zone}' does not have enough resources available to fulfill the request.  '(resource type:compute)'."
    )


def _refusal(message: str, condition: str) -> ApiError:
    return ApiError(429, message, status="RESOURCE_EXHAUSTED", reason=condition)
