"""The Cloud Resource Manager API: projects and their IAM policies, in both versions that clients use."""

from __future__ import annotations

from rehearsal.gcp import policy, projects
from rehearsal.gcp.core import ApiError, Call, Handler, Object, invalid, number

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


def _get_policy(call: Call) -> Object:
    return policy.get_call(call, f"projects/{_project(call)}")


def _set_policy(call: Call) -> Object:
    project = _project(call)
    if "policy" not in call.body:
        raise invalid("Request contains an invalid argument.")
    return policy.set_call(call, f"projects/{project}")


def _test_permissions(call: Call) -> Object:
    _project(call)
    return policy.test_call(call)


HANDLERS: dict[str, Handler] = {
    "cloudresourcemanager.projects.get": _get,
    "cloudresourcemanager.projects.getIamPolicy": _get_policy,
    "cloudresourcemanager.projects.setIamPolicy": _set_policy,
    "cloudresourcemanager.projects.testIamPermissions": _test_permissions,
}
