"""GKE clusters (`google_container_cluster`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, InitError, OperationError, ProviderError
from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.google.rest import while_busy
from rehearsal.gcp_provider.resources import cluster_body, cluster_update
from rehearsal.gcp_provider.resources.cluster_table import CLUSTER
from rehearsal.gcp_provider.resources.gke import (
    BROKEN,
    ClusterCall,
    ClusterName,
    change,
    cluster_locked,
    cluster_of_path,
    rest_state,
    resume,
    wait,
)
from rehearsal.gcp_provider.terraform.diff import FieldChange, Verb
from rehearsal.gcp_provider.terraform.kind import Autoname, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import look
from rehearsal.gcp_provider.terraform.rules import FieldRules

PROTECTED = "Cannot destroy cluster because deletion_protection is set to true. Set it to false to proceed with cluster deletion."


class Cluster(ResourceKind):
    token = cluster_body.TOKEN
    autoname = Autoname(limit=40)
    minutes: ClassVar[dict[str, int]] = {"create": 40, "update": 60, "delete": 40}
    ids = (
        r"projects/(?P<project>[^/]+)/locations/(?P<location>[^/]+)/clusters/(?P<name>[^/]+)",
        r"(?P<project>[^/]+)/(?P<location>[^/]+)/(?P<name>[^/]+)",
        r"(?P<location>[^/]+)/(?P<name>[^/]+)",
    )
    table: ClassVar[FieldRules] = CLUSTER

    def faults(self, inputs: Values) -> Sequence[tuple[str, str]]:
        return [*_name_faults(inputs.get("name")), *_autopilot_conflicts(inputs)]

    def excluded(self, inputs: Values) -> Sequence[str]:
        return () if inputs.get("enableAutopilot") is None else _NOT_WITH_AUTOPILOT

    def effective(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        """The provider's own labels are labels of the cluster too."""
        wanted = super().effective(cloud, inputs)
        stated = wanted.get("resourceLabels", {})
        if isinstance(stated, Mapping):
            wanted["pulumiLabels"] = {**cloud.default_labels, **stated}
        return wanted

    def adjusted(self, changed: Sequence[FieldChange], state: Values, inputs: Values) -> Sequence[FieldChange]:
        """What the control plane's version has reached is no difference. The provider's default labels may be one."""
        result = [entry for entry in changed if entry.top != "minMasterVersion" or _above(inputs, state)]
        if inputs.get("enableAutopilot"):
            result = [entry for entry in result if not entry.path.startswith(_AUTOPILOTS_OWN)]
        there, labels = state.get("pulumiLabels"), inputs.get("pulumiLabels")
        told = any(entry.top == "resourceLabels" for entry in result)
        if not told and labels is not None and labels != ({} if there is None else there):
            result.append(FieldChange("pulumiLabels", Verb.UPDATE, force=False))
        return result

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        cluster = ClusterName(job.cloud.project_of(inputs), job.cloud.location_of(inputs), inputs["name"])
        _, labels = cluster_body.labels_of(job, inputs)
        body = {"cluster": cluster_body.request(job, inputs, labels)}
        with cluster_locked(job, cluster):
            operation = job.rest.call("container", "POST", f"{cluster.parent}/clusters", body, job.patience)
            # What is not done yet is not in the state of a cancelled creation: it differs, and the next update does it.
            undone = {name: value for name, value in inputs.items() if name != "removeDefaultNodePool"}
            with self.accepted(job, cluster.path, undone, operation=operation["name"]):
                failure = self._finish(job, cluster, operation)
                if failure is None and inputs.get("removeDefaultNodePool"):
                    self._remove_default_pool(job, cluster, inputs)
                return self._made(job, cluster, inputs, failure)

    def _made(
        self, job: Job, cluster: ClusterName, inputs: Values, failure: OperationError | None
    ) -> tuple[str, dict[str, Any]]:
        """What a create call left: nothing, a cluster, or a broken one that has to be known to be cleaned up."""
        outputs = self.read(job, cluster.path, inputs)
        if outputs is None:
            raise (
                failure
                if failure is not None
                else ProviderError(f"cluster {cluster.path} was created but is not there")
            )
        if failure is not None:
            raise InitError(cluster.path, outputs, str(failure))
        status = rest_state(job, cluster.path, "Cluster")["status"]
        if status in BROKEN:
            raise InitError(cluster.path, outputs, f'Cluster {cluster.name} was created in the error state "{status}"')
        return cluster.path, outputs

    def _finish(self, job: Job, cluster: ClusterName, operation: dict[str, Any]) -> OperationError | None:
        try:
            wait(job, cluster, operation, "creating GKE cluster")
        except OperationError as error:
            return error
        return None

    def _remove_default_pool(self, job: Job, cluster: ClusterName, inputs: Values) -> None:
        path = f"{cluster.path}/nodePools/default-pool"
        with _initialised(self, job, cluster, inputs, "Error deleting default node pool"):
            operation = while_busy(
                lambda: job.rest.call("container", "DELETE", path, patience=job.patience), job.patience
            )
            wait(job, cluster, operation, "removing default node pool")

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        cluster = cluster_of_path(identity)
        resume(job, cluster, known)
        found = job.rest.find("container", identity, job.patience)
        if found is None:
            return None
        read = cluster_body.properties_of(job, found, known)
        place = {"project": cluster.project, "location": found.get("location", cluster.location), "operation": ""}
        outputs = {**self.complete(known, read), **place}
        return {name: value for name, value in outputs.items() if value is not None}

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        cluster, tops = cluster_of_path(identity), {entry.top for entry in changed}
        rest_state(job, identity, "Cluster")
        with cluster_locked(job, cluster):
            for call in [
                *cluster_update.calls(job, inputs, tops),
                *self._stateful_calls(job, identity, state, inputs, tops),
            ]:
                change(job, cluster, call.verb, f"{identity}{call.target}", call.body, call.activity)
            if "removeDefaultNodePool" in tops and inputs.get("removeDefaultNodePool"):
                self._remove_if_there(job, cluster, inputs)
        rest_state(job, identity, "Cluster")
        outputs = self.read(job, identity, self.known(state, inputs))
        if outputs is None:
            raise ProviderError(f"cluster {identity} is gone")
        return outputs

    def _remove_if_there(self, job: Job, cluster: ClusterName, inputs: Values) -> None:
        if job.rest.find("container", f"{cluster.path}/nodePools/default-pool", job.patience) is not None:
            self._remove_default_pool(job, cluster, inputs)

    def _stateful_calls(
        self, job: Job, identity: str, state: Values, inputs: Values, tops: set[str]
    ) -> Iterator[ClusterCall]:
        """Calls that depend on what is there now."""
        if "nodeLocations" in tops:
            yield self._locations(identity, inputs)
        if "minMasterVersion" in tops and _above(inputs, state):
            update = {"update": {"desiredMasterVersion": inputs["minMasterVersion"]}}
            yield ClusterCall("PUT", "", update, "updating GKE master version")
        if "nodeVersion" in tops:
            update = {"update": {"desiredNodeVersion": inputs["nodeVersion"], "desiredNodePoolId": "default-pool"}}
            yield ClusterCall("PUT", "", update, "updating GKE default node pool node version")
        if tops & {"resourceLabels", "effectiveLabels", "pulumiLabels"}:
            yield self._labels(job, identity, state, inputs)

    def _locations(self, identity: str, inputs: Values) -> ClusterCall:
        location = cluster_of_path(identity).location
        own = [location] if cluster_body.is_zone(location) else []
        update = {"update": {"desiredLocations": sorted({*own, *inputs.get("nodeLocations", [])})}}
        return ClusterCall("PUT", "", update, "updating GKE cluster node locations")

    def _labels(self, job: Job, identity: str, state: Values, inputs: Values) -> ClusterCall:
        """Labels of others are kept: only those that were ours go."""
        found = job.rest.call("container", "GET", identity, patience=job.patience)
        mine, _ = cluster_body.labels_of(job, inputs, state)
        gone = set(state.get("pulumiLabels", {})) - set(mine)
        there = {key: value for key, value in found.get("resourceLabels", {}).items() if key not in gone}
        body = {"resourceLabels": {**there, **mine}, "labelFingerprint": found.get("labelFingerprint", "")}
        return ClusterCall("POST", ":setResourceLabels", body, "updating GKE resource labels")

    def delete(self, job: Job, identity: str, state: Values) -> None:
        if state.get("deletionProtection", True):
            raise ProviderError(PROTECTED)
        cluster = cluster_of_path(identity)
        try:
            rest_state(job, identity, "Cluster")
            with cluster_locked(job, cluster):
                operation = while_busy(
                    lambda: job.rest.call("container", "DELETE", identity, patience=job.patience), job.patience
                )
                wait(job, cluster, operation, "deleting GKE cluster")
        except GoogleError as error:
            if not error.is_missing:
                raise


