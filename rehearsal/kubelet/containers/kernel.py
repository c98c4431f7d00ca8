"""The system calls for namespaces and mounts that Python 3.11 has no function for. Standard library only: the shim uses it."""

from __future__ import annotations

import ctypes
import os

NEWNS, NEWUTS, NEWIPC, NEWPID, NEWNET = 0x00020000, 0x04000000, 0x08000000, 0x20000000, 0x40000000
MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 8, 0x1000, 0x4000, 0x40000
_MNT_DETACH = 2
_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_SYS_MOUNT_SETATTR = 442  # the same number on every architecture (since Linux 5.12)
_AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = -100, 0x8000, 1

_libc = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("attr_set", "attr_clr", "propagation", "userns_fd")]


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def enter_network(pid: int) -> None:
    """Moves this process into the network namespace of another."""
    descriptor = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    try:
        _checked(_libc.setns(descriptor, NEWNET), "setns")
    finally:
        os.close(descriptor)


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind)]
    text = None if data is None else data.encode()
    _checked(_libc.mount(*words, ctypes.c_ulong(flags), text), f"mount {source} at {target}")


def make_read_only(target: str) -> None:
    """Makes a mount and all below it read-only; unlike a remount this keeps the flags that a user namespace locks."""
    attributes = _MountAttributes(attr_set=_ATTR_RDONLY)
    result = _libc.syscall(
        ctypes.c_long(_SYS_MOUNT_SETATTR), ctypes.c_int(_AT_FDCWD), os.fsencode(target),
        ctypes.c_uint(_AT_RECURSIVE), ctypes.byref(attributes), ctypes.c_size_t(ctypes.sizeof(attributes)),
    )  # fmt: skip
    _checked(result, f"mount_setattr {target}")


def bind(source: str, target: str, read_only: bool) -> None:
    mount(source, target, None, MS_BIND | MS_REC)
    if read_only:
        make_read_only(target)


def unmount(target: str) -> None:
    _checked(_libc.umount2(os.fsencode(target), _MNT_DETACH), f"umount {target}")


def change_root(root: str) -> None:
    """Makes `root`, which is a mount, the root of this mount namespace, and lets go of the old one."""
    os.chdir(root)
    _checked(_libc.pivot_root(b".", b"."), "pivot_root")
    _checked(_libc.umount2(b".", _MNT_DETACH), "umount")
    os.chdir("/")


def die_with_parent() -> None:
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(_SIGKILL), 0, 0, 0), "prctl")


def set_hostname(name: str) -> None:
    _checked(_libc.sethostname(name.encode(), ctypes.c_size_t(len(name.encode()))), "sethostname")
