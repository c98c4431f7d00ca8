"""Builds a container's root: a file system in memory with the program, the volumes and little else bound into it.

Standard library only: the shim uses it, in a mount namespace of its own, before it becomes the container's program.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import kernel

STAGING = "/sys"
"""Where the root is put together: a folder that every machine has, and that no container is given."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
NOT_SHOWN = {"proc", "sys", "dev", "tmp", "run", "lost+found"}
CERTIFICATES = ("/etc/ssl", "/usr/share/ca-certificates")


def build(spec: Mapping[str, Any]) -> None:
    """Makes the root that `spec` describes and moves into it. Raises OSError."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    kernel.mount("tmpfs", STAGING, "tmpfs", kernel.MS_NOSUID, "mode=0755")
    if spec["static"]:
        for folder in CERTIFICATES:
            if os.path.isdir(folder):
                place(folder, folder, read_only=True)
    else:
        _host()
    for folder, mode in (("/tmp", 0o1777), ("/run", 0o755), ("/etc", 0o755), ("/proc", 0o555)):
        os.makedirs(STAGING + folder, exist_ok=True)
        if not _bound(folder):
            os.chmod(STAGING + folder, mode)
    if not os.path.lexists(f"{STAGING}/var/run"):
        os.makedirs(f"{STAGING}/var", exist_ok=True)
        os.symlink("/run", f"{STAGING}/var/run")
    _devices()
    for source, target, read_only in _outermost_first(spec["binds"]):
        place(source, target, read_only)
    try:
        kernel.mount("proc", f"{STAGING}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    except OSError:
        kernel.bind("/proc", f"{STAGING}/proc", read_only=False)
    if spec["cwd"] != "/":
        os.makedirs(STAGING + spec["cwd"], exist_ok=True)
    kernel.change_root(STAGING)


def _outermost_first(binds: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """A volume inside another's folder must come after it."""
    return sorted(binds, key=lambda bind: str(bind[1]).count("/"))


def _host() -> None:
    """The machine's own folders, read-only, so that interpreters and what they import are there."""
    for name in sorted(os.listdir("/")):
        source, target = f"/{name}", f"{STAGING}/{name}"
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isdir(source) and name not in NOT_SHOWN:
            os.mkdir(target)
            kernel.bind(source, target, read_only=True)


def _bound(folder: str) -> bool:
    return os.stat(STAGING + folder).st_dev != os.stat(STAGING).st_dev


def _devices() -> None:
    """Devices are bound from the machine's, because a user namespace may not make any."""
    os.makedirs(f"{STAGING}/dev/shm", exist_ok=True)
    os.chmod(f"{STAGING}/dev/shm", 0o1777)
    for name in DEVICES:
        if os.path.exists(f"/dev/{name}"):
            place(f"/dev/{name}", f"/dev/{name}", read_only=False)
    for name, target in LINKS.items():
        os.symlink(target, f"{STAGING}/dev/{name}")


def inside(path: str) -> str:
    """Where `path` of the container lies, with links followed inside the new root and never out of it."""
    done: list[str] = []
    parts = [part for part in path.split("/") if part not in ("", ".")]
    for _ in range(1000):
        if not parts:
            return "/" + "/".join(done)
        part = parts.pop(0)
        here = "/".join([STAGING, *done, part])
        if part == "..":
            done = done[:-1]
        elif os.path.islink(here):
            goal = os.readlink(here)
            done = [] if goal.startswith("/") else done
            parts = [piece for piece in goal.split("/") if piece not in ("", ".")] + parts
        else:
            done.append(part)
    raise OSError(f"too many links on the way to {path}")


def place(source: str, target: str, read_only: bool) -> None:
    """Binds `source` at the container's path `target`, and makes the mount point."""
    target = inside(target)
    if not os.path.exists(STAGING + target):
        _make_room(os.path.dirname(target))
        if os.path.isdir(source):
            os.mkdir(STAGING + target)
        else:
            os.close(os.open(STAGING + target, os.O_CREAT | os.O_WRONLY, 0o644))
    kernel.bind(source, STAGING + target, read_only)


def _make_room(folder: str) -> None:
    """Makes `folder`, and makes it writable where it belongs to the machine: by a folder in memory with the same entries."""
    existing = folder
    while not os.path.isdir(STAGING + existing):
        existing = os.path.dirname(existing)
    if existing != "/" and not os.access(STAGING + existing, os.W_OK):
        _imitate(existing)
    os.makedirs(STAGING + folder, exist_ok=True)


def _imitate(folder: str) -> None:
    real = STAGING + folder
    descriptor = os.open(real, os.O_RDONLY | os.O_DIRECTORY)
    kept = f"/proc/self/fd/{descriptor}"
    entries = sorted(os.listdir(kept))
    kernel.mount("tmpfs", real, "tmpfs", kernel.MS_NOSUID, "mode=0755")
    for name in entries:
        source, target = f"{kept}/{name}", f"{real}/{name}"
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
            continue
        if os.path.isdir(source):
            os.mkdir(target)
        elif os.path.isfile(source):
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        else:
            continue
        kernel.bind(source, target, read_only=True)
    os.close(descriptor)
