"""Service accounts (`google_service_account`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Autoname, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import flatten
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules


class Account(ResourceKind):
    token = "gcp:serviceaccount/account:Account"
    autoname = Autoname("accountId", 30)
    ids = (
        r"projects/(?P<project>[^/]+)/serviceAccounts/(?P<email>[^/]+)",
        r"(?P<project>[^/]+)/(?P<email>[^/]+)",
        r"(?P<email>[^/]+)",
    )
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("createIgnoreAlreadyExists", local=True),
        **rules("accountId", force=True, local=True),
        **rules("project", force=True, computed=True, api="projectId"),
        **rules("disabled", default=False),
        **rules("email", "name", "uniqueId", "member", output=True),
    }

    def planned(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        """The email is known before the account: programs grant it roles in the same preview."""
        account, project = inputs.get("accountId"), inputs.get("project", cloud.project)
        if not isinstance(account, str) or not isinstance(project, str) or not project:
            return {}
        email = f"{account}@{project}.iam.gserviceaccount.com"
        return {
            "email": email,
            "member": f"serviceAccount:{email}",
            "name": f"projects/{project}/serviceAccounts/{email}",
        }

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        project, account = job.cloud.project_of(inputs), inputs["accountId"]
        details = {key: inputs[key] for key in ("displayName", "description") if inputs.get(key)}
        identity = f"projects/{project}/serviceAccounts/{account}@{project}.iam.gserviceaccount.com"
        try:
            body = {"accountId": account, "serviceAccount": details}
            found = job.rest.call("iam", "POST", f"projects/{project}/serviceAccounts", body, job.patience)
            identity = found["name"]
        except GoogleError as error:
            if error.code != 409 or not inputs.get("createIgnoreAlreadyExists"):
                raise ProviderError(f"Error creating service account: {error}") from error
        with self.accepted(job, identity, inputs):
            if inputs.get("disabled"):
                job.rest.call("iam", "POST", f"{identity}:disable", {}, job.patience)
            return identity, self._settled(job, identity, inputs)

    def _settled(self, job: Job, identity: str, inputs: Values) -> dict[str, Any]:
        """A new account is not at once visible everywhere: it is asked for until it is."""
        for _ in range(60):
            outputs = self.read(job, identity, inputs)
            if outputs is not None:
                return outputs
            job.patience.wait(1)
        raise ProviderError(f"Error reading service account after creation: {identity} is not there")

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        found = job.rest.find("iam", identity, job.patience)
        if found is None:
            return None
        read = flatten(self.types.outputs, found, self.table)
        email = found["email"]
        return {**self.complete(known, read), "accountId": email.split("@")[0], "member": f"serviceAccount:{email}"}

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        tops = {change.top for change in changed}
        try:
            if tops & {"displayName", "description"}:
                account = {key: inputs.get(key, "") for key in ("displayName", "description")}
                body = {"serviceAccount": account, "updateMask": "description,displayName"}
                job.rest.call("iam", "PATCH", identity, body, job.patience)
            if "disabled" in tops:
                job.rest.call(
                    "iam", "POST", f"{identity}:{'disable' if inputs.get('disabled') else 'enable'}", {}, job.patience
                )
        except GoogleError as error:
            raise ProviderError(f"Error updating service account {identity!r}: {error}") from error
        return self._settled(job, identity, self.known(state, inputs))

    def delete(self, job: Job, identity: str, state: Values) -> None:
        try:
            job.rest.call("iam", "DELETE", identity, patience=job.patience)
        except GoogleError as error:
            if not error.is_missing:
                raise ProviderError(f"Error when reading or editing Service Account {identity!r}: {error}") from error
