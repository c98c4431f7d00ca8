"""A plugin that the user has installed: found in its versions, and laid out so that the engine sees it."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from rehearsal.host.layout import Layout
from rehearsal.host.pulumi_install import plugin
from rehearsal.lifecycle import link_plugins

pytestmark = pytest.mark.unit

MAJOR, MINOR, PATCH = (int(part) for part in version("pulumi-gcp").split("."))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Pulumi home of a user's, and no plugin on PATH."""
    monkeypatch.setenv("PULUMI_HOME", str(tmp_path / "pulumi"))
    monkeypatch.setenv("PATH", "")
    return tmp_path / "pulumi" / "plugins"


def install(home: Path, name: str) -> Path:
    program = home / name / "pulumi-resource-gcp"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    return program


@pytest.mark.parametrize(
    ("found", "taken"),
    [
        (f"{MAJOR}.{MINOR}.{PATCH}", True),
        (f"{MAJOR}.{MINOR + 1}.0", True),
        (f"{MAJOR}.{MINOR - 1}.9", False),
        (f"{MAJOR + 1}.0.0", False),
    ],
    ids=["the same", "newer", "older", "another major"],
)
def test_a_plugin_of_the_packages_version_or_newer_is_taken(home, tmp_path, found, taken) -> None:
    program = install(home, f"resource-gcp-v{found}")
    assert plugin("gcp", Layout(tmp_path / "state")) == (program if taken else None)


def test_plugins_become_folders_of_links_and_marks_of_installation_stay_behind(home, tmp_path) -> None:
    program = install(home, f"resource-gcp-v{MAJOR}.{MINOR}.{PATCH}")
    (home / f"resource-gcp-v{MAJOR}.{MINOR}.{PATCH}.lock").touch()
    layout = Layout(tmp_path / "state")
    link_plugins(layout)
    link_plugins(layout)
    (own,) = (layout.pulumi_home / "plugins").iterdir()
    assert own.name == program.parent.name
    assert not own.is_symlink()
    assert (own / program.name).resolve() == program
