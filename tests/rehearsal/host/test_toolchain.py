"""Who builds, who waits, and what a killed build leaves."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from rehearsal.host import toolchain
from rehearsal.host.layout import Layout
from rehearsal.host.programs import PROGRAMS, SHIPPED
from rehearsal.host.toolchain import Toolchain

LONGEST_S = 30.0
"""How long a test waits for the other side of a lock."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of built programs, with a machine that has no Pulumi of its own."""
    monkeypatch.setenv("REHEARSAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(toolchain, "installed_engine", lambda _layout: None)
    return tmp_path / "cache"


def no_compiler(self: Toolchain, module: Path, *arguments: str) -> str:
    """Stands for Go where a test is about all but Go: writes what `-o` names, and gives an empty folder for a module."""
    if arguments[0] == "build":
        Path(arguments[arguments.index("-o") + 1]).write_text(arguments[-1])
        return ""
    origin = self.layout.root / "module"
    embedded = [source for program in PROGRAMS for _, source in program.embedded]
    for name in (*embedded, *(item.source for item in SHIPPED if item.executable)):
        (origin / name).parent.mkdir(parents=True, exist_ok=True)
        (origin / name).touch()
    for name in (item.source for item in SHIPPED if not item.executable):
        (origin / name).mkdir(parents=True, exist_ok=True)
    return f'{{"Dir": "{origin}"}}'


def test_what_a_killed_build_left_is_removed(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toolchain, "_go", no_compiler)
    left = cache / "0123" / f"{toolchain.SCRATCH}abc"
    left.mkdir(parents=True)
    (left / "half").write_text("half a program")
    Toolchain(Layout(tmp_path / "state"), say=lambda _line: None).ensure()
    assert not left.exists()
    assert not list(cache.glob(f"*/{toolchain.SCRATCH}*"))
    assert (tmp_path / "state" / "bin" / "etcd").exists()


def test_a_second_checkout_says_that_it_waits_and_builds_nothing(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, waiting, second_said = threading.Event(), threading.Event(), []
    building = threading.Event()

    def slow(self: Toolchain, module: Path, *arguments: str) -> str:
        building.set()
        assert go_on.wait(LONGEST_S)
        return no_compiler(self, module, *arguments)

    def heard(line: str) -> None:
        second_said.append(line)
        waiting.set()

    monkeypatch.setattr(Toolchain, "_go", slow)
    first = threading.Thread(target=Toolchain(Layout(tmp_path / "a"), say=lambda _line: None).ensure)
    second = threading.Thread(target=Toolchain(Layout(tmp_path / "b"), say=heard).ensure)
    first.start()
    assert building.wait(LONGEST_S)
    second.start()
    assert waiting.wait(LONGEST_S)
    assert "waiting" in second_said[0]
    go_on.set()
    first.join(LONGEST_S)
    second.join(LONGEST_S)
    assert (tmp_path / "b" / "bin" / "etcd").exists()
    assert not [line for line in second_said if "building" in line]


def test_an_item_of_the_cache_is_built_once(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Toolchain, "_go", no_compiler)
    said: list[str] = []
    Toolchain(Layout(tmp_path / "a"), said.append).ensure()
    built = [line for line in said if "building" in line]
    shutil.rmtree(tmp_path / "a")
    said.clear()
    Toolchain(Layout(tmp_path / "a"), said.append).ensure()
    assert len(built) > 1
    assert not [line for line in said if "building" in line]
