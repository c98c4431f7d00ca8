"""What is said when the engine fails."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from operations.stack.engine import Engine, OperationError
from rehearsal import lifecycle
from rehearsal.host.layout import Layout

pytestmark = pytest.mark.unit


def test_a_failed_run_ends_with_how_to_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(layout: Layout, command: list[str], **further: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 255, "", "")

    monkeypatch.setattr(lifecycle, "run_inside", fails)
    engine = Engine(Layout(tmp_path / ".rehearsal", tmp_path))
    with pytest.raises(OperationError) as caught:
        engine.run("up", remedy="`make up` goes on from here.")
    assert str(caught.value).splitlines()[-1].strip() == "`make up` goes on from here."
    with pytest.raises(OperationError, match=r"see above$"):
        engine.run("up")
