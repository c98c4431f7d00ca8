"""A Python installation of its own, as an image has one: this machine's interpreter and its library, and no packages but its own.

Not a virtual environment: programs in images look whether they are in one and then behave otherwise (Ray copies the whole of it
for each job that states requirements).
"""

from __future__ import annotations

import shutil
import sys
import sysconfig
from pathlib import Path

_NOT_LINKED = ("site-packages", "dist-packages", "EXTERNALLY-MANAGED")


def make(folder: Path) -> Path:
    """Makes the installation, and returns its interpreter. Raises OSError."""
    library = Path(sysconfig.get_path("stdlib"))
    here = folder / "lib" / library.name
    here.mkdir(parents=True)
    for entry in library.iterdir():
        if entry.name not in _NOT_LINKED:
            (here / entry.name).symlink_to(entry)
    (here / "site-packages").mkdir()
    for shared in (Path(sys.base_prefix) / "lib").glob("libpython*.so*"):
        (folder / "lib" / shared.name).symlink_to(shared)
    programs = folder / "bin"
    programs.mkdir()
    # Python finds its library from where its program is, links followed: this must be a file of its own.
    shutil.copy2(Path(sys.executable).resolve(), programs / library.name)
    for name in ("python", "python3"):
        (programs / name).symlink_to(library.name)
    return programs / "python3"
