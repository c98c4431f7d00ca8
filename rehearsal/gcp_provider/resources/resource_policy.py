"""Resource policies: placement of TPU slices and machines, schedules (mmv1 `compute/ResourcePolicy.yaml`)."""

from __future__ import annotations

from typing import ClassVar

from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules


class ResourcePolicy(ComputeKind):
    token = "gcp:compute/resourcePolicy:ResourcePolicy"
    collection, title, regional = "resourcePolicies", "ResourcePolicy", True
    ids = ids_of("resourcePolicies", regional=True)
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("name", "description", "instanceSchedulePolicy", "diskConsistencyGroupPolicy", force=True),
        **rules("groupPlacementPolicy", "workloadPolicy", force=True),
        # Its being there says all.
        **rules("diskConsistencyGroupPolicy.enabled", force=True, local=True),
        **rules("groupPlacementPolicy.collocation", "groupPlacementPolicy.availabilityDomainCount", force=True),
        **rules("groupPlacementPolicy.gpuTopology", force=True),
        **rules("groupPlacementPolicy.vmCount", force=True),
        **rules(
            "workloadPolicy.acceleratorTopology",
            "workloadPolicy.maxTopologyDistance",
            "workloadPolicy.type",
            force=True,
        ),
        **rules("project", force=True, computed=True, local=True),
        # Of the beta API only.
        **rules("groupPlacementPolicy.maxDistance", "groupPlacementPolicy.tpuTopology", unsupported=True),
        **rules("region", force=True, computed=True, suppress=last_segment),
        **rules("selfLink", output=True),
    }
