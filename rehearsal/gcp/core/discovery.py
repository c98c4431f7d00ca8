"""Google's own descriptions of its APIs, as the Python client carries them: which calls there are, and what each takes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import googleapiclient

_SYSTEM = frozenset(
    f"${name}"
    for name in (
        ".xgafv", "alt", "apiVersion", "callback", "ct", "fields", "key", "outputDefaults", "prettyPrint", "unique", "userProject",
    )
)  # fmt: skip
"""Query parameters of every API (docs.cloud.google.com/apis/docs/system-parameters), beside those that its own description names."""
_OF_LISTS = frozenset({"returnPartialSuccess"})
"""Parameters of compute's lists. The descriptions speak of it in words ("set the `returnPartialSuccess` parameter to `true`"), gcloud
sends it, and the parameters that are listed lack it."""
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
def methods(documents: tuple[str, ...]) -> tuple[Method, ...]:
    """All calls that those discovery documents describe; those with more literal path segments first, so that the most specific
    one matches."""
    found = [method for api in documents for method in _methods(api, document(api))]
    return tuple(sorted(found, key=lambda m: m.pattern.pattern.count("(?P<")))


def _methods(api: str, node: dict[str, Any]) -> list[Method]:
    service, common = document(api).get("servicePath", ""), _SYSTEM | frozenset(document(api).get("parameters", {}))
    found = []
    for raw in node.get("methods", {}).values():
        path = service + raw.get("flatPath", raw["path"])
        query = {name for name, p in raw.get("parameters", {}).items() if p.get("location") == "query"}
        if api.startswith("compute.") and raw["id"].endswith((".list", ".aggregatedList")):
            query |= _OF_LISTS
        request = raw.get("request", {}).get("$ref")
        found.append(Method(api, raw["id"], raw["httpMethod"], _pattern(path), common | query, request))
    return found + [method for child in node.get("resources", {}).values() for method in _methods(api, child)]


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{\+?(\w+)\}", path)
    text = "".join(re.escape(part) if n % 2 == 0 else f"(?P<{part}>{_value(part)})" for n, part in enumerate(parts))
    return re.compile(text + "$")


def _value(parameter: str) -> str:
    """Objects of a bucket have names with slashes in them; nothing else has."""
    return ".+" if parameter == "object" else "[^/:]+"


_VERSION_BEFORE_VERSION = re.compile(r"v\d\w*/(?=v\d\w*/)")


def find(documents: tuple[str, ...], verb: str, path: str) -> tuple[Method, dict[str, str]] | None:
    """The call that a request makes, with its path parameters.

    Of two versions the second counts: Google's Terraform provider takes the version off a base address before its clients add
    their own, but only where the address begins with `https` (`RemoveBasePathVersion` in its transport/config.go).
    """
    path = path.lstrip("/")
    doubled = _VERSION_BEFORE_VERSION.match(path)
    path = path[doubled.end() :] if doubled else path
    # Google's front end takes a slash at the end, which its Terraform provider writes in one place. Objects may end with one.
    for candidate in dict.fromkeys((path, path.rstrip("/"))):
        for method in methods(documents):
            match = method.pattern.match(candidate) if method.verb == verb else None
            if match:
                return method, match.groupdict()
    return None
