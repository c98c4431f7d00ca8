"""What a call may hold, by Google's descriptions: refuses the rest in the words of Google's front end, and gives handlers one form.

The front end takes field names in camel case and in snake case, numbers as text, and null as absent; what only Google sets is ignored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rehearsal.gcp.core.discovery import Method, document
from rehearsal.gcp.core.errors import ApiError

_RANGES = {"int32": (-(2**31), 2**31), "uint32": (0, 2**32), "int64": (-(2**63), 2**63), "uint64": (0, 2**64)}

_ACCEPTED_AND_IGNORED = {
    ("compute", "NetworkRoutingConfig"): frozenset({"deleteBgpAlwaysCompareMed"}),
    ("compute", "RouterNat"): frozenset({"initialNatIps"}),
}
"""Fields by (API, schema) that no discovery document has and that Google accepts all the same. The real `pulumi-resource-gcp`
(terraform-provider-google-beta) sends its own fields `delete_bgp_always_compare_med` of networks and `initial_nat_ips` of NATs along
with `networks.insert` and `routers.patch`, where they have no effect."""


@dataclass
class _Reading:
    """One body being read. `faults` are (field path, description), as many as there are."""

    api: str
    document: dict[str, Any]
    clears: bool = False
    """Whether null takes a value away, as in Cloud Storage's patches; elsewhere it says nothing."""
    faults: list[tuple[str, str]] = field(default_factory=list)

    def wrong(self, path: str, wanted: str, value: Any) -> None:
        self.faults.append((path, f"Invalid value at '{path}' ({wanted}), {json.dumps(value)}"))

    def type_name(self, schema_name: str) -> str:
        service, version = self.api.split(".")
        return f"type.googleapis.com/google.{service}.{version}.{schema_name}"


def check(method: Method, query: Iterable[str], body: Any) -> Any:
    """The body in the form that handlers read; `query` are the names of the call's parameters.

    Raises ApiError with everything in the call that the API does not know or take.
    """
    clears = method.verb == "PATCH" and method.api.startswith("storage.")
    reading = _Reading(method.api, document(method.api), clears)
    for name in query:
        if name not in method.query:
            reading.faults.append(("", _unknown(name, "", "Cannot bind query parameter.", method)))
    read = body
    if method.request and body is not None:
        read = _message(reading, method.request, body, "")
    if reading.faults:
        violations = [{**({"field": at} if at else {}), "description": text} for at, text in reading.faults]
        details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
        raise ApiError(400, "\n".join(text for _, text in reading.faults), details=details)
    return read


def _unknown(name: str, path: str, why: str, method: Method | None = None) -> str:
    where = f" at '{path}'" if path else ""
    more = f" Field '{name}' could not be found in request message." if method else ""
    return f'Invalid JSON payload received. Unknown name "{name}"{where}: {why}{more}'


def _message(reading: _Reading, name: str, value: Any, path: str) -> Any:
    if not isinstance(value, dict):
        reading.wrong(path, reading.type_name(name), value)
        return None
    schema = reading.document["schemas"][name]
    properties = schema.get("properties", {})
    if not properties:  # a message of any fields, such as google.protobuf.Struct
        return value
    found: dict[str, Any] = {}
    ignored = _ACCEPTED_AND_IGNORED.get((reading.api.split(".")[0], name), frozenset())
    for key, item in value.items():
        known = key if key in properties else _camel(key)
        if known in ignored:
            continue
        if known not in properties:
            reading.faults.append((path, _unknown(key, path, "Cannot find field.")))
        elif item is None and reading.clears:
            found[known] = None
        elif item is not None:
            inner = f"{path}.{_snake(known)}" if path else _snake(known)
            read = _value(reading, properties[known], item, inner, f"{name}.{known[:1].upper()}{known[1:]}")
            if not properties[known].get("readOnly"):
                found[known] = read
    return found


def _value(reading: _Reading, schema: dict[str, Any], value: Any, path: str, enum: str) -> Any:
    kind = "message" if "$ref" in schema else schema.get("type", "any")
    if kind == "array":
        if not isinstance(value, list):
            value = [value]  # the front end takes one value for a list of one
        return [_value(reading, schema["items"], item, f"{path}[{n}]", enum) for n, item in enumerate(value)]
    if isinstance(value, list) and kind != "any":
        parent, _, last = path.rpartition(".")
        reading.faults.append(
            (parent, _unknown(_camel(last), parent, "Proto field is not repeating, cannot start list."))
        )
        return None
    if kind == "message":
        return _message(reading, schema["$ref"], value, path)
    if kind == "object":
        return _mapping(reading, schema, value, path, enum)
    return _scalar(reading, schema, kind, value, path, enum)


def _mapping(reading: _Reading, schema: dict[str, Any], value: Any, path: str, enum: str) -> Any:
    if not isinstance(value, dict):
        reading.wrong(path, "Map", value)
        return None
    inner = schema.get("additionalProperties")
    if inner is None:
        return value
    return {
        key: None if item is None and reading.clears else _value(reading, inner, item, f"{path}.{key}", enum)
        for key, item in value.items()
    }


def _scalar(reading: _Reading, schema: dict[str, Any], kind: str, value: Any, path: str, enum: str) -> Any:
    form = schema.get("format", "")
    if "enum" in schema:
        if value not in schema["enum"]:
            reading.wrong(path, reading.type_name(enum), value)
    elif kind == "boolean":
        if not isinstance(value, bool):
            reading.wrong(path, "TYPE_BOOL", value)
    elif kind == "integer" or form in _RANGES:
        return _integer(reading, form or "int32", kind, value, path)
    elif kind == "number":
        if isinstance(value, bool) or not isinstance(value, int | float):
            reading.wrong(path, "TYPE_DOUBLE", value)
    elif kind == "string" and not isinstance(value, str):
        reading.wrong(path, "TYPE_STRING", value)
    return value


def _integer(reading: _Reading, form: str, kind: str, value: Any, path: str) -> Any:
    low, high = _RANGES.get(form, _RANGES["int32"])
    whole = not isinstance(value, bool) and re.fullmatch(r"-?\d+(\.0+)?", str(value)) is not None
    if not whole or not low <= int(float(value) if "." in str(value) else value) < high:
        reading.wrong(path, f"TYPE_{form.upper()}", value)
        return None
    return int(value) if kind == "integer" else str(value)


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
