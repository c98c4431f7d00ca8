"""How far a job of any kind has come, as each kind reads it from its own objects. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True)
class JobStatus:
    wanted: int
    """Slices."""
    ended: datetime | None
    succeeded: bool
    pods: tuple[tuple[str, Object], ...]
    """Its pods with chips, each with the number of its slice."""
    head: tuple[Object, ...] = ()
    """Pods that coordinate the others, on the nodes for system pods."""


def moment(text: str | None) -> datetime | None:
    """A time of the Kubernetes API."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def condition(thing: Object | None, kind: str) -> Object | None:
    """The condition of that type when it is true."""
    conditions = (thing or {}).get("status", {}).get("conditions", [])
    return next((c for c in conditions if c["type"] == kind and c["status"] == "True"), None)


def since(found: Object | None) -> datetime | None:
    """When a condition became true."""
    return moment(found["lastTransitionTime"]) if found else None


def label(pod: Object, key: str, default: str = "") -> str:
    return str(pod["metadata"].get("labels", {}).get(key, default))
