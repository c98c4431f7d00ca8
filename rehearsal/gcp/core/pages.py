"""Lists in pages, by `pageSize` and `pageToken`."""

from __future__ import annotations

from rehearsal.gcp.core.call import Call
from rehearsal.gcp.core.errors import invalid
from rehearsal.gcp.core.store import Object


def page(call: Call, key: str, rows: list[Object], usual: int, most: int) -> Object:
    """One page of a list, under `key`, which is left out when there is nothing in it.

    It holds `usual` rows unless told, and never more than `most`. Raises ApiError for a token that is none of this server's.
    """
    token, size = call.query.get("pageToken"), call.query.get("pageSize")
    if token and not token.isdigit():
        raise invalid("The page token is invalid.")
    asked = int(size) if size.isdigit() else 0
    start, count = int(token) if token else 0, min(asked if asked > 0 else usual, most)
    found: Object = {key: rows[start : start + count]} if rows[start : start + count] else {}
    if start + count < len(rows):
        found["nextPageToken"] = str(start + count)
    return found
