"""How a program reaches a pod without an image of its own: the files of a Python package as one ConfigMap, mounted as a folder.

Pure: what is made of it as a resource is in `pod_files.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = "/app"
"""Working directory: `python -m PACKAGE` finds the package below it."""
VOLUME = "code"
MOST_BYTES = 1024 * 1024
"""Of all files of a ConfigMap together, with their names (Kubernetes: MaxSecretSize, which holds for ConfigMaps too)."""


@dataclass(frozen=True)
class ProgramFiles:
    """A package as text: its name and its files by name. A package is flat, as a ConfigMap has no folders."""

    package: str
    files: dict[str, str]

    @property
    def config_map(self) -> str:
        """The ConfigMap's name. It changes with the content: a job keeps the program that it was submitted with, restarts
        included."""
        content = "".join(f"{name}\0{text}\0" for name, text in sorted(self.files.items()))
        return f"{self.package.replace('_', '-')}-code-{hashlib.sha256(content.encode()).hexdigest()[:8]}"

    @property
    def folder(self) -> str:
        return f"{FOLDER}/{self.package}"


def program_files(folder: Path) -> ProgramFiles:
    """The package in a folder: its Python files. Raises ValueError for a package that no ConfigMap can hold."""
    deeper = sorted(str(path.relative_to(folder)) for path in folder.glob("*/**/*.py"))
    if deeper:
        raise ValueError(f"{folder.name} must be flat, as a ConfigMap has no folders: {deeper[0]}")
    files = {path.name: path.read_text() for path in sorted(folder.glob("*.py"))}
    size = sum(len(name.encode()) + len(text.encode()) for name, text in files.items())
    if not files or size > MOST_BYTES:
        raise ValueError(f"{folder.name} has {size} bytes of Python files: a ConfigMap holds 1 to {MOST_BYTES}")
    return ProgramFiles(folder.name, files)


def code_mount(code: ProgramFiles, volume: str = VOLUME) -> dict[str, Any]:
    """For a container's `volumeMounts`. `volume` is for pods that take several packages."""
    return {"name": volume, "mountPath": code.folder, "readOnly": True}


def code_volume(code: ProgramFiles, volume: str = VOLUME) -> dict[str, Any]:
    """For a pod's `volumes`."""
    return {"name": volume, "configMap": {"name": code.config_map}}
