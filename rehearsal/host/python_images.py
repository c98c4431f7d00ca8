"""The Python environments in which pods of Python images run: one for each `tools/images/<name>.txt`.

They lie in the user's cache under a hash of what decides their content, as the built programs do, and are shown to containers at
that very place, read-only: a Python environment cannot be moved. Their Python is this machine's, whatever the image's tag says.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.errors import ToolError
from rehearsal.host import python_home, toolchain
from rehearsal.host.layout import Layout

Say = Callable[[str], None]
WHOLE = ".whole"
"""In an environment that was made to its end."""
_MADE_BY = "3"
"""To be raised when the making below changes, so that environments made before are not taken for those of now."""


@dataclass(frozen=True)
class PythonImage:
    """Images that `match` is found in run in the environment `name`; a container of theirs takes about `memory_mib` here.

    Containers stand back (`nice`) for the managers, which have deadlines. Of jobs that start many processes, and give up when
    those are slow, one runs at a time for every `cores_per_job`.
    """

    name: str
    match: str
    memory_mib: int
    nice: int = 5
    cores_per_job: int | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


PYTHON_IMAGES: tuple[PythonImage, ...] = (
    PythonImage("training", r"(^|/)python:3\.", 700),
    PythonImage(
        "ray",
        r"(^|/)rayproject/ray:",
        600,
        nice=0,  # its processes give each other half a minute
        cores_per_job=2,
        variables={
            # No container here is bounded by a cgroup: Ray would take a third of the machine for objects, and end workers when the
            # machine's memory is used up by others.
            "RAY_DEFAULT_OBJECT_STORE_MAX_MEMORY_BYTES": str(256 * 2**20),
            "RAY_memory_monitor_refresh_ms": "0",
            "RAY_USAGE_STATS_ENABLED": "0",
        },
    ),
)


def requirements(layout: Layout, image: PythonImage) -> Path:
    return layout.checkout / "tools" / "images" / f"{image.name}.txt"


def home(layout: Layout, image: PythonImage) -> Path:
    """Where the environment is, or will be."""
    python = f"{_MADE_BY} {sys.version} {sys.base_prefix} {platform.machine()} "
    digest = hashlib.sha256(python.encode() + requirements(layout, image).read_bytes())
    return toolchain.cache_root() / digest.hexdigest()[:24] / image.name


def ensure(layout: Layout, say: Say = print, images: Sequence[PythonImage] = PYTHON_IMAGES) -> None:
    """Makes every environment present; returns at once when they are. Raises ToolError."""
    missing = [image for image in images if not (home(layout, image) / WHOLE).exists()]
    if not missing:
        return
    with toolchain.lock(toolchain.cache_root(), say):
        started = time.monotonic()
        for number, image in enumerate(missing, start=1):
            folder = home(layout, image)
            if (folder / WHOLE).exists():
                continue
            say(
                f"  [{number}/{len(missing)}] the Python environment of image {image.name} ({toolchain.elapsed(started)} so far)"
            )
            with toolchain.ticking(say, f"still installing {image.name}", started):
                _make(folder, requirements(layout, image))
        say(f"  {len(missing)} Python environments in place ({toolchain.elapsed(started)})")


def _make(folder: Path, listed: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    python = python_home.make(folder)
    words = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps", "--only-binary=:all:"]
    _run(sys.executable, "-m", "pip", "--python", str(python), "install", *words, "--requirement", str(listed))
    for packages in folder.glob("lib/python*/*-packages"):
        play_libtpu(packages)
    (folder / WHOLE).touch()


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        last = "\n".join(f"    {line}" for line in done.stderr.strip().splitlines()[-8:])
        raise ToolError(
            f"a Python environment for pods could not be made:\n{last}\n  Run `make tools` again, or do without: REHEARSAL_PODS=simulated."
        )


def play_libtpu(packages: Path) -> None:
    """Writes the metadata of the `libtpu` that the installed JAX asks for, without its files: there is no device for them, and
    `pip install 'jax[tpu]==…'` in a pod finds all that it wants and needs no network."""
    for version in _wanted_libtpu(packages):
        folder = packages / f"libtpu-{version}.dist-info"
        folder.mkdir(exist_ok=True)
        summary = "Summary: The name of Google's TPU library only, for a machine that has no TPU"
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: libtpu\nVersion: {version}\n{summary}\n")
        (folder / "INSTALLER").write_text("rehearsal\n")
        files = [f"{folder.name}/{name},," for name in ("METADATA", "INSTALLER", "RECORD")]
        (folder / "RECORD").write_text("\n".join(files) + "\n")


def _wanted_libtpu(packages: Path) -> Iterator[str]:
    for found in importlib.metadata.distributions(name="jax", path=[str(packages)]):
        for requirement in found.requires or []:
            wanted = re.match(r"libtpu==([0-9.]+?)(\.\*)?\s*;", requirement)
            if wanted:
                yield wanted[1]
