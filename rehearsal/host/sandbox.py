"""The place where a rehearsal happens: network, mount and process namespaces with no way out.

Nothing inside can reach any address of the machine or beyond it, so a rehearsal cannot touch a real cloud by mistake. As
root the namespaces are made directly; anyone else gets them inside a user namespace. When the first process inside ends,
the kernel ends all others, so nothing survives a `down`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rehearsal.errors import SandboxError
from rehearsal.host.layout import Layout

START_TIMEOUT_S = 15.0
STOP_TIMEOUT_S = 15.0
SOCKET_PATH_LIMIT = 107
"""Bytes in a Unix socket's address (unix(7): 108 with the zero at its end). The supervisor's is the longest."""


def start_time(pid: int) -> int | None:
    """When process `pid` started, in clock ticks since boot: with the pid it names one process for good (proc(5))."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


def remember(path: Path, pid: int) -> None:
    path.write_text(json.dumps({"pid": pid, "started": start_time(pid)}))


def remembered(path: Path) -> int | None:
    """The pid that `remember` wrote, if that very process still runs."""
    try:
        record = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    alive = record.get("started") is not None and start_time(record["pid"]) == record["started"]
    return int(record["pid"]) if alive else None


def first_process(layout: Layout) -> int | None:
    """The sandbox's first process as this machine numbers it; None when no sandbox runs."""
    return remembered(layout.pid_file)


def _rootless() -> bool:
    return os.geteuid() != 0


def require_tools() -> None:
    """Raises SandboxError when a program of the operating system is missing."""
    wanted = {"unshare": "util-linux", "nsenter": "util-linux", "ip": "iproute2", "mount": "mount"}
    missing = {tool: package for tool, package in wanted.items() if shutil.which(tool) is None}
    if missing:
        listed = ", ".join(f"{tool} (package {package})" for tool, package in missing.items())
        raise SandboxError(
            f"missing on this machine: {listed}\n  Install them, for example: apt-get install {' '.join(sorted(set(missing.values())))}"
        )


def require_short_path(layout: Layout) -> None:
    """Raises SandboxError when the state folder lies too deep for the kernel's addresses of Unix sockets."""
    over = len(os.fsencode(layout.control_socket)) - SOCKET_PATH_LIMIT
    if over > 0:
        raise SandboxError(
            f"the path of this checkout is {over} bytes too long: {layout.control_socket} is a Unix socket, and the kernel takes "
            f"{SOCKET_PATH_LIMIT} bytes\n  Move the checkout to a shorter path."
        )


def start(layout: Layout) -> int:
    """Makes the sandbox, with the supervisor as its first process, and returns that process's pid. Idempotent."""
    running = first_process(layout)
    if running is not None:
        return running
    require_tools()
    require_short_path(layout)
    layout.make()
    layout.control_socket.unlink(missing_ok=True)
    command = [
        "unshare",
        "--net",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child=SIGKILL",
        "--mount-proc",
        "--propagation",
        "private",
    ]
    if _rootless():
        command += ["--user", "--map-root-user"]
    command += ["--", sys.executable, "-m", "rehearsal.host.supervisor", "--home", str(layout.root)]
    environment = {**os.environ, "PYTHONPATH": str(layout.checkout), "PYTHONUNBUFFERED": "1"}
    with open(layout.logs / "supervisor.log", "ab") as log:
        outer = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=environment,
            cwd=layout.checkout,
        )
    pid = _await_first(outer, layout)
    remember(layout.pid_file, pid)
    return pid


def _await_first(outer: subprocess.Popen[bytes], layout: Layout) -> int:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        if outer.poll() is not None:
            break
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        if layout.control_socket.exists() and children.exists() and children.read_text().split():
            return int(children.read_text().split()[0])
        time.sleep(0.02)
    outer.kill()
    last = "\n    ".join((layout.logs / "supervisor.log").read_text(errors="replace").splitlines()[-5:])
    hint = (
        "  Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1), or run as root."
        if _rootless()
        else ""
    )
    raise SandboxError(f"the sandbox did not start:\n    {last}\n{hint}".rstrip())


def enter(layout: Layout, argv: Sequence[str], environment: Mapping[str, str] | None = None) -> list[str]:
    """The command line that runs `argv` inside the sandbox. Raises SandboxError when none runs.

    An interrupt from the terminal is for `argv` alone: nsenter, which waits for it, would end at once and leave it behind.
    """
    pid = first_process(layout)
    if pid is None:
        raise SandboxError("no rehearsal runs in this checkout: start it with `make rehearsal` (or `make up`)")
    command = [
        "env",
        "--ignore-signal=INT",
        "nsenter",
        f"--target={pid}",
        "--net",
        "--mount",
        "--pid",
        f"--wdns={os.getcwd()}",
    ]
    if _rootless():
        command += ["--user", "--preserve-credentials"]
    settings = [f"{key}={value}" for key, value in (environment or {}).items()]
    return [*command, "--", "env", "--default-signal=INT", *settings, *argv]


def processes_named(layout: Layout, name: str) -> list[int]:
    """The sandbox's processes of that name, as this machine numbers them.

    One that was sent in by `enter` has its parent outside, and one that runs in a container has a process namespace of its
    own: what counts is whether the process or any of its ancestors is in the sandbox's.
    """
    first = first_process(layout)
    if first is None:
        return []
    table, home = _table(), _namespace(first)

    def inside(pid: int) -> bool:
        while pid in table:
            if _namespace(pid) == home:
                return True
            pid = table[pid][1]
        return False

    return [pid for pid, (known, _) in table.items() if known == name and inside(pid)]


def _namespace(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/ns/pid").readlink())
    except OSError:
        return ""


def _table() -> dict[int, tuple[str, int]]:
    """(name, parent) of every process that lives; one that has ended and that nobody has asked for yet is not among them."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, tail = (entry / "stat").read_text().rsplit(")", 1)
            except OSError:
                continue
            state, parent = tail.split()[:2]
            if state not in "ZX":
                found[int(entry.name)] = (head.split("(", 1)[1], int(parent))
    return found


def stop(layout: Layout) -> None:
    """Ends the sandbox and with it every process inside. Idempotent."""
    pid = first_process(layout)
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while first_process(layout) is not None and time.monotonic() < deadline:
            time.sleep(0.05)
        if first_process(layout) is not None:
            os.kill(pid, signal.SIGKILL)
    layout.pid_file.unlink(missing_ok=True)
    layout.control_socket.unlink(missing_ok=True)
