"""The kubelet's part against a real API server: pods come up, follow their sources, restart, survive the agent, and go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rehearsal.layout import CHECKOUT, Layout

pytestmark = pytest.mark.rehearsal
TIMEOUT_S = 120
NAMESPACES = [
    "--user",
    "--map-root-user",
    "--net",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child=SIGKILL",
    "--mount-proc",
]


def test_pods_live_and_end_as_on_a_real_node(tmp_path: Path) -> None:
    programs = Layout.default().bin
    if not (programs / "kube-apiserver").exists():
        pytest.skip("the rehearsal's programs are not built")
    command = ["unshare", *NAMESPACES, "--propagation", "private", "--", sys.executable, "-m", "tests.kubelet.cluster"]
    done = subprocess.run(
        [*command, str(tmp_path), str(programs)],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    agent = tmp_path / "kubelet.log"
    assert done.returncode == 0, done.stderr + (agent.read_text() if agent.exists() else "")
    seen = json.loads(done.stdout.splitlines()[-1])
    assert seen["once"] == [3, "second\n"]
    assert seen["crash"] == [1, "again\n"]
    assert seen["played"][0] is False
    assert "is simulated" in seen["played"][1]
    assert seen["waiting"] == "Pending"
    assert seen["files"] == ["made\n", "old"]
    assert seen["words"] == "serving server\n"
    assert seen["refresh_s"] < 2
    assert seen["address_kept"]
    assert seen["servers"] == 1
    assert {"Started", "Killing", "BackOff", "Unhealthy", "FailedMount"} <= set(seen["events"])
    assert seen["left"]
    assert seen["folders"] == 0
    assert "Traceback" not in agent.read_text()
