"""What is refused before the first resource."""

from __future__ import annotations

from pathlib import Path

import pulumi
import pytest
from pulumi.runtime.config import set_all_config

from stack import preflight
from tests.support.platforms import as_config, changed

pytestmark = pytest.mark.unit


def test_a_bad_stack_is_reported_as_plain_text(tmp_path) -> None:
    set_all_config(as_config(changed(location="nowhere")))
    with pytest.raises(pulumi.RunError, match="tpu-platform:location"):
        preflight.plan_of_stack(tmp_path)


def test_up_is_refused_without_the_plugin(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(pulumi.RunError, match="gcloud components install gke-gcloud-auth-plugin"):
        preflight.require_tools(preview=False)


def test_a_preview_without_the_plugin_only_warns(monkeypatch) -> None:
    warnings: list[str] = []
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(pulumi.log, "warn", warnings.append)
    preflight.require_tools(preview=True)
    assert "not on PATH" in warnings[0]


def test_nothing_is_said_when_the_plugin_is_there(monkeypatch, tmp_path: Path) -> None:
    plugin = tmp_path / "gke-gcloud-auth-plugin"
    plugin.write_text("#!/bin/sh\n")
    plugin.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    preflight.require_tools(preview=False)
