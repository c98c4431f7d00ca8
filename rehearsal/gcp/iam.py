"""The IAM API: service accounts (cloud.google.com/iam/docs/reference/rest/v1/projects.serviceAccounts)."""

from __future__ import annotations

import base64
import re

from rehearsal.gcp import policy, projects
from rehearsal.gcp.core import (
    Call,
    CloudState,
    Handler,
    Object,
    Service,
    already_exists,
    invalid,
    not_found,
    number,
    page,
    stamp,
)

KIND = "service-accounts"
_ID = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])")
LONGEST = {"displayName": 100, "description": 256}
"""In bytes of UTF-8, by the API's description of the two fields."""


def find(world: CloudState, email: str) -> Object | None:
    """The service account of that address."""
    return world.store.get(KIND, email)


def _project(call: Call) -> str:
    found = projects.resolve(call.world, call.project)
    if found is None:
        raise not_found(f"Unknown project id: {call.project}")
    return found


def _account(call: Call) -> Object:
    """The account that a path names, by address or unique id, below its project or below `-`."""
    wanted = call.params["serviceAccountsId"]
    accounts = call.world.store.list(KIND)
    account = next((a for a in accounts if wanted in (a["email"], a["uniqueId"])), None)
    if account is not None and call.project in ("-", account["projectId"]):
        return account
    if "@" in wanted:
        raise not_found(f"Service account projects/{call.project}/serviceAccounts/{wanted} does not exist.")
    raise not_found(f"Unknown service account: {wanted}")


def _saved(world: CloudState, account: Object) -> Object:
    """Writes an account, with a new etag."""
    fresh = {**account, "etag": base64.b64encode(number(f"{account}{stamp()}", 8).encode()).decode()}
    world.store.put(KIND, account["email"], fresh)
    return fresh


def _fields(stated: Object) -> Object:
    """What a caller may say of an account."""
    found = {key: stated[key] for key in LONGEST if key in stated}
    for key, text in found.items():
        if len(text.encode()) > LONGEST[key]:
            raise invalid(f"The {key} of a service account must be at most {LONGEST[key]} UTF-8 bytes.")
    return found


def _create(call: Call) -> Object:
    project, account_id = _project(call), call.body.get("accountId", "")
    if not 6 <= len(account_id) <= 30 or _ID.fullmatch(account_id) is None:
        raise invalid(
            f'The account ID "{account_id}" does not have a length between 6 and 30, or does not match {_ID.pattern}.'
        )
    email = f"{account_id}@{project}.iam.gserviceaccount.com"
    stated = _fields(call.body.get("serviceAccount", {}))
    with call.world.store.lock:
        if find(call.world, email):
            raise already_exists(f"Service account {account_id} already exists within project projects/{project}.")
        unique = number(f"{email} {stamp()}", 21)
        made = {
            "name": f"projects/{project}/serviceAccounts/{email}",
            "projectId": project,
            "uniqueId": unique,
            "email": email,
            **stated,
            "oauth2ClientId": unique,
        }
        return _saved(call.world, made)


def _list(call: Call) -> Object:
    project = _project(call)
    rows = [a for a in call.world.store.list(KIND) if a["projectId"] == project]
    return page(call, "accounts", rows, usual=20, most=100)


def _patch(call: Call) -> Object:
    mask = re.sub(r"_(\w)", lambda m: m[1].upper(), call.body.get("updateMask", ""))
    fields = [field for field in mask.split(",") if field]
    if not fields:
        raise invalid("The update mask must name at least one field.")
    if wrong := [field for field in fields if field not in LONGEST]:
        raise invalid(f"Only display_name and description of a service account can be updated, not {', '.join(wrong)}.")
    stated = _fields(call.body.get("serviceAccount", {}))
    with call.world.store.lock:
        return _saved(call.world, {**_account(call), **{field: stated.get(field, "") for field in fields}})


def _update(call: Call) -> Object:
    with call.world.store.lock:
        return _saved(call.world, {**_account(call), **_fields(call.body)})


def _switch(disabled: bool) -> Handler:
    def switch(call: Call) -> Object:
        with call.world.store.lock:
            account = {key: value for key, value in _account(call).items() if key != "disabled"}
            _saved(call.world, {**account, **({"disabled": True} if disabled else {})})
        return {}

    return switch


def _delete(call: Call) -> Object:
    with call.world.store.lock:
        account = _account(call)
        call.world.store.delete(KIND, account["email"])
        call.world.store.delete(policy.KIND, account["name"])
        policy.mark_deleted(call.world, f"serviceAccount:{account['email']}", account["uniqueId"])
    return {}


_VERBS: dict[str, Handler] = {
    "create": _create,
    "get": _account,
    "list": _list,
    "patch": _patch,
    "update": _update,
    "enable": _switch(disabled=False),
    "disable": _switch(disabled=True),
    "delete": _delete,
    **policy.calls(lambda call: str(_account(call)["name"])),
}
_HANDLERS: dict[str, Handler] = {f"iam.projects.serviceAccounts.{verb}": handler for verb, handler in _VERBS.items()}

SERVICE = Service(
    name="iam",
    versions=("v1",),
    handlers=_HANDLERS,
    custom_endpoints={"IAM": "v1/", "IAM_BETA": "v1/"},
    must_be_enabled=True,
    resources={KIND: KIND},
)
