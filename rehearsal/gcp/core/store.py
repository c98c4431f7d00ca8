"""State that survives being killed: one file an object, replaced whole."""

from __future__ import annotations

import copy
import json
import threading
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

Object = dict[str, Any]


class Store:
    """Objects by kind and full name. Each change is on disk before the call returns; what is handed out are copies."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self._objects: dict[tuple[str, str], Object] = {}
        for path in sorted(folder.glob("*/*.json")):
            self._objects[path.parent.name, unquote(path.stem)] = json.loads(path.read_text())

    def _path(self, kind: str, name: str) -> Path:
        return self.folder / kind / f"{quote(name, safe='')}.json"

    def get(self, kind: str, name: str) -> Object | None:
        with self.lock:
            return copy.deepcopy(self._objects.get((kind, name)))

    def put(self, kind: str, name: str, value: Object) -> None:
        with self.lock:
            path = self._path(kind, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_suffix(".new")
            fresh.write_text(json.dumps(value))
            fresh.rename(path)
            self._objects[kind, name] = copy.deepcopy(value)

    def delete(self, kind: str, name: str) -> None:
        with self.lock:
            self._objects.pop((kind, name), None)
            self._path(kind, name).unlink(missing_ok=True)

    def names(self, kind: str, prefix: str = "") -> list[str]:
        with self.lock:
            return sorted(name for k, name in self._objects if k == kind and name.startswith(prefix))

    def list(self, kind: str, prefix: str = "") -> list[Object]:
        with self.lock:
            found = sorted(key for key in self._objects if key[0] == kind and key[1].startswith(prefix))
            return [copy.deepcopy(self._objects[key]) for key in found]
