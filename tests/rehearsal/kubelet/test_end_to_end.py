"""The kubelet's part against a real API server: pods come up, follow their sources, restart, survive the agent, and go."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rehearsal.control_plane.images import PODS
from rehearsal.host import python_images
from rehearsal.host.layout import CHECKOUT, Layout

pytestmark = pytest.mark.rehearsal
TIMEOUT_S = 300
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


@pytest.fixture
def programs() -> Path:
    found = Layout.default().bin
    if not (found / "coredns").exists():
        pytest.skip("the rehearsal's programs are not built")
    return found


def played(scenario: str, home: Path, programs: Path, **settings: str) -> tuple[dict[str, Any], str]:
    """(What a scenario saw, the agent's log)."""
    command = [
        "unshare",
        *NAMESPACES,
        "--propagation",
        "private",
        "--",
        sys.executable,
        "-m",
        "tests.rehearsal.kubelet.cluster",
    ]
    done = subprocess.run(
        [*command, str(home), str(programs), scenario],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **settings},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    log = home / "kubelet.log"
    agent = log.read_text() if log.exists() else ""
    assert done.returncode == 0, done.stderr + agent
    assert "Traceback" not in agent
    return json.loads(done.stdout.splitlines()[-1]), agent


def test_pods_live_and_end_as_on_a_real_node(tmp_path: Path, programs: Path) -> None:
    seen, _ = played("life", tmp_path, programs)
    assert seen["once"] == [3, "second\n"]
    assert seen["crash"] == [1, "again\n"]
    assert seen["retry"] == [5, "first\n", "second\n", 1]
    assert seen["node_lost"] == "Running"
    assert seen["gateway_kept"]
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


def test_two_hosts_train_together(tmp_path: Path, programs: Path) -> None:
    python_images.ensure(Layout.default())
    seen, _ = played("training", tmp_path, programs, **{PODS: "real"})
    assert seen["succeeded"] == 2, seen["logs"]
    for number in "01":
        *before, last = seen["logs"][number].splitlines()
        assert last == f"train-{number}.train.t.svc.cluster.local 4 8 cpu 8.0"
        assert not [line for line in before if line.startswith("resolved")]
