"""A pod's volumes as folders: written whole, swapped by one symbolic link, written again when their source changes."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

from rehearsal.pods.api import Api, Object
from rehearsal.pods.env import Lookup, MissingReference, data_of, field, resource

TokenSource = Callable[[str | None, int], tuple[str, float]]
"""(audience, seconds) -> (token, when to ask for the next, on time.time's clock)."""

Files = dict[str, tuple[bytes, int]]
"""Path inside the volume -> (content, mode)."""


def token_source(api: Api, pod: Object) -> TokenSource:
    """Tokens of the pod's service account, bound to the pod, by the TokenRequest API."""
    namespace, account = pod["metadata"]["namespace"], pod["spec"].get("serviceAccountName", "default")

    def ask(audience: str | None, seconds: int) -> tuple[str, float]:
        bound = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
        spec: Object = {
            "expirationSeconds": seconds,
            "boundObjectRef": bound,
            "audiences": [audience] if audience else [],
        }
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        answer = api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", body)
        return answer["status"]["token"], time.time() + 0.8 * seconds

    return ask


class Volume:
    """One volume of a pod below `folder`. `source` computes its files; volumes without one (emptyDir) are only a folder."""

    def __init__(self, folder: Path, source: Callable[[], Files] | None) -> None:
        self.folder, self._source = folder, source
        self._written: Files | None = None

    def refresh(self) -> bool:
        """Writes the files if they changed. Raises MissingReference while the source does not exist."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._source is None:
            return False
        files = self._source()
        if files == self._written:
            return False
        _swap(self.folder, files)
        self._written = files
        return True

    def path(self, sub: str) -> Path:
        """What a mount of the volume, or of a path inside it, binds."""
        if not sub:
            return self.folder
        inside = self.folder / "..data" / sub
        return inside.resolve() if inside.exists() else self.folder / sub


def _swap(folder: Path, files: Files) -> None:
    """Kubelet's atomic writer: a fresh folder, `..data` moved to it, top-level names linked through `..data`."""
    fresh = folder / f"..{time.time_ns()}"
    for name, (content, mode) in files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)
    fresh.mkdir(exist_ok=True)
    link = folder / "..data_tmp"
    link.unlink(missing_ok=True)
    link.symlink_to(fresh.name)
    old = (folder / "..data").readlink() if (folder / "..data").is_symlink() else None
    link.rename(folder / "..data")
    wanted = {name.split("/")[0] for name in files}
    for name in wanted:
        if not (folder / name).is_symlink():
            (folder / name).symlink_to(f"..data/{name}")
    for entry in folder.iterdir():
        if not entry.name.startswith("..") and entry.name not in wanted:
            entry.unlink()
    if old is not None:
        shutil.rmtree(folder / old, ignore_errors=True)


def make(pod: Object, volume: Object, folder: Path, lookup: Lookup, tokens: TokenSource) -> Volume:
    """The volume of a pod's spec. Raises ValueError for a kind that this agent does not have."""
    if "emptyDir" in volume:
        return Volume(folder, None)
    if "configMap" in volume:
        return Volume(folder, lambda: _keys(volume["configMap"], volume["configMap"]["name"], "configmaps", lookup))
    if "secret" in volume:
        return Volume(folder, lambda: _keys(volume["secret"], volume["secret"]["secretName"], "secrets", lookup))
    if "downwardAPI" in volume:
        return Volume(folder, lambda: _downward(pod, volume["downwardAPI"]))
    if "projected" in volume:
        return Volume(folder, _projected(pod, volume["projected"], lookup, tokens))
    kinds = ", ".join(key for key in volume if key != "name")
    raise ValueError(f'volume "{volume["name"]}" is of a kind that local processes cannot have: {kinds}')


def _mode(source: Object, item: Object | None = None) -> int:
    stated = (item or {}).get("mode", source.get("defaultMode"))
    return 0o644 if stated is None else int(stated)


def _keys(source: Object, name: str, kind: str, lookup: Lookup) -> Files:
    found = lookup(kind, name)
    if found is None:
        if source.get("optional", False):
            return {}
        raise MissingReference(f'{kind[:-1]} "{name}" not found')
    data = data_of(found)
    if not source.get("items"):
        return {key: (value, _mode(source)) for key, value in data.items()}
    missing = [item["key"] for item in source["items"] if item["key"] not in data]
    if missing and not source.get("optional", False):
        raise MissingReference(f"{kind[:-1]} {name} has no key {missing[0]}")
    return {item["path"]: (data[item["key"]], _mode(source, item)) for item in source["items"] if item["key"] in data}


def _downward(pod: Object, source: Object) -> Files:
    containers = {c["name"]: c for c in pod["spec"]["containers"]}
    files: Files = {}
    for item in source.get("items", []):
        if "fieldRef" in item:
            text = field(pod, item["fieldRef"]["fieldPath"])
        else:
            text = resource(containers[item["resourceFieldRef"]["containerName"]], item["resourceFieldRef"]["resource"])
        files[item["path"]] = (text.encode(), _mode(source, item))
    return files


def _projected(pod: Object, projected: Object, lookup: Lookup, tokens: TokenSource) -> Callable[[], Files]:
    held: dict[str, tuple[str, float]] = {}

    def token(source: Object) -> Files:
        path = source["path"]
        if path not in held or time.time() > held[path][1]:
            held[path] = tokens(source.get("audience"), int(source.get("expirationSeconds", 3600)))
        return {path: (held[path][0].encode(), _mode(projected))}

    def files() -> Files:
        found: Files = {}
        for source in projected.get("sources", []):
            kind, value = next(iter(source.items()))
            value = {"defaultMode": projected.get("defaultMode"), **value}
            if kind == "serviceAccountToken":
                found |= token(value)
            elif kind == "configMap":
                found |= _keys(value, value["name"], "configmaps", lookup)
            elif kind == "secret":
                found |= _keys(value, value["name"], "secrets", lookup)
            elif kind == "downwardAPI":
                found |= _downward(pod, value)
        return found

    return files
