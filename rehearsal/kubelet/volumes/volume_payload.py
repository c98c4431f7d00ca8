"""What the files of a volume hold. Pure but for the look-ups handed in; `writer` puts the files in place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rehearsal.kubelet.containers.downward_api import Surroundings, field, resource
from rehearsal.kubelet.containers.variables import Lookup, content

Pod = dict[str, Any]
DEFAULT_MODE = 0o644
Token = Callable[[str | None, int], str]
"""(audience, lifetime in seconds) -> a token of the pod's service account."""


class MountError(Exception):
    """A volume cannot be set up yet; the text is what the pod's FailedMount event says."""


@dataclass(frozen=True)
class File:
    content: bytes
    mode: int = DEFAULT_MODE


Payload = dict[str, File]

WRITTEN = ("configMap", "secret", "downwardAPI", "projected")
"""Volumes whose files are written from objects, and followed when those change."""


def payload(pod: Pod, volume: Mapping[str, Any], around: Surroundings, lookup: Lookup, token: Token) -> Payload:
    """The files of one volume of a kind in WRITTEN. Raises MountError, FieldError."""
    kind = next(kind for kind in WRITTEN if kind in volume)
    source = volume[kind]
    mode = _mode(source.get("defaultMode"), DEFAULT_MODE)
    if kind != "projected":
        return _source(pod, kind, source, mode, around, lookup, token)
    files: Payload = {}
    for part in source.get("sources") or []:
        kind = next(iter(part))
        files |= _source(pod, kind, part[kind], mode, around, lookup, token)
    return files


def _source(
    pod: Pod, kind: str, source: Mapping[str, Any], mode: int, around: Surroundings, lookup: Lookup, token: Token
) -> Payload:
    if kind in ("configMap", "secret"):
        return _object(kind, source, mode, lookup)
    if kind == "serviceAccountToken":
        seconds = source.get("expirationSeconds")
        text = token(source.get("audience"), 3600 if seconds is None else int(seconds))
        return {source["path"]: File(text.encode(), mode)}
    if kind == "downwardAPI":
        return {item["path"]: _downward(pod, item, mode, around) for item in source.get("items") or []}
    raise MountError(f"volumes of kind {kind} are not offered in a rehearsal")


def _object(kind: str, source: Mapping[str, Any], mode: int, lookup: Lookup) -> Payload:
    name = source.get("secretName") or source.get("name") or ""
    item = lookup("ConfigMap" if kind == "configMap" else "Secret", name)
    if item is None:
        if source.get("optional"):
            return {}
        raise MountError(f'{kind.lower()} "{name}" not found')
    entries = content("ConfigMap" if kind == "configMap" else "Secret", item)
    if not source.get("items"):
        return {key: File(value, mode) for key, value in entries.items()}
    files: Payload = {}
    for wanted in source["items"]:
        if wanted["key"] in entries:
            files[wanted["path"]] = File(entries[wanted["key"]], _mode(wanted.get("mode"), mode))
        elif not source.get("optional"):
            raise MountError(f"references non-existent {kind.lower()} key: {wanted['key']}")
    return files


def _downward(pod: Pod, item: Mapping[str, Any], mode: int, around: Surroundings) -> File:
    mode = _mode(item.get("mode"), mode)
    if "fieldRef" in item:
        return File(field(pod, item["fieldRef"]["fieldPath"], around).encode(), mode)
    return File(resource(pod, item["resourceFieldRef"], "", around).encode(), mode)


def _mode(stated: int | None, otherwise: int) -> int:
    return otherwise if stated is None else int(stated)


def references(pod: Pod) -> set[tuple[str, str]]:
    """(kind, name) of all ConfigMaps and Secrets that the pod's volumes are written from."""
    found: set[tuple[str, str]] = set()
    for volume in pod["spec"].get("volumes") or []:
        parts = [volume, *((volume.get("projected") or {}).get("sources") or [])]
        for part in parts:
            if "configMap" in part:
                found.add(("ConfigMap", part["configMap"]["name"]))
            if "secret" in part:
                found.add(("Secret", part["secret"].get("secretName") or part["secret"].get("name") or ""))
    return found
