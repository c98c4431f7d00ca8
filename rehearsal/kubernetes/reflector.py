"""A local copy of one kind of object, kept up to date by list and watch as every Kubernetes component does it."""

from __future__ import annotations

import random
import threading
import traceback
from collections.abc import Callable
from typing import Any

from rehearsal.kubernetes.client import ApiError, Client

Object = dict[str, Any]
RETRY_S = (0.2, 0.5, 1.0, 2.0, 5.0)


def key(item: Object) -> str:
    metadata = item["metadata"]
    return f"{metadata.get('namespace', '')}/{metadata['name']}"


class Reflector(threading.Thread):
    """Calls `changed(old, new)` for every difference; one of the two is None when an object came or went."""

    def __init__(
        self, client: Client, path: str, changed: Callable[[Object | None, Object | None], None] = lambda old, new: None
    ) -> None:
        super().__init__(name=f"watch {path}", daemon=True)
        self.client, self.path, self.changed = client, path, changed
        self.items: dict[str, Object] = {}
        self.lock = threading.Lock()
        self.synced = threading.Event()

    def get(self, namespace: str, name: str) -> Object | None:
        with self.lock:
            return self.items.get(f"{namespace}/{name}")

    def all(self) -> list[Object]:
        with self.lock:
            return list(self.items.values())

    def run(self) -> None:
        failures = 0
        while True:
            try:
                version = self._list()
                failures = 0
                while True:
                    version = self._follow(version)
            except ApiError as error:
                if error.code not in (0, 410):
                    print(f"watch of {self.path}: {error}", flush=True)
            except Exception:  # noqa: BLE001 - a watch must outlive a fault in what it calls
                traceback.print_exc()
            threading.Event().wait(RETRY_S[min(failures, len(RETRY_S) - 1)] * random.uniform(0.8, 1.2))
            failures += 1

    def _list(self) -> str:
        answer = self.client.request("GET", self.path)
        fresh = {key(item): item for item in answer.get("items") or []}
        with self.lock:
            before = self.items
            self.items = fresh
        for name in before.keys() - fresh.keys():
            self.changed(before[name], None)
        for name, item in fresh.items():
            old = before.get(name)
            if old is None or old["metadata"]["resourceVersion"] != item["metadata"]["resourceVersion"]:
                self.changed(old, item)
        self.synced.set()
        return str(answer["metadata"]["resourceVersion"])

    def _follow(self, version: str) -> str:
        """Takes events until the watch ends; returns the version to go on from. Raises ApiError (410: list again)."""
        for event in self.client.watch(self.path, version):
            item = event["object"]
            if event["type"] == "ERROR":
                raise ApiError(int(item.get("code", 410)), item.get("reason", ""), item.get("message", ""))
            version = item["metadata"]["resourceVersion"]
            if event["type"] != "BOOKMARK":
                self._apply(event["type"], item)
        return version

    def _apply(self, kind: str, item: Object) -> None:
        name = key(item)
        with self.lock:
            old = self.items.get(name)
            if kind == "DELETED":
                self.items.pop(name, None)
            else:
                self.items[name] = item
        self.changed(old, None if kind == "DELETED" else item)
