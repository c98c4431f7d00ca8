"""Lists: filters, pages, and the lists of all regions or zones at once."""

from __future__ import annotations

import re

from rehearsal.gcp.compute.kinds import BASE, wrong
from rehearsal.gcp.core import Call, Object

MOST = 500
"""So many results a page holds at most, and unless told (the description of `maxResults`)."""
_TERM = re.compile(
    r'\(?\s*([\w.]+)\s*(=|!=|:|\beq\b|\bne\b)\s*(?:"([^"]*)"|\'([^\']*)\'|([^\s()]*|\([^()]*\)\S*))\s*\)?'
)


def page(call: Call, kind: str, path: str, rows: list[Object]) -> Object:
    """One page of a list, as `compute#<kind>List`. `path` is that of the collection."""
    rows = filtered(call, rows)
    start, count = _window(call)
    found: Object = {"kind": f"compute#{kind}List", "id": path, "selfLink": f"{BASE}/{path}"}
    if rows[start : start + count]:
        found["items"] = rows[start : start + count]
    if start + count < len(rows):
        found["nextPageToken"] = str(start + count)
    return found


def aggregated(call: Call, kind: str, plural: str, project: str, scopes: dict[str, list[Object]]) -> Object:
    """All scopes (`regions/r`, `zones/z`, `global`) at once; those without results say so, as Google's do."""
    items: Object = {}
    for scope, rows in scopes.items():
        found = filtered(call, rows)
        items[scope] = {plural: found} if found else {"warning": _nothing(scope)}
    path = f"projects/{project}/aggregated/{plural}"
    return {"kind": f"compute#{kind}AggregatedList", "id": path, "items": items, "selfLink": f"{BASE}/{path}"}


def _nothing(scope: str) -> Object:
    return {
        "code": "NO_RESULTS_ON_PAGE",
        "message": f"There are no results for scope '{scope}' on this page.",
        "data": [{"key": "scope", "value": scope}],
    }


def _window(call: Call) -> tuple[int, int]:
    token, size = call.query.get("pageToken", ""), call.query.get("maxResults", "")
    if token and not token.isdigit():
        raise wrong("pageToken", token, "The page token is invalid.")
    if size and not (size.isdigit() and int(size) <= MOST):
        raise wrong("maxResults", size, f"Must be between 0 and {MOST}.")
    return int(token) if token else 0, int(size) if size and int(size) > 0 else MOST


def filtered(call: Call, rows: list[Object]) -> list[Object]:
    """The rows that the call's `filter` lets through: terms of one field each, all of which must hold."""
    text = call.query.get("filter", "").strip()
    terms = [] if not text else re.split(r"\s+AND\s+|\)\s*(?=\()", text)
    for term in terms:
        match = _TERM.fullmatch(term.strip())
        if match is None:
            raise wrong("filter", text, "Invalid list filter expression.")
        rows = [
            row for row in rows if _holds(row, match[1], match[2], next(v for v in match.groups()[2:] if v is not None))
        ]
    return rows


def _holds(row: Object, field: str, operator: str, wanted: str) -> bool:
    value: object = row
    for part in field.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    text = str(value).lower() if isinstance(value, bool) else "" if value is None else str(value)
    if operator in ("eq", "ne"):
        return (re.fullmatch(wanted, text) is not None) == (operator == "eq")
    if operator == ":":
        return wanted == "*" or wanted.replace("*", "").lower() in text.lower()
    return (text == wanted) == (operator == "=")
