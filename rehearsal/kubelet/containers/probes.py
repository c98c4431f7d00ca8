"""Startup, liveness and readiness probes, with the kubelet's rules for thresholds and delays."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SUCCESS_DEFAULT, FAILURE_DEFAULT, PERIOD_DEFAULT, TIMEOUT_DEFAULT = 1, 3, 10, 1
MOST_BODY = 500


def setting(probe: dict[str, Any], name: str, default: int) -> int:
    """A number of a probe; zero is a value of its own, absence is not."""
    value = probe.get(name)
    return default if value is None else int(value)


@dataclass
class Tally:
    """Counts results in a row; `result` changes when a threshold is reached, and is None before the first time."""

    success_threshold: int
    failure_threshold: int
    result: bool | None = None
    last: bool | None = None
    row: int = 0

    def take(self, success: bool) -> bool:
        """Counts one result and returns whether `result` changed."""
        self.row = self.row + 1 if self.last == success else 1
        self.last = success
        if self.row < (self.success_threshold if success else self.failure_threshold) or self.result == success:
            return False
        self.result = success
        return True


def port_number(port: int | str, container: dict[str, Any]) -> int:
    """A port by number, or by the name that the container gives it. Raises ValueError."""
    if isinstance(port, int) or port.isdigit():
        return int(port)
    for stated in container.get("ports") or []:
        if stated.get("name") == port:
            return int(stated["containerPort"])
    raise ValueError(f"container {container['name']} has no port named {port!r}")


def attempt(probe: dict[str, Any], container: dict[str, Any], address: str, pid: int | None) -> tuple[bool, str]:
    """One attempt: (success, what failed)."""
    timeout = float(setting(probe, "timeoutSeconds", TIMEOUT_DEFAULT))
    try:
        if "httpGet" in probe:
            return _http(probe["httpGet"], container, address, timeout)
        if "tcpSocket" in probe:
            target = (probe["tcpSocket"].get("host") or address, port_number(probe["tcpSocket"]["port"], container))
            with socket.create_connection(target, timeout):
                return True, ""
        if "exec" in probe:
            return run_inside(probe["exec"]["command"], pid, timeout)
    except (OSError, http.client.HTTPException, ValueError) as error:
        return False, str(error)
    return False, f"probes of kind {', '.join(sorted(probe))} are not offered in a rehearsal"


def _http(action: dict[str, Any], container: dict[str, Any], address: str, timeout: float) -> tuple[bool, str]:
    host, port = action.get("host") or address, port_number(action["port"], container)
    secure = (action.get("scheme") or "HTTP").upper() == "HTTPS"
    connection: http.client.HTTPConnection
    if secure:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(host, port, timeout=timeout, context=context)
    else:
        connection = http.client.HTTPConnection(host, port, timeout=timeout)
    path = action.get("path") or "/"
    headers = {"User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
    headers |= {header["name"]: header.get("value", "") for header in action.get("httpHeaders") or []}
    try:
        connection.request("GET", path if path.startswith("/") else f"/{path}", headers=headers)
        answer = connection.getresponse()
        answer.read(MOST_BODY)
    except TimeoutError:
        return False, f'Get "{"https" if secure else "http"}://{host}:{port}{path}": no answer within {timeout:g} s'
    finally:
        connection.close()
    return 200 <= answer.status < 400, f"HTTP probe failed with statuscode: {answer.status}"


def run_inside(command: list[str], pid: int | None, timeout: float) -> tuple[bool, str]:
    """Runs a command in a container's namespaces."""
    if pid is None:
        return False, "the container does not run"
    words = ["nsenter", f"--target={pid}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "--"]
    try:
        done = subprocess.run(
            [*words, *command], capture_output=True, timeout=timeout, check=False, env=_environment(pid)
        )
    except subprocess.TimeoutExpired:
        return False, f"command timed out: {' '.join(command)} after {timeout:g}s"
    return done.returncode == 0, (done.stdout + done.stderr)[:MOST_BODY].decode(errors="replace")


def _environment(pid: int) -> dict[str, str]:
    """The container's own variables."""
    with open(f"/proc/{pid}/environ", "rb") as handle:
        pairs = [os.fsdecode(entry).partition("=") for entry in handle.read().split(b"\0") if entry]
    return {name: value for name, _, value in pairs}


class Prober(threading.Thread):
    """Attempts one probe of one run of a container until it is stopped; `changed(result, why)` at every change."""

    def __init__(
        self, probe: dict[str, Any], once: Callable[[], tuple[bool, str]], may_start: threading.Event,
        changed: Callable[[bool, str], None], failed: Callable[[str], None],
    ) -> None:  # fmt: skip
        super().__init__(name="probe", daemon=True)
        self.probe, self.once, self.may_start, self.changed, self.failed = probe, once, may_start, changed, failed
        self.over = threading.Event()

    def stop(self) -> None:
        self.over.set()
        self.may_start.set()

    def run(self) -> None:
        period = float(setting(self.probe, "periodSeconds", PERIOD_DEFAULT))
        tally = Tally(
            setting(self.probe, "successThreshold", SUCCESS_DEFAULT),
            setting(self.probe, "failureThreshold", FAILURE_DEFAULT),
        )
        if self.over.wait(float(setting(self.probe, "initialDelaySeconds", 0))):
            return
        self.may_start.wait()
        while not self.over.is_set():
            success, why = self.once()
            if self.over.is_set():
                return
            if not success:
                self.failed(why)
            if tally.take(success):
                self.changed(success, why)
            self.over.wait(period)
