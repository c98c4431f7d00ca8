"""Objects, which are files: listed, described and deleted. What is in them is read and written by whoever mounts the bucket."""

from __future__ import annotations

import contextlib
import mimetypes
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from rehearsal.gcp.core import ApiError, Call, Handler, Object
from rehearsal.gcp.storage.buckets import bucket_of, folder

MOST_IN_PAGE = 1000


def _path(call: Call) -> Path:
    """The file of the object that a path names. Raises ApiError where there is none, or where the name leads out of the bucket."""
    root, name = folder(call.world, bucket_of(call)["name"]), call.params["object"]
    path = root / name
    inside = path.resolve().is_relative_to(root.resolve())
    if not inside or not path.is_file():
        raise ApiError(404, f"No such object: {root.name}/{name}")
    return path


def files(root: Path) -> Iterator[Path]:
    """All files of a bucket, while others write and delete there."""
    for where, _, names in os.walk(root):
        yield from (Path(where, name) for name in names)


def _described(bucket: Object, root: Path, path: Path) -> Object:
    """Raises FileNotFoundError for an object that was deleted since it was found."""
    name, state = path.relative_to(root).as_posix(), path.stat()
    moment = datetime.fromtimestamp(state.st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    generation = str(state.st_mtime_ns // 1000)
    kind = mimetypes.guess_type(name)[0]
    return {
        "kind": "storage#object",
        "id": f"{bucket['name']}/{name}/{generation}",
        "selfLink": f"{bucket['selfLink']}/o/{name.replace('/', '%2F')}",
        "name": name,
        "bucket": bucket["name"],
        "generation": generation,
        "metageneration": "1",
        "contentType": kind if kind is not None else "application/octet-stream",
        "storageClass": bucket["storageClass"],
        "size": str(state.st_size),
        "timeCreated": moment,
        "updated": moment,
    }


def _list(call: Call) -> Object:
    """Names in order. With a delimiter, what lies behind it is told by its prefix only, as a folder is."""
    bucket = bucket_of(call)
    root, prefix, delimiter = folder(call.world, bucket["name"]), call.query.get("prefix"), call.query.get("delimiter")
    names = sorted(path.relative_to(root).as_posix() for path in files(root))
    wanted = [name for name in names if name.startswith(prefix)]
    prefixes = dict.fromkeys(_prefix(name, prefix, delimiter) for name in wanted)
    prefixes.pop("", None)
    rows = [name for name in wanted if not _prefix(name, prefix, delimiter)]
    token, size = call.query.get("pageToken"), call.query.get("maxResults")
    start = int(token) if token.isdigit() else 0
    count = min(int(size), MOST_IN_PAGE) if size.isdigit() and int(size) > 0 else MOST_IN_PAGE
    found: Object = {"kind": "storage#objects"}
    items = []
    for name in rows[start : start + count]:
        with contextlib.suppress(FileNotFoundError):
            items.append(_described(bucket, root, root / name))
    if items:
        found["items"] = items
    if start + count < len(rows):
        found["nextPageToken"] = str(start + count)
    return {**found, **({"prefixes": list(prefixes)} if prefixes else {})}


def _prefix(name: str, prefix: str, delimiter: str) -> str:
    """The name up to the first delimiter after the prefix; "" where there is none."""
    rest = name[len(prefix) :]
    return prefix + rest[: rest.index(delimiter) + len(delimiter)] if delimiter and delimiter in rest else ""


def _get(call: Call) -> Object:
    path, bucket = _path(call), bucket_of(call)
    if call.query.get("alt") == "media":
        raise ApiError(501, "The content of objects is not served by this rehearsal: read it in the bucket's folder.")
    try:
        return _described(bucket, folder(call.world, bucket["name"]), path)
    except FileNotFoundError:
        raise ApiError(404, f"No such object: {bucket['name']}/{call.params['object']}") from None


def _delete(call: Call) -> Object:
    _path(call).unlink(missing_ok=True)
    return {}


HANDLERS: dict[str, Handler] = {
    "storage.objects.list": _list,
    "storage.objects.get": _get,
    "storage.objects.delete": _delete,
}
