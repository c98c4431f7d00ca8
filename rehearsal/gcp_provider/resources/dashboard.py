"""Dashboards (`google_monitoring_dashboard`, mmv1 `third_party/terraform/services/monitoring/resource_monitoring_dashboard.go`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules


def same_dashboard(old: Any, new: Any) -> bool:
    """Whether two dashboards as JSON are one, but for what only the one in the state says: Google adds to what it was given."""
    try:
        there, wanted = json.loads(old), json.loads(new)
    except (TypeError, ValueError):
        return False
    return bool(_as_far_as_stated(there, wanted) == wanted)


def _as_far_as_stated(there: Any, wanted: Any) -> Any:
    if isinstance(there, dict) and isinstance(wanted, dict):
        return {
            key: _as_far_as_stated(value, wanted[key]) for key, value in there.items() if wanted.get(key) is not None
        }
    if isinstance(there, list) and isinstance(wanted, list):
        stated = [_as_far_as_stated(one, other) for one, other in zip(there, wanted, strict=False)]
        return [*stated, *there[len(stated) :]]
    return there


class Dashboard(ResourceKind):
    token = "gcp:monitoring/dashboard:Dashboard"
    autoname = None
    ids = (r"projects/(?P<project>[^/]+)/dashboards/[^/]+",)
    minutes: ClassVar[Mapping[str, int]] = {"create": 4, "update": 4, "delete": 4}
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("dashboardJson", suppress=same_dashboard),
        **rules("project", force=True, computed=True, local=True),
    }

    def faults(self, inputs: Values) -> Sequence[tuple[str, str]]:
        text = inputs.get("dashboardJson")
        if not isinstance(text, str):
            return ()
        try:
            json.loads(text)
        except ValueError as error:
            return [("dashboardJson", f'"dashboard_json" contains an invalid JSON: {error}')]
        return ()

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        path = f"projects/{job.cloud.project_of(inputs)}/dashboards"
        try:
            found = job.rest.call("monitoring", "POST", path, json.loads(inputs["dashboardJson"]), job.patience)
        except GoogleError as error:
            raise ProviderError(f"Error creating Dashboard: {error}") from error
        return found["name"], self._outputs(job, found, inputs)

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        found = job.rest.find("monitoring", identity, job.patience)
        return None if found is None else self._outputs(job, found, known)

    def _outputs(self, job: Job, found: Values, known: Values) -> dict[str, Any]:
        said = {
            "project": job.cloud.project_of(known),
            "dashboardJson": json.dumps(found, separators=(",", ":"), sort_keys=True),
        }
        return {**self.complete(known, {}), **said}

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        """The whole dashboard, with the etag of what is replaced."""
        if {change.top for change in changed} <= {"deletionPolicy"}:
            return {**state, "deletionPolicy": inputs["deletionPolicy"]}
        body = {**json.loads(inputs["dashboardJson"]), "etag": json.loads(state["dashboardJson"]).get("etag")}
        try:
            found = job.rest.call("monitoring", "PATCH", identity, body, job.patience)
        except GoogleError as error:
            raise ProviderError(f"Error updating Dashboard {identity!r}: {error}") from error
        return self._outputs(job, found, self.known(state, inputs))

    def delete(self, job: Job, identity: str, state: Values) -> None:
        try:
            job.rest.call("monitoring", "DELETE", identity, None, job.patience)
        except GoogleError as error:
            if not error.is_missing:
                raise ProviderError(str(error)) from error
