"""Puts a volume's files in place so that a reader sees all of the old ones or all of the new ones, never a mixture.

The layout is the kubelet's, which programs rely on when they watch their files: each set of files in a folder of its own,
`..data` a link to the current one, and a link through `..data` for every visible name.
"""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path, PurePosixPath

from rehearsal.kubelet.volumes.volume_payload import Payload

DATA = "..data"


class PathError(Exception):
    """A file's path would leave its volume."""


def write(target: Path, files: Payload) -> bool:
    """Makes the volume at `target` hold exactly `files`. Returns whether anything changed. Raises PathError."""
    for name in files:
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or ".." in parts or parts[0].startswith(".."):
            raise PathError(f"a file of a volume may not be named {name!r}")
    target.mkdir(parents=True, exist_ok=True)
    link = target / DATA
    old = target / os.readlink(link) if link.is_symlink() else None
    if old is not None and _holds(old, files):
        return False
    fresh = target / f"..{time.strftime('%Y_%m_%d_%H_%M_%S')}.{time.monotonic_ns()}"
    fresh.mkdir()
    for name, file in files.items():
        path = fresh / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
        path.chmod(file.mode)
    temporary = target / f"{DATA}_tmp"
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(fresh.name)
    temporary.rename(link)
    _links(target, {PurePosixPath(name).parts[0] for name in files})
    for leftover in target.iterdir():
        if leftover.name.startswith("..") and leftover.name not in (DATA, fresh.name):
            shutil.rmtree(leftover, ignore_errors=True)
    return True


def _links(target: Path, names: set[str]) -> None:
    """A visible name for every file or folder of the current set, and none for those that are gone."""
    for name in names:
        if not (target / name).is_symlink():
            (target / name).symlink_to(f"{DATA}/{name}")
    for entry in target.iterdir():
        if entry.is_symlink() and not entry.name.startswith("..") and entry.name not in names:
            entry.unlink()


def _holds(folder: Path, files: Payload) -> bool:
    present = (
        {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} if folder.is_dir() else set()
    )
    if not folder.is_dir() or present != {str(PurePosixPath(name)) for name in files}:
        return False
    return all(
        (folder / name).read_bytes() == file.content and (folder / name).stat().st_mode & 0o777 == file.mode & 0o777
        for name, file in files.items()
    )
