"""NAT gateways: entries in a router's list `nats`, changed by patching the router (mmv1 `compute/RouterNat.yaml`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.google.operations import await_compute
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import expand, flatten
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules

Nats = list[dict[str, Any]]


class RouterNat(ResourceKind):
    token = "gcp:compute/routerNat:RouterNat"
    ids = (
        r"projects/(?P<project>[^/]+)/regions/(?P<region>[^/]+)/routers/(?P<router>[^/]+)/(?P<name>[^/]+)",
        r"(?P<project>[^/]+)/(?P<region>[^/]+)/(?P<router>[^/]+)/(?P<name>[^/]+)",
        r"(?P<region>[^/]+)/(?P<router>[^/]+)/(?P<name>[^/]+)",
        r"(?P<router>[^/]+)/(?P<name>[^/]+)",
    )
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("router", force=True, local=True, suppress=last_segment),
        **rules("name", force=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("region", force=True, computed=True, local=True, suppress=last_segment),
        **rules("initialNatIps", write_only=True, force=True, unordered=True, api="natIps"),
        **rules("subnetworks.sourceIpRangesToNats", unordered=True, api="sourceIpRangesToNat"),
        **rules("endpointTypes", force=True, computed=True),
        **rules("type", force=True, default="PUBLIC"),
        **rules("autoNetworkTier", "drainNatIps", "minPortsPerVm", "sourceSubnetworkIpRangesToNat64", computed=True),
        **rules("enableDynamicPortAllocation", "enableEndpointIndependentMapping", computed=True, zero=True),
        **rules("natIps", "rules", "subnetworks", "nat64Subnetworks", unordered=True),
        **rules("icmpIdleTimeoutSec", "tcpTransitoryIdleTimeoutSec", "udpIdleTimeoutSec", default=30),
        **rules("tcpEstablishedIdleTimeoutSec", default=1200),
        **rules("tcpTimeWaitTimeoutSec", default=120),
        **rules("logConfig.enable", zero=True),
    }

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        router, name = self._router(job, inputs), inputs["name"]
        identity = f"{router}/{name}"

        def added(nats: Nats) -> Nats:
            if any(nat["name"] == name for nat in nats):
                raise ProviderError(f"Error creating RouterNat: cannot create RouterNat, it already exists: {identity}")
            return [*nats, self._body(inputs)]

        self._patch(job, router, inputs, added, "Error creating RouterNat", self.accepted(job, identity, inputs))
        outputs = self.read(job, identity, inputs)
        if outputs is None:
            raise ProviderError(f"RouterNat {identity} was created but is not there")
        return identity, outputs

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        router, _, name = identity.rpartition("/")
        found = job.rest.find("compute", router, job.patience)
        nats: Nats = [] if found is None else found.get("nats", [])
        for nat in nats:
            if nat["name"] == name:
                place = {
                    "project": job.cloud.project_of(known),
                    "region": job.cloud.region_of(known),
                    "router": router.rsplit("/", 1)[-1],
                }
                return {**self.complete(known, self._defaulted(flatten(self.types.outputs, nat, self.table))), **place}
        return None

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        router, _, name = identity.rpartition("/")

        def replaced(nats: Nats) -> Nats:
            return [self._body(inputs) if nat["name"] == name else nat for nat in nats]

        self._patch(job, router, state, replaced, "Error updating RouterNat")
        outputs = self.read(job, identity, self.known(state, inputs))
        if outputs is None:
            raise ProviderError(f"RouterNat {identity} is gone")
        return outputs

    def delete(self, job: Job, identity: str, state: Values) -> None:
        router, _, name = identity.rpartition("/")
        if self.read(job, identity, state) is not None:
            self._patch(
                job,
                router,
                state,
                lambda nats: [nat for nat in nats if nat["name"] != name],
                "Error deleting RouterNat",
            )

    def _router(self, job: Job, inputs: Values) -> str:
        project, region = job.cloud.project_of(inputs), job.cloud.region_of(inputs)
        return f"projects/{project}/regions/{region}/routers/{str(inputs['router']).rsplit('/', 1)[-1]}"

    def _body(self, inputs: Values) -> dict[str, Any]:
        return expand(self.types.inputs, inputs, self.table)

    def _defaulted(self, read: dict[str, Any]) -> dict[str, Any]:
        """Timeouts that the API leaves out are the API's defaults, which the schema states."""
        return {
            name: self.table[name].default if value == 0 and name in self.table and self.table[name].default else value
            for name, value in read.items()
        }

    def _patch(
        self,
        job: Job,
        router: str,
        values: Values,
        change: Callable[[Nats], Nats],
        failure: str,
        waiting: AbstractContextManager[None] = nullcontext(),  # noqa: B008 it holds nothing and can be entered again
    ) -> None:
        """One at a time per router: the list is read and written whole. `waiting` is around what follows its acceptance."""
        project = job.cloud.project_of(values)
        with job.cloud.locks.alone(f"router/{router}"):
            try:
                nats = change(job.rest.call("compute", "GET", router, patience=job.patience).get("nats", []))
                operation = job.rest.call("compute", "PATCH", router, {"nats": nats}, job.patience)
            except GoogleError as error:
                raise ProviderError(f"{failure}: {error}") from error
            with waiting:
                await_compute(job.rest, operation, project, "Updating Router", job.patience)