@contextmanager
def _initialised(kind: Cluster, job: Job, cluster: ClusterName, inputs: Values, failure: str) -> Iterator[None]:
    """What fails after the cluster is there leaves a cluster that the state has to know."""
    try:
        yield
    except (GoogleError, OperationError) as error:
        outputs = kind.read(job, cluster.path, inputs)
        if outputs is None:
            raise
        raise InitError(cluster.path, outputs, f"{failure}: {error}") from error


def _above(inputs: Values, state: Values) -> bool:
    """Whether the wanted version is newer than what runs: GKE upgrades by itself, and never back.

    A version in short (1.34) is reached by any version of that line.
    """
    wanted, there = _numbers(inputs.get("minMasterVersion")), _numbers(state.get("masterVersion"))
    return bool(wanted) and there[: len(wanted)] < wanted


def _numbers(version: Any) -> list[int]:
    return (
        [int(part) for part in re.findall(r"\d+", version)] if isinstance(version, str) and version != "latest" else []
    )


def _name_faults(name: Any) -> list[tuple[str, str]]:
    """The schema's own rules for names, in its words."""
    if not isinstance(name, str):
        return []
    rules = (
        (len(name) <= 40, '"name" cannot be longer than 40 characters'),
        (re.fullmatch(r"[a-z0-9-]+", name), '"name" can only contain lowercase letters, numbers and hyphens'),
        (re.match(r"[a-z]", name), '"name" must start with a letter'),
        (re.search(r"[a-z0-9]$", name), '"name" must end with a number or a letter'),
    )
    return [("name", text) for holds, text in rules if not holds]


