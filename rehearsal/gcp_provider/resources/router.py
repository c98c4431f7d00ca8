"""Cloud Routers (mmv1 `compute/Router.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of, network_path
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules


class Router(ComputeKind):
    token = "gcp:compute/router:Router"
    collection, title, regional = "routers", "Router", True
    ids = ids_of("routers", regional=True)
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("params", "params.resourceManagerTags", write_only=True, force=True),
        **rules("network", "nccGateway", force=True, suppress=last_segment),
        **rules("name", "encryptedInterconnectRouter", force=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("region", force=True, computed=True, suppress=last_segment),
        **rules("bgp.advertiseMode", default="DEFAULT"),
        **rules("bgp.keepaliveInterval", default=20),
        **rules("bgp.identifierRange", computed=True),
        **rules("bgp.advertisedIpRanges", unordered=True),
        **rules("creationTimestamp", "selfLink", output=True),
    }

    def body(self, job: Job, inputs: Values) -> dict[str, Any]:
        body = super().body(job, inputs)
        project = job.cloud.project_of(inputs)
        if "network" in body:
            body["network"] = network_path(project, inputs["network"])
        body["region"] = f"projects/{project}/regions/{job.cloud.region_of(inputs)}"
        return body
