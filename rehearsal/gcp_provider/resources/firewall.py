"""VPC firewall rules (mmv1 `compute/Firewall.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of, network_path
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules, same_case

_LISTS = ("destinationRanges", "sourceRanges", "sourceTags", "targetTags")


class Firewall(ComputeKind):
    token = "gcp:compute/firewall:Firewall"
    collection, title = "firewalls", "Firewall"
    logs = True
    ids = ids_of("firewalls")
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("enableLogging", local=True),
        **rules("params", "params.resourceManagerTags", write_only=True, force=True),
        **rules("network", force=True, suppress=last_segment),
        **rules("name", force=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("direction", force=True, computed=True),
        **rules("allows", unordered=True, api="allowed"),
        **rules("denies", unordered=True, api="denied"),
        **rules("allows.protocol", "denies.protocol", api="IPProtocol", suppress=same_case),
        **rules("destinationRanges", "sourceRanges", computed=True, unordered=True),
        **rules("sourceServiceAccounts", "sourceTags", "targetServiceAccounts", "targetTags", unordered=True),
        **rules("disabled", zero=True),
        **rules("priority", zero=True, default=1000),
        **rules("creationTimestamp", "selfLink", output=True),
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
