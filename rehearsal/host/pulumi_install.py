"""A Pulumi that is already on this machine, which the rehearsal prefers to building one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rehearsal.host.layout import Layout

OLDEST_ENGINE = (3, 182, 0)
"""The first engine with resource hooks, which programs may use (pulumi's changelog)."""

PLUGIN_MAJOR = {"kubernetes": 4, "gcp": 10}


def _new_enough(kind: str, folder: Path) -> bool:
    """Whether the engine takes a plugin for the package that is installed here: it wants that version or a newer one."""
    match = re.fullmatch(rf"resource-{kind}-v({PLUGIN_MAJOR[kind]})\.(\d+)\.(\d+)", folder.name)
    try:
        wanted = tuple(int(part) for part in version(f"pulumi-{kind}").split(".")[:3])
    except PackageNotFoundError:
        wanted = (PLUGIN_MAJOR[kind], 0, 0)
    return match is not None and tuple(int(part) for part in match.groups()) >= wanted


@dataclass(frozen=True)
class Engine:
    """An installed engine: its folder, and the folder of plugins that go with it (None when they are all on PATH)."""

    folder: Path
    plugins: Path | None


def user_plugins() -> Path:
    """Where Pulumi keeps the user's plugins (pulumi.com/docs/iac/cli/environment-variables: PULUMI_HOME)."""
    return Path(os.environ.get("PULUMI_HOME", Path.home() / ".pulumi")) / "plugins"


def _outside(name: str, layout: Layout) -> str | None:
    """`name` on PATH, but not the one that the rehearsal built itself."""
    folders = [
        p for p in os.environ.get("PATH", "").split(os.pathsep) if p and Path(p).resolve() != layout.bin.resolve()
    ]
    return shutil.which(name, path=os.pathsep.join(folders))


def plugin(kind: str, layout: Layout) -> Path | None:
    """The installed resource plugin `pulumi-resource-<kind>`, on PATH or in Pulumi's own folder: of the version of the
    package here, or a newer one of the same major version."""
    on_path = _outside(f"pulumi-resource-{kind}", layout)
    if on_path:
        return Path(on_path)
    folder = user_plugins()
    listed = folder.glob(f"resource-{kind}-v*") if folder.is_dir() else ()
    found = sorted(path for path in listed if path.is_dir() and _new_enough(kind, path))
    program = found[-1] / f"pulumi-resource-{kind}" if found else None
    return program if program and program.exists() else None


def installed_engine(layout: Layout) -> Engine | None:
    """The engine on PATH when it is new enough and has its Python host and Kubernetes plugin; None otherwise."""
    command = _outside("pulumi", layout)
    if not command or not _outside("pulumi-language-python", layout) or plugin("kubernetes", layout) is None:
        return None
    done = subprocess.run([command, "version"], capture_output=True, text=True, check=False)
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout.strip())
    if not found or not OLDEST_ENGINE <= tuple(int(n) for n in found.groups()) < (4, 0, 0):
        return None
    folder = user_plugins()
    return Engine(Path(command).parent, folder if folder.is_dir() else None)
