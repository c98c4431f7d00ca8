"""What the resources of Compute Engine have in common: one collection each, made, patched and deleted by operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, OperationError, ProviderError
from rehearsal.gcp_provider.google.operations import await_compute
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import expand, flatten, look
from rehearsal.gcp_provider.terraform.rules import relative


class ComputeKind(ResourceKind):
    """A kind whose id is its path at Google: `projects/P/global/networks/N`."""

    collection: ClassVar[str]
    title: ClassVar[str]
    """Its name in messages."""
    regional: ClassVar[bool] = False
    logs: ClassVar[bool] = False
    """Whether it has a `logConfig`, which a program states to switch it on: one that is off is none."""

    def scope(self, job: Job, values: Values) -> str:
        project = job.cloud.project_of(values)
        return (
            f"projects/{project}/regions/{job.cloud.region_of(values)}"
            if self.regional
            else f"projects/{project}/global"
        )

    def body(self, job: Job, inputs: Values) -> dict[str, Any]:
        """The resource as it is sent. Its project is in the path only."""
        sent = expand(self.types.inputs, inputs, self.table)
        sent.pop("project", None)
        return sent

    def outputs(self, job: Job, known: Values, found: dict[str, Any]) -> dict[str, Any]:
        """The resource as it is shown."""
        result = self.complete(known, flatten(self.types.outputs, found, self.table))
        result["project"] = job.cloud.project_of(known)
        if self.regional:
            result["region"] = found.get("region", job.cloud.region_of(known)).rsplit("/", 1)[-1]
        if self.logs and not look(found, "logConfig.enable"):
            result.pop("logConfig", None)
        return result

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        path = f"{self.scope(job, inputs)}/{self.collection}"
        identity = f"{path}/{inputs['name']}"
        try:
            operation = job.rest.call("compute", "POST", path, self.body(job, inputs), job.patience)
        except GoogleError as error:
            raise ProviderError(f"Error creating {self.title}: {error}") from error
        with self.accepted(job, identity, inputs):
            self._await(job, operation, inputs, f"Creating {self.title}", "create")
            outputs = self.read(job, identity, inputs)
        if outputs is None:
            raise ProviderError(f"{self.title} {identity} was created but is not there")
        return identity, outputs

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        found = job.rest.find("compute", identity, job.patience)
        return None if found is None else self.outputs(job, known, found)

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        tops = {change.top for change in changed}
        for path, verb, body in self.steps(job, identity, state, inputs, tops):
            try:
                operation = job.rest.call("compute", verb, path, body, job.patience)
            except GoogleError as error:
                raise ProviderError(f'Error updating {self.title} "{identity}": {error}') from error
            self._await(job, operation, state, f"Updating {self.title}", "update")
        outputs = self.read(job, identity, self.known(state, inputs))
        if outputs is None:
            raise ProviderError(f"{self.title} {identity} is gone")
        return outputs

    def steps(
        self, job: Job, identity: str, state: Values, inputs: Values, tops: set[str]
    ) -> Sequence[tuple[str, str, Any]]:
        """The calls of an update: (path, verb, body). Most kinds have one PATCH of all that may change."""
        sent = tops - {name for name in tops if name in self.table and self.table[name].local}
        return [(identity, "PATCH", self.body(job, inputs))] if sent else []

    def delete(self, job: Job, identity: str, state: Values) -> None:
        try:
            operation = job.rest.call("compute", "DELETE", identity, patience=job.patience)
        except GoogleError as error:
            if error.is_missing:
                return
            raise ProviderError(f"Error when reading or editing {self.title}: {error}") from error
        self._await(job, operation, state, f"Deleting {self.title}", "delete")

    def _await(self, job: Job, operation: dict[str, Any], values: Values, activity: str, verb: str) -> None:
        try:
            await_compute(job.rest, operation, job.cloud.project_of(values), activity, job.patience)
        except OperationError as error:
            # What was refused by the operation is as little there as what was refused at once.
            raise ProviderError(
                f"Error waiting to {verb} {self.title}: {error}" if verb != "delete" else str(error)
            ) from error


def ids_of(collection: str, regional: bool = False) -> tuple[str, ...]:
    """The forms of an id, the full one first; each further one leaves the first part of the one before to the provider."""
    place = "regions/(?P<region>[^/]+)" if regional else "global"
    short = [r"(?P<project>[^/]+)", *([r"(?P<region>[^/]+)"] if regional else []), r"(?P<name>[^/]+)"]
    full = rf"projects/(?P<project>[^/]+)/{place}/{collection}/(?P<name>[^/]+)"
    return (full, *("/".join(short[start:]) for start in range(len(short))))


def network_path(project: str, stated: str) -> str:
    """A network as the API wants it, from a name, a path or a link."""
    return relative(stated) if "/" in stated else f"projects/{project}/global/networks/{stated}"
