"""The server as the rehearsal runs it: a process of its own, on a loopback port and a Unix socket, that can be killed."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import requests

CHECKOUT = Path(__file__).resolve().parents[3]
PROJECT = "some-project"
APIS = ("container", "compute", "iam", "containerfilesystem")
STARTS_WITHIN_S = 30.0


class ServerProcess:
    """One server over one folder of state. `kill` ends it as a crash would; `start` begins its next life."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.unix = folder / "google.sock"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self.base = f"http://127.0.0.1:{self.port}"
        self.scale = 0.001
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words = ["--state", str(self.folder / "state"), "--port", str(self.port), "--socket", str(self.unix)]
        command = [
            sys.executable,
            "-m",
            "rehearsal.google_server",
            *words,
            "--time-scale",
            str(self.scale),
            "--backend",
            "none",
        ]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=CHECKOUT, stdout=log, stderr=log)
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not self._ready():
            assert self.process.poll() is None and time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.05)

    def _ready(self) -> bool:
        try:
            return requests.get(f"{self.base}/_rehearsal/health", timeout=5).status_code == 200
        except requests.ConnectionError:
            return False

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def call(self, verb: str, path: str, body: Any = None) -> Any:
        """A call that must be taken; returns the decoded answer."""
        answer = requests.request(verb, f"{self.base}/{path}", json=body, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def enable(self) -> None:
        """Switches on the APIs that clusters need, and waits as clients do."""
        ids = [f"{api}.googleapis.com" for api in APIS]
        operation = self.call("POST", f"v1/projects/{PROJECT}/services:batchEnable", {"serviceIds": ids})
        deadline = time.monotonic() + 30
        while not operation.get("done", False):
            assert time.monotonic() < deadline, operation
            time.sleep(0.02)
            operation = self.call("GET", f"v1/{operation['name']}")
        assert "error" not in operation, operation

    def finish(self, operation: Any) -> Any:
        """A container operation's end, by the link that it names."""
        path = operation["selfLink"].split("googleapis.com/")[1]
        deadline = time.monotonic() + 30
        while (found := self.call("GET", path))["status"] != "DONE":
            assert time.monotonic() < deadline, found
            time.sleep(0.02)
        return found
