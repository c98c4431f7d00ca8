"""`make preview` says what the policies say, and fails when one that must hold does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from operations.preview import preview
from policies.check import VIOLATED
from rehearsal.host.layout import Layout
from tests.policies.objects import changed, cluster

pytestmark = pytest.mark.policies


@pytest.mark.parametrize(
    ("environment", "verdict", "heading"),
    [("prod", VIOLATED, "policies: 1 broken"), ("dev", 0, "policies: all hold")],
)
def test_the_verdict_is_the_exit_code_and_in_the_comment(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    environment: str,
    verdict: int,
    heading: str,
) -> None:
    """The cluster is unprotected: a violation in production only. The engine's part is played; `test_previews.py` has it."""
    resource = changed(cluster(), "deletionProtection", False)
    state = {"urn": resource.urn, "type": resource.type, "custom": True, "inputs": dict(resource.properties)}
    shown: dict[str, Any] = {"config": {}, "steps": [{"op": "create", "urn": resource.urn, "newState": state}]}
    monkeypatch.setattr(preview, "previews", lambda *_: [shown])
    monkeypatch.setattr(preview.Toolchain, "ensure", lambda _toolchain: None)
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    assert preview.run(Layout.default(), environment, comment_files=[summary]) == verdict
    said = "deletion-protected (mandatory): cluster: its deletion protection is off"
    assert (said in capsys.readouterr().out) == (verdict == VIOLATED)
    before, first, *_ = summary.read_text().splitlines()
    assert before == "before"
    assert first == f"### `{environment}`: 1 to create; {heading}"
