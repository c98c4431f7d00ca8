"""Single members of IAM policies: read the policy, change it, write it back, and again if somebody else wrote meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.google.rest import pauses
from rehearsal.gcp_provider.terraform.diff import FieldChange
from rehearsal.gcp_provider.terraform.kind import Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.rules import FieldRules, last_segment, rules, same_case

Policy = dict[str, Any]
_CONDITION = rules(
    "condition", "condition.title", "condition.expression", "condition.description", force=True, local=True
)


def _table(owner: str, **other: Any) -> FieldRules:
    """The fields of a member. `other` is what else is to be said of the property that names the policy's owner."""
    return {
        **_CONDITION,
        **rules(owner, force=True, local=True, **other),
        **rules("role", force=True, local=True),
        **rules("member", force=True, local=True, suppress=same_case),
        **rules("etag", output=True, local=True),
    }


class _Member(ResourceKind):
    autoname = None
    target: ClassVar[str]
    """The property that says whose policy it is."""
    api: ClassVar[str]

    def path(self, job: Job, values: Values) -> str:
        return self.owner(values)

    def owner(self, values: Values) -> str:
        return str(values[self.target])

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        policy = self._change(job, inputs, lambda policy: _added(policy, inputs), "Error applying IAM policy")
        return self._identity(inputs), self._outputs(inputs, policy)

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        try:
            policy = self._get(job, known)
        except GoogleError as error:
            if error.is_missing:
                return None
            raise
        binding = _binding(policy, known)
        if binding is None or not any(same_case(member, known["member"]) for member in binding["members"]):
            return None
        return self._outputs(known, policy)

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        raise ProviderError(f"{self.token} has nothing that changes in place")

    def delete(self, job: Job, identity: str, state: Values) -> None:
        try:
            self._change(job, state, lambda policy: _removed(policy, state), "Error removing IAM member")
        except ProviderError as error:
            if not (isinstance(error.__cause__, GoogleError) and error.__cause__.is_missing):
                raise

    def _identity(self, values: Values) -> str:
        parts = [self.owner(values), values["role"], values["member"]]
        condition = values.get("condition")
        return "/".join(parts if condition is None else [*parts, condition["title"]])

    def _outputs(self, values: Values, policy: Policy) -> dict[str, Any]:
        return {**self.complete(values, {}), "etag": policy.get("etag", "")}

    def _get(self, job: Job, values: Values) -> Policy:
        options = {"options": {"requestedPolicyVersion": 3}}
        if self.api == "iam":
            query = {"options.requestedPolicyVersion": 3}
            return job.rest.call("iam", "POST", f"{self.path(job, values)}:getIamPolicy", None, job.patience, **query)
        return job.rest.call(self.api, "POST", f"{self.path(job, values)}:getIamPolicy", options, job.patience)

    def _set(self, job: Job, values: Values, policy: Policy) -> Policy:
        path = f"{self.path(job, values)}:setIamPolicy"
        return job.rest.call(self.api, "POST", path, {"policy": policy}, job.patience)

    def _change(self, job: Job, values: Values, change: Callable[[Policy], Policy], failure: str) -> Policy:
        """One at a time per policy here; against others, by the policy's etag."""
        path = self.path(job, values)
        with job.cloud.locks.alone(f"iam/{path}"):
            for pause in pauses():
                try:
                    policy = {**change(self._get(job, values)), "version": 3}
                    return self._set(job, values, policy)
                except GoogleError as error:
                    if error.code != 409 or job.patience.over:
                        raise ProviderError(f"{failure} for {path!r}: {error}") from error
                job.patience.wait(pause)
        raise AssertionError("pauses never end")


def _binding(policy: Policy, values: Values) -> dict[str, Any] | None:
    for binding in policy.get("bindings", []):
        if binding["role"] == values["role"] and _condition(binding.get("condition")) == _condition(
            values.get("condition")
        ):
            return dict(binding)
    return None


def _condition(stated: Any) -> tuple[str, str, str] | None:
    return (
        None
        if stated is None
        else (stated.get("title", ""), stated.get("expression", ""), stated.get("description", ""))
    )


def _others(policy: Policy, binding: dict[str, Any] | None) -> list[dict[str, Any]]:
    return [entry for entry in policy.get("bindings", []) if entry != binding]


def _added(policy: Policy, values: Values) -> Policy:
    binding = _binding(policy, values)
    fresh: dict[str, Any] = {"role": values["role"], "members": []}
    if values.get("condition") is not None:
        fresh["condition"] = {key: entry for key, entry in values["condition"].items() if not key.startswith("__")}
    current = fresh if binding is None else binding
    members = sorted({*current["members"], values["member"]})
    return {**policy, "bindings": [*_others(policy, binding), {**current, "members": members}]}


def _removed(policy: Policy, values: Values) -> Policy:
    binding = _binding(policy, values)
    if binding is None:
        return policy
    members = [member for member in binding["members"] if not same_case(member, values["member"])]
    rest = [{**binding, "members": members}] if members else []
    return {**policy, "bindings": [*_others(policy, binding), *rest]}


class ProjectMember(_Member):
    token = "gcp:projects/iAMMember:IAMMember"
    target, api = "project", "cloudresourcemanager"
    ids = (r"(?P<project>[^ /]+)[ /](?P<role>\S+?/\S+?)[ /](?P<member>\w+:\S+)",)
    table: ClassVar[FieldRules] = _table("project")

    def path(self, job: Job, values: Values) -> str:
        return f"projects/{values['project']}"


class ServiceAccountMember(_Member):
    token = "gcp:serviceaccount/iAMMember:IAMMember"
    target, api = "serviceAccountId", "iam"
    ids = (
        r"(?P<serviceAccountId>projects/[^/]+/serviceAccounts/[^ /]+)[ /](?P<role>\S+?/\S+?)[ /](?P<member>\w+:\S+)",
    )
    table: ClassVar[FieldRules] = _table("serviceAccountId")


class BucketMember(_Member):
    """Its policy is set as it is, by PUT (terraform-provider-google, services/storage/iam_storage_bucket.go)."""

    token = "gcp:storage/bucketIAMMember:BucketIAMMember"
    target, api = "bucket", "storage"
    ids = (r"(?P<bucket>b/[^/ ]+)[ /](?P<role>\S+?/\S+?)[ /](?P<member>\w+:\S+)",)
    table: ClassVar[FieldRules] = _table("bucket", suppress=last_segment)

    def owner(self, values: Values) -> str:
        return f"b/{str(values['bucket']).removeprefix('b/')}"

    def _outputs(self, values: Values, policy: Policy) -> dict[str, Any]:
        return {**super()._outputs(values, policy), "bucket": self.owner(values)}

    def _get(self, job: Job, values: Values) -> Policy:
        query = {"optionsRequestedPolicyVersion": 3}
        return job.rest.call("storage", "GET", f"{self.path(job, values)}/iam", None, job.patience, **query)

    def _set(self, job: Job, values: Values, policy: Policy) -> Policy:
        return job.rest.call("storage", "PUT", f"{self.path(job, values)}/iam", policy, job.patience)
