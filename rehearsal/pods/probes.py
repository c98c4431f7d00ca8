"""Probes: what a container says of itself, asked as the kubelet asks (kubernetes.io: configure liveness, readiness and startup probes)."""

from __future__ import annotations

import http.client
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rehearsal.pods.api import Object

Exec = Callable[[Sequence[str], float], int]
"""(command, timeout) -> exit code, inside the container."""


@dataclass(frozen=True)
class Target:
    """What a probe needs to know of its container."""

    address: str
    ports: dict[str, int]
    run: Exec


def port_of(value: object, target: Target) -> int:
    return target.ports[str(value)] if isinstance(value, str) and not value.isdigit() else int(str(value))


def ask(probe: Object, target: Target) -> str | None:
    """One try: None when it succeeds, else why not."""
    timeout = float(probe.get("timeoutSeconds", 1))
    try:
        if "httpGet" in probe:
            return _http(probe["httpGet"], target, timeout)
        if "tcpSocket" in probe:
            socket.create_connection((target.address, port_of(probe["tcpSocket"]["port"], target)), timeout).close()
            return None
        if "exec" in probe:
            code = target.run(probe["exec"]["command"], timeout)
            return None if code == 0 else f"command exited with {code}"
    except (OSError, KeyError, http.client.HTTPException, subprocess.TimeoutExpired) as error:
        return str(error)
    return "this kind of probe is not played by the rehearsal"


def _http(get: Object, target: Target, timeout: float) -> str | None:
    host, port = get.get("host", target.address), port_of(get["port"], target)
    if get.get("scheme", "HTTP") == "HTTPS":
        context = ssl._create_unverified_context()
        connection: http.client.HTTPConnection = http.client.HTTPSConnection(
            host, port, timeout=timeout, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    try:
        connection.request(
            "GET", get.get("path", "/"), headers={h["name"]: h["value"] for h in get.get("httpHeaders", [])}
        )
        status = connection.getresponse().status
    finally:
        connection.close()
    return None if 200 <= status < 400 else f"HTTP probe failed with statuscode: {status}"


class Prober:
    """Asks one container's probes in a thread until it is stopped, and reports what changes.

    `on_change(started, ready)` and `on_dead(why)` are called from that thread.
    """

    def __init__(
        self, container: Object, target: Target, on_change: Callable[[bool, bool], None], on_dead: Callable[[str], None]
    ) -> None:
        self._probes = {kind: container.get(f"{kind}Probe") for kind in ("startup", "liveness", "readiness")}
        self._target, self._on_change, self._on_dead = target, on_change, on_dead
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        started = self._probes["startup"] is None
        self._on_change(started, started and self._probes["readiness"] is None)
        if any(self._probes.values()):
            self._thread.start()

    def stop(self) -> None:
        self._over.set()

    def _run(self) -> None:
        if self._probes["startup"] is not None and not self._until_started(self._probes["startup"]):
            return
        watched = [(kind, probe) for kind, probe in self._probes.items() if probe is not None and kind != "startup"]
        if self._probes["readiness"] is None:
            self._on_change(True, True)
        threads = [threading.Thread(target=self._watch, args=pair, daemon=True) for pair in watched]
        for thread in threads:
            thread.start()

    def _until_started(self, probe: Object) -> bool:
        failures = 0
        self._over.wait(float(probe.get("initialDelaySeconds", 0)))
        while not self._over.is_set():
            why = ask(probe, self._target)
            if why is None:
                self._on_change(True, self._probes["readiness"] is None)
                return True
            failures += 1
            if failures >= int(probe.get("failureThreshold", 3)):
                self._on_dead(f"Startup probe failed: {why}")
                return False
            self._over.wait(float(probe.get("periodSeconds", 10)))
        return False

    def _watch(self, kind: str, probe: Object) -> None:
        good, failures, successes = kind == "liveness", 0, 0
        self._over.wait(float(probe.get("initialDelaySeconds", 0)))
        while not self._over.is_set():
            why = ask(probe, self._target)
            successes, failures = (successes + 1, 0) if why is None else (0, failures + 1)
            if kind == "liveness" and failures >= int(probe.get("failureThreshold", 3)):
                self._on_dead(f"Liveness probe failed: {why}")
                return
            if kind == "readiness":
                if not good and successes >= int(probe.get("successThreshold", 1)):
                    good = True
                    self._on_change(True, True)
                elif good and failures >= int(probe.get("failureThreshold", 3)):
                    good = False
                    self._on_change(True, False)
            # a readiness probe that has not succeeded yet is asked more often, as kubelets do at start
            pause = 1.0 if kind == "readiness" and not good else float(probe.get("periodSeconds", 10))
            self._over.wait(min(pause, float(probe.get("periodSeconds", 10))))
