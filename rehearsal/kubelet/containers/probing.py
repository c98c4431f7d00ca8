"""The probes of one run of a container, and what their results do to it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rehearsal.kubelet.containers.container_records import Record
from rehearsal.kubelet.containers.probes import Prober, attempt
from rehearsal.kubelet.containers.process import Process
from rehearsal.kubelet.pods.context import Context


class Probing:
    """Until the startup probe succeeded, the others wait; without a readiness probe a started container is ready."""

    def __init__(
        self, context: Context, pod: dict[str, Any], container: dict[str, Any], record: Record, process: Process,
        address: str, kill: Callable[[str], None], wake: Callable[[], None],
    ) -> None:  # fmt: skip
        self.context, self.pod, self.container, self.record = context, pod, container, record
        self.process, self.address, self.kill, self.wake = process, address, kill, wake
        self.may_start = threading.Event()
        self.probers: list[Prober] = []
        self.over = False
        if "startupProbe" in container:
            self._begin("startup", self._startup, threading.Event(), at_once=True)
        else:
            self._has_started()
        if "livenessProbe" in container:
            self._begin("liveness", self._liveness, self.may_start)
        if "readinessProbe" in container:
            self._begin("readiness", self._readiness, self.may_start)

    def _begin(
        self, kind: str, changed: Callable[[bool, str], None], may_start: threading.Event, at_once: bool = False
    ) -> None:
        probe = self.container[f"{kind}Probe"]
        if at_once:
            may_start.set()
        prober = Prober(
            probe,
            lambda: attempt(probe, self.container, self.address, self.process.pid()),
            may_start,
            changed,
            lambda why: self._failed(kind, why),
        )
        self.probers.append(prober)
        prober.start()

    def stop(self) -> None:
        self.over = True
        for prober in self.probers:
            prober.stop()

    def _has_started(self) -> None:
        self.record.started = True
        if "readinessProbe" not in self.container:
            self.record.ready = True
        self.may_start.set()

    def _startup(self, success: bool, why: str) -> None:
        if self.over:
            return
        if success:
            self.probers[0].over.set()
            self._has_started()
        else:
            self.kill(f"Container {self.record.name} failed startup probe, will be restarted")
        self.wake()

    def _liveness(self, success: bool, why: str) -> None:
        if not self.over and not success:
            self.kill(f"Container {self.record.name} failed liveness probe, will be restarted")

    def _readiness(self, success: bool, why: str) -> None:
        if not self.over:
            self.record.ready = success
            self.wake()

    def _failed(self, kind: str, why: str) -> None:
        if not self.over:
            text = f"{kind.capitalize()} probe failed: {why}"
            self.context.events.say(self.pod, "Warning", "Unhealthy", text, self.record.name)