_NOT_WITH_AUTOPILOT = (
    "removeDefaultNodePool", "nodePools", "defaultMaxPodsPerNode", "networkPolicy", "addonsConfig.networkPolicyConfig",
    "addonsConfig.dnsCacheConfig", "addonsConfig.statefulHaConfig", "clusterAutoscaling.enabled", "clusterAutoscaling.resourceLimits",
    "enableIntranodeVisibility", "enableShieldedNodes", "binaryAuthorization.enabled",
)  # fmt: skip
_AUTOPILOTS_OWN = (
    "clusterAutoscaling.resourceLimits", "clusterAutoscaling.autoscalingProfile", "clusterAutoscaling.autoProvisioningDefaults.diskSize",
    "clusterAutoscaling.autoProvisioningDefaults.diskType", "clusterAutoscaling.autoProvisioningDefaults.imageType", "dnsConfig",
)  # fmt: skip
"""What Autopilot decides: no value of these is a difference there (suppressDiffForAutopilot)."""


def _autopilot_conflicts(inputs: Values) -> list[tuple[str, str]]:
    """ConflictsWith `enable_autopilot`: stated at all, true or false, it excludes these."""
    if inputs.get("enableAutopilot") is None:
        return []
    return [
        (path, f'Conflicting configuration arguments: "{path}": conflicts with enable_autopilot')
        for path in _NOT_WITH_AUTOPILOT
        if look(inputs, path) is not None
    ]
