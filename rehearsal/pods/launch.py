"""Becomes a container's process: builds its root from a description on standard input, enters it, and starts its program.

Runs as a process of its own (`python -m rehearsal.pods.launch`), already in the pod's network and in a mount namespace of its own.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path
from typing import Any

MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC = 1, 2, 32, 4096, 16384
DEVICES = ("null", "zero", "full", "random", "urandom")
SHADOWED = ("proc", "dev", "sys", "tmp", "run", "var", "etc", "lost+found", "boot", "media", "mnt")
"""Folders of the machine that a container never sees, even one that sees the machine's programs."""
_libc = ctypes.CDLL(None, use_errno=True)


def mount(source: str, target: Path, kind: str, flags: int = 0) -> None:
    result = _libc.mount(source.encode(), str(target).encode(), kind.encode(), ctypes.c_ulong(flags), None)
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"mount {source} on {target}: {os.strerror(number)}")


def bind(source: Path, target: Path, read_only: bool) -> None:
    """Makes `source` (a file or folder) appear at `target`."""
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount(str(source), target, "", MS_BIND | MS_REC)
    if read_only:
        try:
            mount("", target, "", MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID)
        except PermissionError:
            pass  # inside a user namespace, flags that the machine locked cannot be changed


def build_root(root: Path, wanted: dict[str, Any]) -> None:
    """The container's file system, in memory: its program, what every program needs, and its volumes."""
    mount("tmpfs", root, "tmpfs")
    for name in ("tmp", "run", "var", "etc", "root", "home"):
        (root / name).mkdir()
    (root / "tmp").chmod(0o1777)
    if wanted["host"]:
        _machine(root)
    for path in ("/etc/ssl", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/share/zoneinfo"):
        if Path(path).exists() and not (root / path[1:]).exists():
            bind(Path(path), root / path[1:], read_only=True)
    for name, text in wanted["files"].items():
        (root / name.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
        (root / name.lstrip("/")).write_text(text)
    _devices(root)
    (root / "proc").mkdir(exist_ok=True)
    bind(Path("/proc"), root / "proc", read_only=False)
    bind(Path(wanted["program"]), root / wanted["entrypoint"].lstrip("/"), read_only=True)
    for entry in sorted(wanted["mounts"], key=lambda m: len(m["target"])):
        bind(Path(entry["source"]), root / entry["target"].lstrip("/"), entry["readOnly"])


def _machine(root: Path) -> None:
    for entry in Path("/").iterdir():
        target = root / entry.name
        if entry.name in SHADOWED:
            continue
        if entry.is_symlink():
            target.symlink_to(entry.readlink())
        elif entry.is_dir():
            target.mkdir(exist_ok=True)
            bind(entry, target, read_only=True)


def _devices(root: Path) -> None:
    (root / "dev" / "shm").mkdir(parents=True)
    (root / "dev" / "shm").chmod(0o1777)
    for name in DEVICES:
        bind(Path("/dev") / name, root / "dev" / name, read_only=False)
    (root / "dev" / "fd").symlink_to("/proc/self/fd")
    (root / "dev" / "stdout").symlink_to("/proc/self/fd/1")
    (root / "dev" / "stderr").symlink_to("/proc/self/fd/2")


def main() -> None:
    wanted = json.loads(sys.stdin.read())
    root = Path(wanted["root"])
    try:
        build_root(root, wanted)
        os.chroot(root)
        os.chdir(wanted["workdir"])
        os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
        os.execvpe(wanted["argv"][0], wanted["argv"], wanted["env"])
    except OSError as error:
        print(f"the container could not be started: {error}", file=sys.stderr)
        sys.exit(127 if isinstance(error, FileNotFoundError) else 128)


if __name__ == "__main__":
    main()
