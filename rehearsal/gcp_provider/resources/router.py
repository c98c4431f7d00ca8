"""Cloud Routers (mmv1 `compute/Router.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of, network_path
from rehearsal.gcp_provider.rules import Rules, last_segment, rules


class Router(ComputeKind):
    token = "gcp:compute/router:Router"
    collection, title, regional = "routers", "Router", True
    ids = ids_of("routers", regional=True)
    table: ClassVar[Rules] = {
        **DELETION_POLICY,
        **rules("write_only force", "params", "params.resourceManagerTags"),
        **rules("force", "network", "nccGateway", suppress=last_segment),
        **rules("force", "name", "encryptedInterconnectRouter"),
        **rules("force computed local", "project"),
        **rules("force computed", "region", suppress=last_segment),
        **rules("", "bgp.advertiseMode", default="DEFAULT"),
        **rules("", "bgp.keepaliveInterval", default=20),
        **rules("computed", "bgp.identifierRange"),
        **rules("unordered", "bgp.advertisedIpRanges"),
        **rules("output", "creationTimestamp", "selfLink"),
    }

    def body(self, job: Job, inputs: Values) -> dict[str, Any]:
        body = super().body(job, inputs)
        project = job.cloud.project_of(inputs)
        if "network" in body:
            body["network"] = network_path(project, inputs["network"])
        body["region"] = f"projects/{project}/regions/{job.cloud.region_of(inputs)}"
        return body
