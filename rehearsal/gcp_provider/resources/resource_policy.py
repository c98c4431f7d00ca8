"""Resource policies: placement of TPU slices and machines, schedules (mmv1 `compute/ResourcePolicy.yaml`)."""

from __future__ import annotations

from typing import ClassVar

from rehearsal.gcp_provider.kind import DELETION_POLICY
from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of
from rehearsal.gcp_provider.rules import Rules, last_segment, rules


class ResourcePolicy(ComputeKind):
    token = "gcp:compute/resourcePolicy:ResourcePolicy"
    collection, title, regional = "resourcePolicies", "ResourcePolicy", True
    ids = ids_of("resourcePolicies", regional=True)
    table: ClassVar[Rules] = {
        **DELETION_POLICY,
        **rules("force", "name", "description", "instanceSchedulePolicy", "diskConsistencyGroupPolicy"),
        **rules("force", "groupPlacementPolicy", "workloadPolicy"),
        # Its being there says all.
        **rules("force local", "diskConsistencyGroupPolicy.enabled"),
        **rules("force", "groupPlacementPolicy.collocation", "groupPlacementPolicy.availabilityDomainCount"),
        **rules("force", "groupPlacementPolicy.gpuTopology"),
        **rules("force", "groupPlacementPolicy.vmCount"),
        **rules(
            "force", "workloadPolicy.acceleratorTopology", "workloadPolicy.maxTopologyDistance", "workloadPolicy.type"
        ),
        **rules("force computed local", "project"),
        # Of the beta API only.
        **rules("unplayed", "groupPlacementPolicy.maxDistance", "groupPlacementPolicy.tpuTopology"),
        **rules("force computed", "region", suppress=last_segment),
        **rules("output", "selfLink"),
    }
