"""Google's own descriptions of its APIs, as the Python client carries them: which calls there are, and what each takes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import googleapiclient

from rehearsal.gcp.core.errors import ApiError

APIS = (
    "container.v1",
    "container.v1beta1",
    "compute.v1",
    "serviceusage.v1",
    "iam.v1",
    "cloudresourcemanager.v1",
    "cloudresourcemanager.v3",
)
_FOLDER = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"


@dataclass(frozen=True)
class Method:
    """One call: `pattern` matches its path (without the leading slash)."""

    api: str
    id: str
    verb: str
    pattern: re.Pattern[str]
    query: frozenset[str]
    request: str | None


@cache
def document(api: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((_FOLDER / f"{api}.json").read_text())
    return content


@cache
def methods() -> tuple[Method, ...]:
    """All calls of all APIs; those with more literal path segments first, so that the most special one matches."""
    found = [method for api in APIS for method in _methods(api, document(api))]
    return tuple(sorted(found, key=lambda m: m.pattern.pattern.count("(?P<")))


def _methods(api: str, node: dict[str, Any]) -> list[Method]:
    service, common = document(api).get("servicePath", ""), frozenset(document(api).get("parameters", {}))
    found = []
    for raw in node.get("methods", {}).values():
        path = service + raw.get("flatPath", raw["path"])
        query = {name for name, p in raw.get("parameters", {}).items() if p.get("location") == "query"}
        request = raw.get("request", {}).get("$ref")
        found.append(
            Method(
                api, raw["id"], raw["httpMethod"], _pattern(path), common | query | {"$alt", "$prettyPrint"}, request
            )
        )
    return found + [method for child in node.get("resources", {}).values() for method in _methods(api, child)]


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{\+?(\w+)\}", path)
    text = "".join(re.escape(part) if n % 2 == 0 else f"(?P<{part}>[^/:]+)" for n, part in enumerate(parts))
    return re.compile(text + "$")


def find(verb: str, path: str) -> tuple[Method, dict[str, str]] | None:
    """The call that a request makes, with its path parameters. compute's beta paths mean the same calls."""
    path = path.lstrip("/").replace("compute/beta/", "compute/v1/", 1)
    for method in methods():
        match = method.pattern.match(path) if method.verb == verb else None
        if match:
            return method, match.groupdict()
    return None


# -- what a body may hold ---------------------------------------------------------------------------------------------


def check(method: Method, query: dict[str, str], body: Any) -> None:
    """Raises ApiError with all that the API does not know or take, in the words of Google's front end."""
    faults = [
        f"Invalid JSON payload received. Unknown name \"{name}\": Cannot bind query parameter. Field '{name}' could not be found in request message."
        for name in query
        if name not in method.query
    ]
    if method.request and body is not None:
        faults += _faults(document(method.api), {"$ref": method.request}, body, "")
    if faults:
        violations = [{"description": fault} for fault in faults]
        details = [{"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]
        raise ApiError(400, "\n".join(faults), details=details)


def _faults(doc: dict[str, Any], schema: dict[str, Any], value: Any, path: str) -> list[str]:
    if value is None:
        return []
    if "$ref" in schema:
        schema = doc["schemas"][schema["$ref"]]
    kind = schema.get("type", "any")
    if kind == "object":
        return _object_faults(doc, schema, value, path)
    if kind == "array":
        if not isinstance(value, list):
            return [_wrong(path, "repeated field", value)]
        return [f for n, item in enumerate(value) for f in _faults(doc, schema["items"], item, f"{path}[{n}]")]
    return _scalar_faults(schema, kind, value, path)


def _object_faults(doc: dict[str, Any], schema: dict[str, Any], value: Any, path: str) -> list[str]:
    if not isinstance(value, dict):
        return [_wrong(path, "message", value)]
    properties, free = schema.get("properties", {}), schema.get("additionalProperties")
    found = []
    for name, item in value.items():
        inner = f"{path}.{_snake(name)}" if path else _snake(name)
        known = properties.get(name) or properties.get(_camel(name))
        if known is not None:
            found += _faults(doc, known, item, inner)
        elif free is not None:
            found += _faults(doc, free, item, inner)
        else:
            where = f" at '{path}'" if path else ""
            found.append(f'Invalid JSON payload received. Unknown name "{name}"{where}: Cannot find field.')
    return found


_INTEGERS = {"int32": 32, "uint32": 32, "int64": 64, "uint64": 64}


def _scalar_faults(schema: dict[str, Any], kind: str, value: Any, path: str) -> list[str]:
    form = schema.get("format", "")
    if "enum" in schema:
        return [] if value in schema["enum"] else [_wrong(path, "enum", value)]
    if kind == "boolean":
        return [] if isinstance(value, bool) else [_wrong(path, "TYPE_BOOL", value)]
    if kind == "integer" or form in _INTEGERS:
        fits = not isinstance(value, bool) and re.fullmatch(r"-?\d+", str(value)) is not None
        return [] if fits else [_wrong(path, f"TYPE_{(form or 'int32').upper()}", value)]
    if kind == "number":
        return (
            []
            if isinstance(value, int | float) and not isinstance(value, bool)
            else [_wrong(path, "TYPE_DOUBLE", value)]
        )
    if kind == "string":
        return [] if isinstance(value, str) else [_wrong(path, "TYPE_STRING", value)]
    return []


def _wrong(path: str, wanted: str, value: Any) -> str:
    return f"Invalid value at '{path}' ({wanted}), {json.dumps(value)}"


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)
