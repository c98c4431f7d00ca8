"""A pod's status from what its containers do. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rehearsal.pods.api import Object


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class ContainerState:
    """What is known of one container. `state` and `last` have the API's shape."""

    name: str
    image: str
    state: Object = field(default_factory=lambda: {"waiting": {"reason": "ContainerCreating"}})
    last: Object = field(default_factory=dict)
    started: bool = False
    ready: bool = False
    restarts: int = 0
    id: str = ""

    @property
    def exit_code(self) -> int | None:
        ended = self.state.get("terminated")
        return int(ended["exitCode"]) if ended else None

    def shown(self) -> Object:
        return {
            "name": self.name, "image": self.image, "imageID": f"{self.image}@local", "containerID": f"containerd://{self.id}" if self.id else "",
            "ready": self.ready, "started": self.started, "restartCount": self.restarts, "state": self.state, "lastState": self.last,
        }  # fmt: skip


def phase(policy: str, init: Sequence[ContainerState], main: Sequence[ContainerState]) -> str:
    """The phase that the containers' states mean under a restart policy."""
    if any(c.exit_code not in (None, 0) for c in init) and policy == "Never":
        return "Failed"
    if any(c.exit_code is None for c in init):
        return "Pending"
    codes = [c.exit_code for c in main]
    if all(code is not None for code in codes) and policy != "Always":
        if all(code == 0 for code in codes):
            return "Succeeded"
        if policy == "Never":
            return "Failed"
    begun = any("running" in c.state or c.exit_code is not None or c.last for c in main)
    return "Running" if begun else "Pending"


def status(
    pod: Object, init: Sequence[ContainerState], main: Sequence[ContainerState], address: str, host: str, sandbox: bool
) -> Object:
    """The whole status to write. Conditions that others own (PodScheduled, readiness gates) are kept."""
    found = phase(pod["spec"].get("restartPolicy", "Always"), init, main)
    initialized = all(c.exit_code == 0 for c in init)
    ready = bool(main) and all(c.ready for c in main) and found == "Running"
    over = found in ("Succeeded", "Failed")
    reason = {"reason": "PodCompleted"} if over else {"reason": "ContainersNotReady"}
    mine: list[tuple[str, bool, Object]] = [
        ("PodReadyToStartContainers", sandbox and not over, {}),
        ("Initialized", initialized, {} if initialized else {"reason": "ContainersNotInitialized"}),
        ("ContainersReady", ready, {} if ready else reason),
        ("Ready", ready, {} if ready else reason),
    ]
    before = {c["type"]: c for c in pod.get("status", {}).get("conditions", [])}
    conditions = [c for kind, c in before.items() if kind not in {k for k, _, _ in mine}]
    for kind, true, extra in mine:
        value = "True" if true else "False"
        old = before.get(kind, {})
        since = old.get("lastTransitionTime") if old.get("status") == value else None
        conditions.append({"type": kind, "status": value, "lastTransitionTime": since or now(), **extra})
    result: Object = {
        "phase": found, "conditions": conditions, "containerStatuses": [c.shown() for c in main],
        "hostIP": host, "hostIPs": [{"ip": host}], "startTime": pod.get("status", {}).get("startTime") or now(),
    }  # fmt: skip
    if init:
        result["initContainerStatuses"] = [c.shown() for c in init]
    if address:
        result |= {"podIP": address, "podIPs": [{"ip": address}]}
    return result
