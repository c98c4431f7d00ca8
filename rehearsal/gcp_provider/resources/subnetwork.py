"""Subnetworks (mmv1 `compute/Subnetwork.yaml`): three of their fields have calls of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_network
from typing import Any, ClassVar

from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of, network_path
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules


class Subnetwork(ComputeKind):
    token = "gcp:compute/subnetwork:Subnetwork"
    collection, title, regional = "subnetworks", "Subnetwork", True
    logs = True
    ids = ids_of("subnetworks", regional=True)
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("sendSecondaryIpRangeIfEmpty", local=True),
        **rules("params", "params.resourceManagerTags", write_only=True, force=True),
        **rules("network", force=True, suppress=last_segment),
        **rules("name", "description", "ipCollection", "reservedInternalRange", "ipv6AccessType", force=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("externalIpv6Prefix", "internalIpv6Prefix", force=True, computed=True),
        **rules("region", force=True, computed=True, suppress=last_segment),
        **rules(
            "ipCidrRange", "privateIpv6GoogleAccess", "privateIpGoogleAccess", "stackType", "purpose", computed=True
        ),
        **rules("resolveSubnetMask", "allowSubnetCidrRoutesOverlap", computed=True),
        # Not stated, GKE's own ranges in it are none of the program's business (Optional and Computed).
        **rules("secondaryIpRanges", computed=True),
        **rules("secondaryIpRanges.ipCidrRange", computed=True),
        **rules("secondaryIpRanges.reservedInternalRange"),
        **rules("logConfig.flowSampling", zero=True, default=0.5),
        **rules("logConfig.aggregationInterval", default="INTERVAL_5_SEC"),
        **rules("logConfig.metadata", default="INCLUDE_ALL_METADATA"),
        **rules("logConfig.filterExpr", default="true"),
        **rules("logConfig.metadataFields", unordered=True),
        **rules("creationTimestamp", "fingerprint", "gatewayAddress", "ipv6CidrRange", "ipv6GceEndpoint", output=True),
        **rules("selfLink", "state", output=True),
        **rules("subnetworkId", output=True, api="id"),
    }

    def adjusted(self, changed: Sequence[FieldChange], state: Values, inputs: Values) -> Sequence[FieldChange]:
        """A range can grow in place; anything else replaces."""
        old, new = state.get("ipCidrRange"), inputs.get("ipCidrRange")
        return [
            replace(change, force=True) if change.path == "ipCidrRange" and shrinks(str(old), str(new)) else change
            for change in changed
        ]

    def body(self, job: Job, inputs: Values) -> dict[str, Any]:
        body = super().body(job, inputs)
        body["network"] = network_path(job.cloud.project_of(inputs), inputs["network"])
        body["region"] = job.cloud.region_of(inputs)
        body.setdefault("privateIpGoogleAccess", False)
        if "logConfig" in body:
            body["logConfig"] = {"enable": True, **body["logConfig"]}
        return body

    def steps(
        self, job: Job, identity: str, state: Values, inputs: Values, tops: set[str]
    ) -> Sequence[tuple[str, str, Any]]:
        calls: list[tuple[str, str, Any]] = []
        if "ipCidrRange" in tops:
            calls.append((f"{identity}/expandIpCidrRange", "POST", {"ipCidrRange": inputs["ipCidrRange"]}))
        if "privateIpGoogleAccess" in tops:
            wanted = bool(inputs.get("privateIpGoogleAccess"))
            calls.append((f"{identity}/setPrivateIpGoogleAccess", "POST", {"privateIpGoogleAccess": wanted}))
        if tops & {"secondaryIpRanges", "logConfig", "stackType", "privateIpv6GoogleAccess", "role", "purpose"}:
            found = job.rest.call("compute", "GET", identity, patience=job.patience)
            calls.append((identity, "PATCH", self._patch(job, inputs, found["fingerprint"])))
        return calls

    def _patch(self, job: Job, inputs: Values, fingerprint: str) -> dict[str, Any]:
        body = self.body(job, inputs)
        names = ("secondaryIpRanges", "logConfig", "stackType", "privateIpv6GoogleAccess", "role", "purpose")
        patch = {name: body[name] for name in names if name in body}
        if not inputs.get("secondaryIpRanges") and inputs.get("sendSecondaryIpRangeIfEmpty"):
            patch["secondaryIpRanges"] = []
        patch.setdefault("logConfig", {"enable": False})
        return {"fingerprint": fingerprint, **patch}


def shrinks(old: str, new: str) -> bool:
    """Whether a range cannot grow into another in place: then the subnetwork is replaced (IsShrinkageIpCidr)."""
    try:
        return not ip_network(new, strict=False).supernet_of(ip_network(old, strict=False))  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return True
