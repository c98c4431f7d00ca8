"""APIs of a project, switched on (`google_project_service`). Requests for one project are gathered into one call."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import Cancelled, GoogleError, ProviderError
from rehearsal.gcp_provider.google.operations import await_service
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules

_BATCH = 20
"""The most services that one `batchEnable` takes."""
_GATHER_S = 0.3
"""How long the first of a batch waits for others. The real provider gathers for 3 s (`batching.sendAfter`)."""


class _Batch:
    """Services of one project that are to be enabled together; the first that asks does the work for all."""

    def __init__(self) -> None:
        self.services: list[str] = []
        self.done = threading.Event()
        self.error: Exception | None = None


class _Batches:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._open: dict[tuple[int, str], _Batch] = {}

    def join(self, key: tuple[int, str], service: str) -> tuple[_Batch, bool]:
        with self._guard:
            batch = self._open.setdefault(key, _Batch())
            batch.services.append(service)
            return batch, len(batch.services) == 1

    def close(self, key: tuple[int, str]) -> None:
        with self._guard:
            del self._open[key]


class Service(ResourceKind):
    token = "gcp:projects/service:Service"
    autoname = None
    ids = (r"(?P<project>[^/]+)/(?P<service>[^/]+)", r"(?P<service>[^/]+)")
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("service", force=True, local=True),
        **rules("project", force=True, computed=True, local=True),
        **rules("disableOnDestroy", "disableDependentServices", "checkIfServiceHasUsageOnDestroy", local=True),
    }

    def __init__(self) -> None:
        self._batches = _Batches()

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        project, service = job.cloud.project_of(inputs), inputs["service"]
        if service not in self._enabled(job, project):
            self._enable(job, project, service)
        return f"{project}/{service}", {**self.complete(inputs, {}), "project": project}

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        project, service = identity.split("/")
        if service not in self._enabled(job, project):
            return None
        return {**self.complete(known, {}), "project": project, "service": service}

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        """What can change is known to the provider only: no call."""
        return {**self.complete(inputs, {}), "project": state["project"]}

    def delete(self, job: Job, identity: str, state: Values) -> None:
        """Off by default since version 8: an API that others use is left on."""
        if not state.get("disableOnDestroy"):
            return
        project, service = identity.split("/")
        body = {"disableDependentServices": bool(state.get("disableDependentServices"))}
        if state.get("checkIfServiceHasUsageOnDestroy"):
            body["checkIfServiceHasUsage"] = "CHECK"  # type: ignore[assignment]
        try:
            operation = job.rest.call(
                "serviceusage", "POST", f"projects/{project}/services/{service}:disable", body, job.patience
            )
        except GoogleError as error:
            if error.is_missing:
                return
            raise ProviderError(f"Error disabling service {service!r} for project {project!r}: {error}") from error
        await_service(job.rest, operation, "api to disable", job.patience)

    def _enabled(self, job: Job, project: str) -> set[str]:
        """All services that are on, by name, a page of 200 at a time."""
        found: set[str] = set()
        query: dict[str, Any] = {"filter": "state:ENABLED", "pageSize": 200}
        while True:
            page = job.rest.call("serviceusage", "GET", f"projects/{project}/services", patience=job.patience, **query)
            found |= {entry["name"].rsplit("/", 1)[-1] for entry in page.get("services", [])}
            if not page.get("nextPageToken"):
                return found
            query["pageToken"] = page["nextPageToken"]

    def _enable(self, job: Job, project: str, service: str) -> None:
        key = (id(job.cloud), project)
        batch, first = self._batches.join(key, service)
        if first:
            try:
                self._gather(job, key)
                self._send(job, project, sorted(set(batch.services)))
            except Exception as error:  # noqa: BLE001 whatever it is, all that joined have to hear of it
                batch.error = error
            batch.done.set()
        batch.done.wait()
        if isinstance(batch.error, Cancelled):
            raise batch.error
        if batch.error is not None:
            raise ProviderError(f"Error waiting for service {service}: {batch.error}") from batch.error

    def _gather(self, job: Job, key: tuple[int, str]) -> None:
        """Waits for others to join; after that a new batch begins."""
        try:
            job.patience.wait(_GATHER_S)
        finally:
            self._batches.close(key)

    def _send(self, job: Job, project: str, services: list[str]) -> None:
        for start in range(0, len(services), _BATCH):
            group = services[start : start + _BATCH]
            try:
                if len(group) == 1:
                    path, body = f"projects/{project}/services/{group[0]}:enable", {}
                else:
                    path, body = f"projects/{project}/services:batchEnable", {"serviceIds": group}
                operation = job.rest.call("serviceusage", "POST", path, body, job.patience)
            except GoogleError as error:
                raise ProviderError(f"failed to send enable services request: {error}") from error
            await_service(job.rest, operation, f"project services to be enabled: {', '.join(group)}", job.patience)
