"""A Pulumi that is already on this machine, which the rehearsal prefers to building one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rehearsal.layout import Layout

OLDEST_ENGINE = (3, 182, 0)
"""The first engine with resource hooks, which programs may use (pulumi's changelog)."""

PLUGIN_MAJOR = {"kubernetes": 4, "gcp": 10}


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
    """The installed resource plugin `pulumi-resource-<kind>` of the major version in use, on PATH or in Pulumi's own folder."""
    on_path = _outside(f"pulumi-resource-{kind}", layout)
    if on_path:
        return Path(on_path)
    pattern = re.compile(rf"resource-{kind}-v{PLUGIN_MAJOR[kind]}\.\d+\.\d+")
    folder = user_plugins()
    found = (
        sorted(p for p in folder.glob(f"resource-{kind}-v*") if p.is_dir() and pattern.fullmatch(p.name))
        if folder.is_dir()
        else []
    )
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
