"""Buckets (`google_storage_bucket`, mmv1 `third_party/terraform/services/storage/resource_storage_bucket.go.tmpl`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from rehearsal.gcp_provider.errors import GoogleError, ProviderError
from rehearsal.gcp_provider.google.cloud import ATTRIBUTION, Cloud
from rehearsal.gcp_provider.terraform.diff import FieldChange, Verb
from rehearsal.gcp_provider.terraform.kind import DELETION_POLICY, Job, ResourceKind, Values
from rehearsal.gcp_provider.terraform.mapping import expand, flatten
from rehearsal.gcp_provider.terraform.rules import FieldRules, rules, same_case

_CONDITION = "lifecycleRules.condition"
_SENDS = (
    "sendAgeIfZero",
    "sendDaysSinceCustomTimeIfZero",
    "sendDaysSinceNoncurrentTimeIfZero",
    "sendNumNewerVersionsIfZero",
)
_LABELS = frozenset({"labels", "effectiveLabels", "pulumiLabels"})
_IAM = frozenset({"uniformBucketLevelAccess", "publicAccessPrevention"})


class Bucket(ResourceKind):
    token = "gcp:storage/bucket:Bucket"
    ids = (r"(?P<name>[^/]+)", r"(?P<project>[^/]+)/(?P<name>[^/]+)")
    minutes: ClassVar[Mapping[str, int]] = {"create": 10, "update": 4, "delete": 20}
    table: ClassVar[FieldRules] = {
        **DELETION_POLICY,
        **rules("forceDestroy", local=True, default=False),
        **rules("name", force=True),
        **rules("location", force=True, suppress=same_case),
        **rules("project", force=True, computed=True, local=True),
        **rules("storageClass", default="STANDARD"),
        **rules("uniformBucketLevelAccess", computed=True, api="iamConfiguration.uniformBucketLevelAccess.enabled"),
        **rules("publicAccessPrevention", computed=True, api="iamConfiguration.publicAccessPrevention"),
        **rules("softDeletePolicy", "versioning", "website", "rpo", computed=True),
        **rules("softDeletePolicy.retentionDurationSeconds", zero=True, default=604800),
        **rules("softDeletePolicy.effectiveTime", output=True),
        **rules("versioning.enabled", zero=True),
        **rules("hierarchicalNamespace", force=True),
        **rules("hierarchicalNamespace.enabled", force=True, zero=True),
        **rules("lifecycleRules", api="lifecycle.rule"),
        **rules(f"{_CONDITION}.withState", computed=True),
        **rules(f"{_CONDITION}.matchesPrefixes", api="matchesPrefix"),
        **rules(f"{_CONDITION}.matchesSuffixes", api="matchesSuffix"),
        **rules(f"{_CONDITION}.matchesStorageClasses", api="matchesStorageClass"),
        **rules(*(f"{_CONDITION}.{name}" for name in (*_SENDS, "sizeAboveBytes", "sizeBelowBytes")), unsupported=True),
        **rules("defaultEventBasedHold", zero=True),
        **rules("requesterPays", zero=True, api="billing.requesterPays"),
        **rules("logging.logObjectPrefix", computed=True),
        **rules(
            "retentionPolicy",
            "ipFilter",
            "customPlacementConfig",
            "enableObjectRetention",
            "autoclass",
            unsupported=True,
        ),
        **rules("effectiveLabels", "pulumiLabels", "url", output=True, local=True),
        **rules("projectNumber", "selfLink", "timeCreated", "updated", output=True),
    }

    def effective(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        """The provider's own labels are labels of the bucket too."""
        wanted = super().effective(cloud, inputs)
        wanted["pulumiLabels"] = {**cloud.default_labels, **wanted.get("labels", {})}
        return wanted

    def adjusted(self, changed: Sequence[FieldChange], state: Values, inputs: Values) -> Sequence[FieldChange]:
        """The provider's default labels may be a difference where the program's own are none."""
        told = any(entry.top == "labels" for entry in changed)
        if told or inputs["pulumiLabels"] == state.get("pulumiLabels", {}):
            return changed
        return [*changed, FieldChange("pulumiLabels", Verb.UPDATE, force=False)]

    def planned(self, cloud: Cloud, inputs: Values) -> dict[str, Any]:
        name = inputs.get("name")
        return {"url": f"gs://{name}"} if isinstance(name, str) else {}

    def create(self, job: Job, inputs: Values) -> tuple[str, dict[str, Any]]:
        body = expand(self.types.inputs, inputs, self.table)
        body["labels"] = {**_mine(job, inputs), **({ATTRIBUTION: "true"} if job.cloud.attribution else {})}
        project = job.cloud.project_of(inputs)
        try:
            found = job.rest.call("storage", "POST", "b", body, job.patience, project=project)
        except GoogleError as error:
            raise ProviderError(str(error)) from error
        return found["name"], self._outputs(job, found, inputs)

    def read(self, job: Job, identity: str, known: Values) -> dict[str, Any] | None:
        found = job.rest.find("storage", f"b/{identity}", job.patience)
        if found is None:
            return None
        # An import knows no project; the real provider asks for it by the bucket's number.
        told = known if "location" in known else {**known, "project": _project(job, found)}
        return self._outputs(job, found, told)

    def _outputs(self, job: Job, found: Values, known: Values) -> dict[str, Any]:
        there, stated = dict(found.get("labels", {})), known.get("labels", {})
        mine = _mine(job, known)
        return {
            **self.complete(known, flatten(self.types.outputs, found, self.table)),
            "project": job.cloud.project_of(known),
            "labels": {key: there[key] for key in stated if key in there},
            "pulumiLabels": {key: there[key] for key in mine if key in there},
            "effectiveLabels": there,
            "url": f"gs://{found['name']}",
        }

    def update(
        self, job: Job, identity: str, state: Values, inputs: Values, changed: Sequence[FieldChange]
    ) -> dict[str, Any]:
        tops = {change.top for change in changed}
        body = _patch(expand(self.types.inputs, inputs, self.table), tops)
        if tops & _LABELS:
            gone = set(state.get("pulumiLabels", {})) - set(_mine(job, inputs))
            body["labels"] = {**dict.fromkeys(sorted(gone)), **_mine(job, inputs)}
        try:
            found = job.rest.call("storage", "PATCH", f"b/{identity}", body, job.patience)
        except GoogleError as error:
            raise ProviderError(str(error)) from error
        return self._outputs(job, found, self.known(state, inputs))

    def delete(self, job: Job, identity: str, state: Values) -> None:
        """With its objects only if that was asked for."""
        try:
            for found in _objects(job, identity):
                if not state.get("forceDestroy"):
                    raise ProviderError(f"Error trying to delete bucket {identity} without `force_destroy` set to true")
                path = f"b/{identity}/o/{quote(found['name'], safe='')}"
                job.rest.call("storage", "DELETE", path, None, job.patience, generation=found["generation"])
            job.rest.call("storage", "DELETE", f"b/{identity}", None, job.patience)
        except GoogleError as error:
            if not error.is_missing:
                raise ProviderError(str(error)) from error


