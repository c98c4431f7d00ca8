"""What all APIs share: state, settings, faults, and work that takes time."""

from __future__ import annotations

import hashlib
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rehearsal.gcp.core.errors import ApiError
from rehearsal.gcp.core.kubernetes import Backend, Kubernetes, NoKubernetes
from rehearsal.gcp.core.store import Object, Store


@dataclass(frozen=True)
class ServerSettings:
    """`time_scale` stretches or shrinks how long operations take; without a `backend` clusters have no control plane."""

    time_scale: float = 0.01
    backend: Backend | None = None
    buckets: Path | None = None
    """Where the objects of buckets are. Default: beside the rest of the state."""
    kubernetes: Kubernetes = field(default_factory=NoKubernetes)


Task = Callable[["CloudState", Object], None]


@dataclass
class CloudState:
    store: Store
    settings: ServerSettings
    tasks: dict[str, Task] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def buckets(self) -> Path:
        """Below it the objects of each bucket, in a folder of the bucket's name."""
        stated = self.settings.buckets
        return stated if stated is not None else self.store.folder.parent / "buckets"

    # -- work that takes time -----------------------------------------------------------------------------------------

    def run(self, kind: str, name: str, operation: Object, seconds: float, task: str, args: Object) -> None:
        """Saves an operation and does its work after `seconds` of Google's time. It is taken up again after a restart."""
        self.store.put(kind, name, {**operation, "_task": task, "_args": args, "_seconds": seconds})
        self._begin(kind, name)

    def resume(self) -> None:
        """Takes up every operation that an earlier life of the server left."""
        for kind in ("container-operations", "compute-operations"):
            for name in self.store.names(kind):
                if (self.store.get(kind, name) or {}).get("status") != "DONE":
                    self._begin(kind, name)

    def _begin(self, kind: str, name: str) -> None:
        threading.Thread(target=self._work, args=(kind, name), daemon=True).start()

    def _work(self, kind: str, name: str) -> None:
        operation = self.store.get(kind, name)
        if operation is None:
            return
        if self.over.wait(operation["_seconds"] * self.settings.time_scale):
            return
        error: ApiError | None = None
        try:
            self.tasks[operation["_task"]](self, operation["_args"])
        except ApiError as refused:
            error = refused
        except Exception as failure:  # noqa: BLE001 an operation must end whatever happens
            traceback.print_exc()
            error = ApiError(500, f"Internal error: {failure}", status="INTERNAL", reason="internalError")
        done = {**operation, "status": "DONE", "progress": 100, "endTime": now()}
        if error is not None:
            done["error"] = {
                "code": _RPC.get(error.status, 13),
                "message": error.message,
                "_status": error.status,
                "_reason": error.reason,
            }
        self.store.put(kind, name, done)

    # -- faults -------------------------------------------------------------------------------------------------------

    @property
    def faults(self) -> list[Object]:
        """The faults that are switched on; they outlive the server, as everything in the store does."""
        listed: list[Object] = (self.store.get("faults", "all") or {}).get("list", [])
        return listed

    def set_faults(self, listed: list[Object]) -> None:
        self.store.put("faults", "all", {"list": listed})

    def fault(self, kind: str, method: str, name: str) -> Object | None:
        """The next fault of that kind that is switched on for a call, used up once."""
        with self.store.lock:
            listed = self.faults
            for entry in listed:
                match, times = entry.get("match", {}), entry.get("times", 1)
                fits = match.get("method", method) == method and match.get("name", name) == name
                if entry["fault"] == kind and fits and times > 0:
                    entry["times"] = times - 1
                    self.set_faults(listed)
                    return entry
        return None

    def pace(self, method: str, name: str) -> float:
        """By how much an operation is slowed down."""
        slow = self.fault("slow", method, name)
        return float(slow.get("factor", 10)) if slow else 1.0


_RPC = {
    "INVALID_ARGUMENT": 3,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "INTERNAL": 13,
}


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "Z"


def number(text: str, digits: int = 12) -> str:
    """A number that always belongs to the same text, as a project's number to its id."""
    first = 10 ** (digits - 1)
    return str(first + int(hashlib.sha256(text.encode()).hexdigest(), 16) % (9 * first))


def stamp() -> int:
    return int(time.time() * 1000)


def public(value: Object) -> Object:
    """An object without what only the server knows (keys that start with an underscore)."""
    return {key: item for key, item in value.items() if not key.startswith("_")}
