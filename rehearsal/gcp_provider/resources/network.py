"""VPC networks (mmv1 `compute/Network.yaml`)."""

from __future__ import annotations

from typing import Any, ClassVar

from rehearsal.gcp_provider.kind import DELETION_POLICY, Job, Values
from rehearsal.gcp_provider.resources.compute import ComputeKind, ids_of
from rehearsal.gcp_provider.rules import Rules, rules


class Network(ComputeKind):
    token = "gcp:compute/network:Network"
    collection, title = "networks", "Network"
    ids = ids_of("networks")
    table: ClassVar[Rules] = {
        **DELETION_POLICY,
        **rules("local", "deleteDefaultRoutesOnCreate", default=False),
        **rules("local", "deleteBgpAlwaysCompareMed", default=False),
        **rules("write_only force", "params", "params.resourceManagerTags"),
        **rules("force computed local", "project"),
        **rules("force computed", "mtu", "internalIpv6Range"),
        **rules("force", "name", "description", "enableUlaInternalIpv6", "networkProfile"),
        **rules("force zero", "autoCreateSubnetworks", default=True),
        **rules("computed", "routingMode", api="routingConfig.routingMode"),
        **rules("computed", "bgpBestPathSelectionMode", api="routingConfig.bgpBestPathSelectionMode"),
        **rules("computed", "bgpAlwaysCompareMed", api="routingConfig.bgpAlwaysCompareMed"),
        **rules("computed", "bgpInterRegionCost", api="routingConfig.bgpInterRegionCost"),
        **rules("", "networkFirewallPolicyEnforcementOrder", default="AFTER_CLASSIC_FIREWALL"),
        **rules("output", "gatewayIpv4", api="gatewayIPv4"),
        **rules("output", "numericId", "networkId", api="id"),
        **rules("output", "selfLink"),
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
