"""What to do next with a pod's containers: a pure function of their records, so that every case can be tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rehearsal.kubelet.containers.container_records import Record
from rehearsal.kubernetes.time import seconds_of

FIRST_BACKOFF_S, MOST_BACKOFF_S = 10.0, 300.0
"""The kubelet's delays between restarts: the first restart is at once, then 10 s, doubling to 300 s (kubernetes.io: Pod Lifecycle)."""


@dataclass
class Plan:
    """Containers to start now, those that wait and why, when to look again, and how the pod ended if it has."""

    start: list[str] = field(default_factory=list)
    waiting: dict[str, tuple[str, str]] = field(default_factory=dict)
    look_again_at: float | None = None
    initialized: bool = True
    phase: str | None = None


def delay(crashes: int, scale: float) -> float:
    """Seconds to wait before a restart, after so many restarts in a row."""
    return min(FIRST_BACKOFF_S * 2 ** min(crashes - 1, 10), MOST_BACKOFF_S) * scale if crashes > 0 else 0.0


def steady(record: Record, scale: float) -> bool:
    """Whether the run that ended was so long that the back-off starts anew (twice the longest delay)."""
    ended = record.ended
    if ended is None or not ended.get("startedAt") or not ended.get("finishedAt"):
        return False
    return seconds_of(ended["finishedAt"]) - seconds_of(ended["startedAt"]) > 2 * MOST_BACKOFF_S * scale


def wanted_again(policy: str, code: int) -> bool:
    return policy == "Always" or (policy == "OnFailure" and code != 0)


def plan(pod: Mapping[str, Any], records: Mapping[str, Record], now: float, scale: float) -> Plan:
    """The next steps of a pod that is not being deleted."""
    spec = pod["spec"]
    policy = spec.get("restartPolicy", "Always")
    result = Plan()
    for container in spec.get("initContainers") or []:
        record = records[container["name"]]
        sidecar = container.get("restartPolicy") == "Always"
        if sidecar and record.running and record.started:
            continue
        ended = record.ended
        if not sidecar and ended is not None and ended["exitCode"] == 0:
            continue
        if not sidecar and ended is not None and policy == "Never":
            result.phase = "Failed"
        elif not record.running:
            _start(result, pod, record, now, scale)
        result.initialized = False
        return result
    for container in spec["containers"]:
        record = records[container["name"]]
        ended = record.ended
        if not record.running and (ended is None or wanted_again(policy, ended["exitCode"])):
            _start(result, pod, record, now, scale)
    endings = [records[container["name"]].ended for container in spec["containers"]]
    if all(ending is not None and not wanted_again(policy, ending["exitCode"]) for ending in endings):
        failed = any(ending is not None and ending["exitCode"] != 0 for ending in endings)
        result.phase = "Failed" if failed else "Succeeded"
    return result


def _start(result: Plan, pod: Mapping[str, Any], record: Record, now: float, scale: float) -> None:
    """Starts a container, at once or when its back-off is over."""
    ended = record.ended
    pause = 0.0 if ended is None or steady(record, scale) else delay(record.crashes, scale)
    due = now if ended is None else seconds_of(ended["finishedAt"]) + pause
    if due <= now:
        result.start.append(record.name)
        return
    metadata = pod["metadata"]
    where = f"pod={metadata['name']}_{metadata['namespace']}({metadata['uid']})"
    text = f"back-off {pause:g}s restarting failed container={record.name} {where}"
    result.waiting[record.name] = ("CrashLoopBackOff", text)
    result.look_again_at = due if result.look_again_at is None else min(result.look_again_at, due)
