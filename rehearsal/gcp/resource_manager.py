"""The Cloud Resource Manager API: projects and their IAM policies, in both versions that clients use."""

from __future__ import annotations

from rehearsal.gcp import policy, projects
from rehearsal.gcp.core import ApiError, Call, CloudState, Handler, Object, Service, number

CREATED = "2025-01-01T00:00:00.000Z"
"""Projects are not made here; they have been there since this day."""


def _project(call: Call) -> str:
    """The project that a path names by id or number. One that is not there looks like one that is somebody else's."""
    found = projects.resolve(call.world, call.project)
    if found is not None:
        return found
    if call.api.endswith(".v3"):
        raise ApiError(403, f"The caller does not have permission on project {call.project}, or it may not exist.")
    raise ApiError(403, "The caller does not have permission")


def _get(call: Call) -> Object:
    project = _project(call)
    digits = number(project)
    if call.api.endswith(".v1"):
        return {
            "projectNumber": digits, "projectId": project, "lifecycleState": "ACTIVE", "name": project, "createTime": CREATED,
        }  # fmt: skip
    return {
        "name": f"projects/{digits}", "projectId": project, "state": "ACTIVE", "displayName": project, "createTime": CREATED,
        "updateTime": CREATED, "etag": f'W/"{digits[:8]}"',
    }  # fmt: skip


_VERBS: dict[str, Handler] = {"get": _get, **policy.calls(lambda call: f"projects/{_project(call)}")}
_HANDLERS: dict[str, Handler] = {f"cloudresourcemanager.projects.{verb}": handler for verb, handler in _VERBS.items()}


def _bindings(state: CloudState) -> list[str]:
    store = state.store
    return [
        f"{name}: {binding['role']}"
        for name in store.names(policy.KIND)
        for binding in (store.get(policy.KIND, name) or {})["bindings"]
    ]


SERVICE = Service(
    name="cloudresourcemanager",
    versions=("v1", "v3"),
    handlers=_HANDLERS,
    custom_endpoints={
        "RESOURCE_MANAGER": "v1/",
        "RESOURCE_MANAGER3": "v3/",
        "RESOURCE_MANAGER_V3": "v3/",
        "CLOUD_RESOURCE_MANAGER": "",
        "TAGS": "v3/",
        "TAGS_LOCATION": "v3/",
    },
    other_state=(policy.KIND,),
    leftovers={"iam bindings": _bindings},
)
