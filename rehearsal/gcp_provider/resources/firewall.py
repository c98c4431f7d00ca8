"""VPC firewall rules (mmv1 `compute/Firewall.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of, network_path
from rehearsal.gcp_provider.rules import Rules, last_segment, rules, same_case

_LISTS = ("destinationRanges", "sourceRanges", "sourceTags", "targetTags")


class Firewall(ComputeKind):
    token = "gcp:compute/firewall:Firewall"
    collection, title = "firewalls", "Firewall"
    logs = True
    ids = ids_of("firewalls")
    table: ClassVar[Rules] = {
        **DELETION_POLICY,
        **rules("local", "enableLogging"),
        **rules("write_only force", "params", "params.resourceManagerTags"),
        **rules("force", "network", suppress=last_segment),
        **rules("force", "name"),
        **rules("force computed local", "project"),
        **rules("force computed", "direction"),
        **rules("unordered", "allows", api="allowed"),
        **rules("unordered", "denies", api="denied"),
        **rules("", "allows.protocol", "denies.protocol", api="IPProtocol", suppress=same_case),
        **rules("computed unordered", "destinationRanges", "sourceRanges"),
        **rules("unordered", "sourceServiceAccounts", "sourceTags", "targetServiceAccounts", "targetTags"),
        **rules("zero", "disabled"),
        **rules("zero", "priority", default=1000),
        **rules("output", "creationTimestamp", "selfLink"),
    }

    def body(self, job: Job, inputs: Values) -> dict[str, Any]:
        body = super().body(job, inputs)
        body["network"] = network_path(job.cloud.project_of(inputs), inputs["network"])
        log = inputs.get("logConfig")
        body["logConfig"] = {"enable": False} if log is None else {"enable": True, **body.get("logConfig", {})}
        return body

    def steps(
        self, job: Job, identity: str, state: Values, inputs: Values, tops: set[str]
    ) -> list[tuple[str, str, Any]]:
        """A list that the program no longer states has to be sent empty, or it stays."""
        body = self.body(job, inputs)
        for name in _LISTS:
            if name in tops and not inputs.get(name):
                body[name] = []
        return [(identity, "PATCH", body)]
