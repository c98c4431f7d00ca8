"""A container's process, as the agent sees it: started through the shim, signalled, and its ending read."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHIM = Path(__file__).with_name("shim.py")
MARK = "REHEARSAL_KUBELET_STATE"
"""The variable by which a restarted agent knows the processes of its former life."""
MOST_MESSAGE = 4096
MOST_LOG_MESSAGE = 2048


@dataclass(frozen=True)
class Launch:
    """All that one run of a container needs. `binds` are (source, path in the container, read-only)."""

    argv: list[str]
    env: Mapping[str, str]
    cwd: str
    hostname: str
    static: bool
    binds: list[tuple[str, str, bool]]
    network_of: int | None
    nice: int


class Process:
    """One run of a container. `ended` is called, in a thread of its own, when it is over."""

    def __init__(self, folder: Path, number: int, launch: Launch, state: Path, ended: Callable[[], None]) -> None:
        self.folder, self.number = folder, number
        folder.mkdir(parents=True, exist_ok=True)
        self.running_file, self.exit_file = self._file("running.json"), self._file("exit.json")
        for path in (self.running_file, self.exit_file):
            path.unlink(missing_ok=True)
        spec = {
            **launch.__dict__,
            "log": str(self._file("log")),
            "running_file": str(self.running_file),
            "exit_file": str(self.exit_file),
        }
        spec_file = self._file("spec.json")
        spec_file.touch(mode=0o600)
        spec_file.write_text(json.dumps(spec))
        with open(folder / "shim.log", "ab") as errors:
            self.shim = subprocess.Popen(
                [sys.executable, "-S", "-E", str(SHIM), str(spec_file)],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                start_new_session=True,
                cwd="/",
                env={MARK: str(state), "PATH": os.environ.get("PATH", os.defpath)},
            )
        threading.Thread(target=self._wait, args=(ended,), name=f"wait {folder}", daemon=True).start()

    def _file(self, suffix: str) -> Path:
        return self.folder / f"{self.number}.{suffix}"

    def _wait(self, ended: Callable[[], None]) -> None:
        self.shim.wait()
        ended()

    @property
    def over(self) -> bool:
        return self.shim.poll() is not None

    def pid(self) -> int | None:
        """The container's first process, once it runs its program."""
        try:
            return int(json.loads(self.running_file.read_text())["pid"])
        except (OSError, ValueError, KeyError):
            return None

    def signal(self, number: signal.Signals) -> None:
        """Signals the container's first process; before there is one, the whole run is given up."""
        if self.over:
            return
        pid = self.pid()
        with contextlib.suppress(ProcessLookupError):
            if pid is not None:
                os.kill(pid, number)
            elif number == signal.SIGKILL:
                self.shim.kill()

    def outcome(self, started: str, now: str) -> dict[str, Any]:
        """How the run ended, as the API's `terminated`."""
        try:
            found = json.loads(self.exit_file.read_text())
        except (OSError, ValueError):
            found = {"exitCode": 137, "signal": 9, "failure": "", "startedAt": started, "finishedAt": now}
        failure = found.pop("failure")
        reason = "Completed" if found["exitCode"] == 0 else "Error"
        if failure:
            found |= {"message": failure, "exitCode": 128}
            reason = "StartError"
        if not found["signal"]:
            del found["signal"]
        return {**found, "reason": reason}


def termination_message(terminated: Mapping[str, Any], folder: Path, number: int, policy: str) -> str:
    """What the container left as its last words: its termination log or, if asked for, the end of its log after a failure."""
    try:
        with open(folder / "termination-log", "rb") as handle:
            written = handle.read(MOST_MESSAGE)
    except OSError:
        written = b""
    if not written and policy == "FallbackToLogsOnError" and terminated["exitCode"] != 0:
        try:
            lines = (folder / f"{number}.log").read_text(errors="replace").splitlines()[-80:]
        except OSError:
            lines = []
        written = "\n".join(line.split(" ", 3)[3] for line in lines if line.count(" ") >= 3).encode()[
            -MOST_LOG_MESSAGE:
        ]
    return written.decode(errors="replace")


def marked(state: Path) -> list[int]:
    """All processes, but for this one, that bear the mark of the agent whose state lies at `state`."""
    wanted = f"{MARK}={state}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found
