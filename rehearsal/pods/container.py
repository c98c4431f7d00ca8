"""One container of a pod as a process: started in its own root and the pod's network, its output logged, its end noticed."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from rehearsal.pods import logs
from rehearsal.pods.api import Object
from rehearsal.pods.images import Image
from rehearsal.pods.status import ContainerState, now
from rehearsal.sandbox import remember, remembered

HOSTS = "127.0.0.1\tlocalhost\n{address}\t{name}\n"
PASSWD = "root:x:0:0:root:/root:/sbin/nologin\nnobody:x:65534:65534:nobody:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n"


class Process:
    """A running container. `on_end(exit code)` is called from a thread of its own when it ends."""

    def __init__(
        self,
        description: Object,
        entering: Sequence[str],
        folder: Path,
        number: int,
        pids: Path,
        on_end: Callable[[int], None],
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.id = secrets.token_hex(32)
        self.log = folder / f"{number}.log"
        self.running = threading.Event()
        self.running.set()
        root = folder / "root"
        root.mkdir(exist_ok=True)
        command = [
            *entering,
            "unshare",
            "--mount",
            "--propagation",
            "private",
            "--",
            sys.executable,
            "-m",
            "rehearsal.pods.launch",
        ]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
        )
        self._record = pids / str(self._process.pid)
        remember(self._record, self._process.pid)
        assert self._process.stdin is not None and self._process.stdout is not None
        self.log.touch()
        copier = logs.copy(self._process.stdout, self.log)
        self._process.stdin.write(json.dumps({**description, "root": str(root)}).encode())
        self._process.stdin.close()
        threading.Thread(target=self._wait, args=(copier, on_end), daemon=True).start()

    def _wait(self, copier: threading.Thread, on_end: Callable[[int], None]) -> None:
        code = self._process.wait()
        self.signal(signal.SIGKILL)  # what it started and left behind
        copier.join(timeout=2)
        self._record.unlink(missing_ok=True)
        self.running.clear()
        on_end(128 - code if code < 0 else code)

    def signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self._process.pid, number)
        except (ProcessLookupError, PermissionError):
            return

    def run(self, command: Sequence[str], timeout: float) -> int:
        """Runs a command in the container's namespaces and root; its exit code. Raises subprocess.TimeoutExpired, OSError."""
        pid = self._process.pid
        enter = ["nsenter", f"--target={pid}", "--mount", "--net", f"--root=/proc/{pid}/root", "--wd=/", "--", *command]
        return subprocess.run(enter, capture_output=True, timeout=timeout, check=False).returncode


def describe(
    pod: Object,
    container: Object,
    image: Image,
    argv: list[str],
    env: dict[str, str],
    mounts: list[Object],
    address: str,
) -> Object:
    """What the launcher needs to know (see launch.py)."""
    name = pod["metadata"]["name"]
    return {
        "program": image.program,
        "entrypoint": image.entrypoint[0],
        "host": image.host,
        "argv": argv,
        "env": env,
        "workdir": container.get("workingDir", "/"),
        "mounts": mounts,
        "files": {
            "/etc/hosts": HOSTS.format(address=address, name=name),
            "/etc/passwd": PASSWD,
            "/etc/hostname": f"{name}\n",
            "/etc/resolv.conf": "",
        },
    }


def ended(state: ContainerState, code: int) -> None:
    """Notes the end of a container's process."""
    running = state.state.get("running", {})
    reason = "Completed" if code == 0 else "Error"
    state.state = {"terminated": {
        "exitCode": code, "reason": reason, "startedAt": running.get("startedAt", now()), "finishedAt": now(), "containerID": f"containerd://{state.id}",
    }}  # fmt: skip
    state.started = state.ready = False


def kill_leftovers(pids: Path) -> None:
    """Ends what an earlier life of the agent started."""
    pids.mkdir(parents=True, exist_ok=True)
    for record in pids.iterdir():
        pid = remembered(record)
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        record.unlink()
