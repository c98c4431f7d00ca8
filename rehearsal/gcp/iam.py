"""The IAM API: service accounts."""

from __future__ import annotations

import re

from rehearsal.gcp.core import Call, Handler, Object, World, already_exists, invalid, not_found, number, stamp
from rehearsal.gcp.policy import read_policy, write_policy

KIND = "service-accounts"


def find(world: World, email: str) -> Object | None:
    """The service account of that address."""
    return world.store.get(KIND, email)


def _existing(call: Call) -> Object:
    """The account that a path names, by address or unique id, below its project or below `-`."""
    wanted = call.params["serviceAccountsId"]
    accounts = call.world.store.list(KIND)
    account = next((a for a in accounts if wanted in (a["email"], a["uniqueId"])), None)
    if account is None or call.project not in ("-", account["projectId"]):
        raise not_found(
            f"Unknown service account: {wanted}"
            if "@" not in wanted
            else f"Service account projects/{call.project}/serviceAccounts/{wanted} does not exist."
        )
    return account


def _create(call: Call) -> Object:
    id_ = call.body.get("accountId", "")
    if re.fullmatch(r"[a-z]([-a-z0-9]{4,28}[a-z0-9])", id_) is None:
        raise invalid(
            'The account ID "%s" does not have a length between 6 and 30 or does not match [a-z]([-a-z0-9]*[a-z0-9]).'
            % id_
        )
    email = f"{id_}@{call.project}.iam.gserviceaccount.com"
    with call.world.store.lock:
        if find(call.world, email):
            raise already_exists(f"Service account {id_} already exists within project projects/{call.project}.")
        unique = number(f"{email} {stamp()}", 21)
        account: Object = {
            **call.body.get("serviceAccount", {}),
            "name": f"projects/{call.project}/serviceAccounts/{email}",
            "projectId": call.project,
            "uniqueId": unique,
            "email": email,
            "oauth2ClientId": unique,
            "etag": "MDEwMjE5MjA=",
        }
        call.world.store.put(KIND, email, account)
    return account


def _list(call: Call) -> Object:
    return {"accounts": [a for a in call.world.store.list(KIND) if a["projectId"] == call.project]}


def _patch(call: Call) -> Object:
    account = _existing(call)
    wanted = call.body.get("serviceAccount", {})
    mask = [
        field
        for field in call.body.get("updateMask", "displayName,description")
        .replace("display_name", "displayName")
        .split(",")
        if field
    ]
    account.update({field: wanted.get(field, "") for field in mask})
    call.world.store.put(KIND, account["email"], account)
    return account


def _update(call: Call) -> Object:
    account = _existing(call)
    account.update({field: call.body[field] for field in ("displayName", "description") if field in call.body})
    call.world.store.put(KIND, account["email"], account)
    return account


def _delete(call: Call) -> Object:
    account = _existing(call)
    call.world.store.delete(KIND, account["email"])
    call.world.store.delete("policies", account["name"])
    return {}


def _get_policy(call: Call) -> Object:
    return read_policy(call.world, _existing(call)["name"])


def _set_policy(call: Call) -> Object:
    return write_policy(call.world, _existing(call)["name"], call.body.get("policy", {}))


_S = "iam.projects.serviceAccounts."
HANDLERS: dict[str, Handler] = {
    _S + "create": _create,
    _S + "get": _existing,
    _S + "list": _list,
    _S + "patch": _patch,
    _S + "update": _update,
    _S + "delete": _delete,
    _S + "getIamPolicy": _get_policy,
    _S + "setIamPolicy": _set_policy,
}
