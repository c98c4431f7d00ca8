"""What is remembered of each container between looks at its pod, and across restarts of the agent."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

LOST_CODE = 137


@dataclass
class Record:
    """One container. `state` and `last_state` are as the API has them; `crashes` counts restarts for the back-off."""

    name: str
    restart_count: int = 0
    runs: int = 0
    crashes: int = 0
    state: dict[str, Any] = field(default_factory=lambda: {"waiting": {"reason": "ContainerCreating"}})
    last_state: dict[str, Any] = field(default_factory=dict)
    started: bool = False
    ready: bool = False

    @property
    def running(self) -> bool:
        return "running" in self.state

    @property
    def ended(self) -> dict[str, Any] | None:
        """How the container's latest run ended, unless it runs (again)."""
        if self.running:
            return None
        found = self.state.get("terminated") or self.last_state.get("terminated")
        return dict(found) if found else None


def adopted(status: dict[str, Any]) -> Record:
    """A record made from what the API server knows of a container, when the agent's own is lost with the node it was on."""
    record = Record(status["name"], status.get("restartCount", 0))
    record.state = status.get("state") or record.state
    record.last_state = status.get("lastState") or {}
    if record.running or record.ended is not None:
        record.runs = record.restart_count + 1
    return record


def load(path: Path, names: list[str], statuses: Sequence[dict[str, Any]] = ()) -> dict[str, Record]:
    """The records kept at `path`; a container that has none is taken from `statuses`, or is new."""
    try:
        kept = {row["name"]: Record(**row) for row in json.loads(path.read_text())}
    except (OSError, ValueError, TypeError, KeyError):
        kept = {}
    known = {status["name"]: adopted(status) for status in statuses}
    return {name: kept.get(name) or known.get(name) or Record(name) for name in names}


def save(path: Path, records: dict[str, Record]) -> None:
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps([asdict(record) for record in records.values()]))
    os.replace(temporary, path)


def lost(record: Record, now: str) -> None:
    """Notes that a container which ran when the agent was last alive does so no more."""
    record.ready = record.started = False
    record.crashes = 0  # nor did it crash: it starts again at once
    if record.running:
        record.state = {
            "terminated": {
                "exitCode": LOST_CODE,
                "reason": "ContainerStatusUnknown",
                "message": "The container could not be located when the kubelet was restarted",
                "startedAt": record.state["running"].get("startedAt"),
                "finishedAt": now,
            }
        }
