"""Node pools (`google_container_node_pool`)."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, InitError, OperationError, ProviderError
from rehearsal.gcp_provider.google.rest import while_busy
from rehearsal.gcp_provider.resources import pool_body, pool_update
from rehearsal.gcp_provider.resources.gke import (
    BROKEN,
    ClusterName,
    change,
    cluster_of_path,
    pool_locked,
    rest_state,
    resume,
    wait,
)
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules

_CLUSTER = re.compile(r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<name>[^/]+)")


class NodePool(ResourceKind):
    token = "gcp:container/nodePool:NodePool"
    minutes: ClassVar[dict[str, int]] = {"create": 120, "update": 120, "delete": 120}
    ids = (
        r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<cluster>[^/]+)/nodePools/(?P<name>[^/]+)",
        r"(?P<project>[^/]+)/(?P<location>[^/]+)/(?P<cluster>[^/]+)/(?P<name>[^/]+)",
        r"(?P<location>[^/]+)/(?P<cluster>[^/]+)/(?P<name>[^/]+)",
    )
    table: ClassVar[FieldRules] = {
        **pool_body.POOL,
        **DELETION_POLICY,
        **rules("cluster", force=True, local=True),
        **rules("project", "location", force=True, computed=True, local=True),
        **rules("operation", output=True, local=True),
    }

    def faults(self, inputs: Values) -> Sequence[tuple[str, str]]:
        placement = inputs.get("placementPolicy")
        return _range_faults(inputs) if placement is None or isinstance(placement, dict) else ()

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        cluster, name = _cluster(job, inputs), _name(inputs)
        identity = f"{cluster.path}/nodePools/{name}"
        body = pool_body.request(inputs, name)
        with pool_locked(job, cluster, name):
            if job.rest.find("container", identity, job.patience) is not None:
                raise ProviderError(f"resource - {identity} - already exists")
            operation, named = self._send(job, cluster, body), {**inputs, "name": name}
            with self.accepted(job, identity, named, operation=operation["name"]):
                return self._made(job, cluster, identity, named, self._finish(job, cluster, operation))

    def _made(
        self, job: Job, cluster: ClusterName, identity: str, inputs: Values, failure: OperationError | None
    ) -> tuple[str, dict[str, Any]]:
        """What a create call left: nothing, a pool, or a broken one that has to be known to be cleaned up."""
        if failure is not None and job.rest.find("container", identity, job.patience) is None:
            raise failure
        outputs = self.read(job, identity, inputs)
        if outputs is None:
            raise ProviderError(f"node pool {identity} was created but is not there")
        status = rest_state(job, identity, "NodePool")["status"]
        if status in BROKEN:
            reason = f'NodePool {inputs["name"]} was created in the error state "{status}"'
            raise InitError(identity, outputs, reason if failure is None else f"{reason}: {failure}")
        return identity, outputs

    def _send(self, job: Job, cluster: ClusterName, body: dict[str, Any]) -> dict[str, Any]:
        path = f"{cluster.path}/nodePools"
        try:
            return while_busy(
                lambda: job.rest.call("container", "POST", path, {"nodePool": body}, job.patience), job.patience
            )
        except GoogleError as error:
            raise ProviderError(f"error creating NodePool: {error}") from error

    def _finish(self, job: Job, cluster: ClusterName, operation: dict[str, Any]) -> OperationError | None:
        """A stock-out fails the operation and leaves a pool: that has to get into the state."""
        try:
            wait(job, cluster, operation, "creating GKE NodePool")
        except OperationError as error:
            return error
        return None

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        cluster, name = cluster_of_path(identity), identity.rsplit("/", 1)[-1]
        resume(job, cluster, known)
        listed = job.rest.find("container", f"{cluster.path}/nodePools", job.patience)
        pools = [] if listed is None else listed.get("nodePools", [])
        pool = next((entry for entry in pools if entry["name"] == name), None)
        if pool is None:
            return None
        read = pool_body.properties_of(job, pool, known)
        place = {"project": cluster.project, "location": cluster.location}
        return {**self.complete({"cluster": cluster.name, **known}, read), **place, "operation": ""}

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        cluster, name = cluster_of_path(identity), identity.rsplit("/", 1)[-1]
        rest_state(job, identity, "NodePool")
        for call in pool_update.calls(name, inputs, changed):
            path = cluster.path if call.target == pool_update.OF_THE_CLUSTER else f"{identity}{call.target}"
            with pool_locked(job, cluster, name):
                change(job, cluster, call.verb, path, call.body, call.activity)
        rest_state(job, cluster.path, "Cluster")
        rest_state(job, identity, "NodePool")
        outputs = self.read(job, identity, self.known(state, inputs))
        if outputs is None:
            raise ProviderError(f"node pool {identity} is gone")
        return outputs

    def delete(self, job: Job, identity: str, state: Values) -> None:
        cluster, name = cluster_of_path(identity), identity.rsplit("/", 1)[-1]
        try:
            rest_state(job, identity, "NodePool")
            with pool_locked(job, cluster, name):
                self._delete(job, cluster, identity)
        except GoogleError as error:
            if not error.is_missing:
                raise ProviderError(f"Error deleting NodePool: {error}") from error

    def _delete(self, job: Job, cluster: ClusterName, identity: str) -> None:
        operation = while_busy(
            lambda: job.rest.call("container", "DELETE", identity, patience=job.patience), job.patience
        )
        wait(job, cluster, operation, "deleting GKE NodePool")


def _cluster(job: Job, values: Values) -> ClusterName:
    """The cluster that a pool names: by its id, or by its name in the pool's own project and location."""
    match = _CLUSTER.search(str(values["cluster"]))
    if match is not None:
        return ClusterName(match["project"], match["location"], match["name"])
    return ClusterName(job.cloud.project_of(values), job.cloud.location_of(values), values["cluster"])


def _name(values: Values) -> str:
    if values.get("name"):
        return str(values["name"])
    stem = values.get("namePrefix")
    return f"{stem if stem else 'terraform-'}{time.strftime('%Y%m%d%H%M%S')}{secrets.token_hex(4)}"


def _range_faults(inputs: Values) -> list[tuple[str, str]]:
    """Numbers that the schema's own validation refuses."""
    limits = inputs.get("autoscaling")
    named = [("nodeCount", inputs.get("nodeCount"))]
    if isinstance(limits, dict):
        keys = ("minNodeCount", "maxNodeCount", "totalMinNodeCount", "totalMaxNodeCount")
        named += [(f"autoscaling.{key}", limits.get(key)) for key in keys]
    return [
        (path, f"expected {path} to be at least (0), got {value}")
        for path, value in named
        if isinstance(value, int) and value < 0
    ]