def _project(job: Job, found: Values) -> str:
    """The id of the project that a bucket is in; the provider's own where Compute Engine does not tell."""
    try:
        answer = job.rest.call("compute", "GET", f"projects/{found['projectNumber']}", None, job.patience)
    except GoogleError:
        return job.cloud.project
    return str(answer["name"])


def _mine(job: Job, inputs: Values) -> dict[str, str]:
    return {**job.cloud.default_labels, **inputs.get("labels", {})}


def _objects(job: Job, bucket: str) -> Iterator[dict[str, Any]]:
    """All that are there, a page at a time, from the first anew: each page is deleted before the next is asked for."""
    while True:
        page = job.rest.call("storage", "GET", f"b/{bucket}/o", None, job.patience, versions=True).get("items", [])
        if not page:
            return
        yield from page


def _patch(body: Mapping[str, Any], tops: set[str]) -> dict[str, Any]:
    """Those parts of the whole that differ. What a program no longer states is set to null, but for what Google then decides."""
    fields = {"lifecycleRules": "lifecycle", "requesterPays": "billing", **dict.fromkeys(_IAM, "iamConfiguration")}
    named = {fields.get(top, top) for top in tops - _LABELS - {"forceDestroy", "deletionPolicy"}}
    return {name: body.get(name) for name in sorted(named)}
