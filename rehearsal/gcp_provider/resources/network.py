"""VPC networks (mmv1 `compute/Network.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules


class Network(ComputeKind):
    token = "gcp:compute/network:Network"
    collection, title = "networks", "Network"
    ids = ids_of("networks")
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("deleteDefaultRoutesOnCreate", local=True, default=False),
        **rules("deleteBgpAlwaysCompareMed", local=True, default=False),
        **rules("params", "params.resourceManagerTags", write_only=True, force=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("mtu", "internalIpv6Range", force=True, computed=True),
        **rules("name", "description", "enableUlaInternalIpv6", "networkProfile", force=True),
        **rules("autoCreateSubnetworks", force=True, zero=True, default=True),
        **rules("routingMode", computed=True, api="routingConfig.routingMode"),
        **rules("bgpBestPathSelectionMode", computed=True, api="routingConfig.bgpBestPathSelectionMode"),
        **rules("bgpAlwaysCompareMed", computed=True, api="routingConfig.bgpAlwaysCompareMed"),
        **rules("bgpInterRegionCost", computed=True, api="routingConfig.bgpInterRegionCost"),
        **rules("networkFirewallPolicyEnforcementOrder", default="AFTER_CLASSIC_FIREWALL"),
        **rules("gatewayIpv4", output=True, api="gatewayIPv4"),
        **rules("numericId", "networkId", output=True, api="id"),
        **rules("selfLink", output=True),
    }

    def outputs(self, job: Job, known: Values, found: dict[str, Any]) -> dict[str, Any]:
        return {**super().outputs(job, known, found), "numericId": str(found.get("id", ""))}

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        identity, outputs = super().create(job, inputs)
        if inputs.get("deleteDefaultRoutesOnCreate"):
            self._delete_default_routes(job, outputs)
        return identity, outputs

    def _delete_default_routes(self, job: Job, outputs: Values) -> None:
        """The route to the internet that each network is made with."""
        routes = f"projects/{outputs['project']}/global/routes"
        link = outputs["selfLink"]
        query = f'(network="{link}") AND (destRange="0.0.0.0/0")'
        for route in job.rest.call("compute", "GET", routes, patience=job.patience, filter=query).get("items", []):
            self._await(
                job,
                job.rest.call("compute", "DELETE", f"{routes}/{route['name']}"),
                outputs,
                "Deleting Route",
                "delete",
            )
