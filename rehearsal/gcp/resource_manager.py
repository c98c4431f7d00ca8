"""The Cloud Resource Manager API: projects and their IAM policies, in both versions that clients use."""

from __future__ import annotations

import re

from rehearsal.gcp.core import ApiError, Call, Handler, Object, number
from rehearsal.gcp.policy import read_policy, write_policy


def _project(call: Call) -> str:
    project = call.project
    if re.fullmatch(r"[a-z][a-z0-9-]{4,28}[a-z0-9]", project) is None:
        raise ApiError(403, f"The caller does not have permission on project {project}, or it may not exist")
    return project


def _get_v1(call: Call) -> Object:
    project = _project(call)
    return {
        "projectNumber": number(project),
        "projectId": project,
        "lifecycleState": "ACTIVE",
        "name": project,
        "createTime": "2025-01-01T00:00:00.000000Z",
    }


def _get_v3(call: Call) -> Object:
    project = _project(call)
    return {
        "name": f"projects/{number(project)}",
        "projectId": project,
        "state": "ACTIVE",
        "displayName": project,
        "createTime": "2025-01-01T00:00:00.000000Z",
        "etag": 'W/"1"',
    }


def _get(call: Call) -> Object:
    return _get_v3(call) if call.api.endswith(".v3") else _get_v1(call)


def _get_policy(call: Call) -> Object:
    return read_policy(call.world, f"projects/{_project(call)}")


def _set_policy(call: Call) -> Object:
    return write_policy(call.world, f"projects/{_project(call)}", call.body.get("policy", {}))


HANDLERS: dict[str, Handler] = {
    "cloudresourcemanager.projects.get": _get,
    "cloudresourcemanager.projects.getIamPolicy": _get_policy,
    "cloudresourcemanager.projects.setIamPolicy": _set_policy,
}
