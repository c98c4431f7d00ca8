"""What a rehearsal gives to programs inside and outside, and what it leaves on the machine: nothing of the user's is touched."""

from __future__ import annotations

import itertools
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal import cli, lifecycle
from rehearsal.control_plane.control_plane import token
from rehearsal.environment import inside
from rehearsal.errors import SandboxError
from rehearsal.host import ports, sandbox
from rehearsal.host.layout import Layout

pytestmark = pytest.mark.unit
CHECKOUT = Path(__file__).resolve().parents[3]


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "state").make()


def test_temporary_files_of_what_runs_inside_go_with_the_rehearsal(layout: Layout) -> None:
    scratch = Path(inside(layout, {})["TMPDIR"])
    (scratch / "kubeconfig123").write_text("left by a plugin")
    lifecycle.down(layout)
    assert not scratch.exists()
    layout.make()
    assert scratch.is_dir()


def test_the_users_gcloud_writes_no_kubeconfig_of_the_users_own(layout: Layout) -> None:
    assert Path(lifecycle.gcloud_settings(layout)["KUBECONFIG"]).parent == layout.root


def rehearsal_says(layout: Layout, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(Layout, "default", lambda: layout)
    monkeypatch.setattr(sys, "argv", ["rehearsal", *arguments])
    return cli.main()


def test_no_settings_for_gcloud_while_nothing_is_up(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rehearsal_says(layout, monkeypatch, "gcloud-env") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "make rehearsal" in err


def test_a_log_that_is_not_there_is_named(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    layout.make()
    (layout.logs / "google.log").write_text("")
    assert rehearsal_says(layout, monkeypatch, "logs", "nope") == 1
    out, err = capsys.readouterr()
    assert "no log of nope" in err
    assert "google" in out


def test_help_shows_what_can_be_copied() -> None:
    shown = subprocess.run(["make", "help"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert 'eval "$(make -s gcloud-env)"' in shown


def test_faults_that_are_not_json_are_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rehearsal", "faults", '[{"match": '],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the faults are not JSON") and len(done.stderr.splitlines()) == 1
    example = done.stderr[done.stderr.index("'") + 1 : done.stderr.rindex("'")]
    assert json.loads(example)


def test_a_killed_process_that_nobody_reaps_does_not_count_as_running() -> None:
    process = subprocess.Popen(["sleep", "600"])
    assert process.pid in sandbox._table()
    os.kill(process.pid, signal.SIGKILL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays as a zombie
    assert process.pid not in sandbox._table()
    process.wait()


def test_the_auth_plugin_finds_the_token_in_a_folder_with_spaces_and_quotes(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "it's a folder").make()
    lifecycle._write_auth_plugin(layout)
    shown = subprocess.run([layout.bin / "gke-gcloud-auth-plugin"], capture_output=True, text=True, check=True).stdout
    assert json.loads(shown)["status"]["token"] == token(layout) != ""


def test_a_checkout_that_lies_too_deep_is_told_by_how_much(tmp_path: Path) -> None:
    fits = Layout(tmp_path / ("x" * (sandbox.SOCKET_PATH_LIMIT - len(str(tmp_path / "run" / "supervisor.sock")) - 1)))
    sandbox.require_short_path(fits)
    socket.socket(socket.AF_UNIX).bind(str(fits.make().control_socket))
    deeper = Layout(fits.root.with_name(f"{fits.root.name}xyz"))
    with pytest.raises(SandboxError, match="3 bytes too long"):
        sandbox.start(deeper)


def test_no_port_is_given_twice(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system may offer a port again that has been chosen and is not used yet."""
    before = ports.choose_ports(layout)
    offers = itertools.chain([before.google] * 3, itertools.count(before.google + 1))
    monkeypatch.setattr(ports, "free_port", lambda hope=None: hope if hope is not None else next(offers))
    again = ports.choose_ports(layout)
    assert (again.google, again.clusters[0]) == (before.google, before.clusters[0])
    assert len({again.google, *again.clusters}) == 1 + ports.FORWARDED_CLUSTERS


def test_port_zero_is_any_free_port(layout: Layout) -> None:
    assert ports.choose_ports(layout, kubectl_port=0).clusters[0] > 0
