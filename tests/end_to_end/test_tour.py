"""The tutorial, as a user lives it: bad starts, up, look around, trouble, down. The order is the order in this file."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from typing import Any

import pytest

from components.monitoring import address
from operations.jobs.expectations import overlap, own_pools, waited_for
from rehearsal.host import sandbox
from settings.catalogue.labels import NODEPOOL_LABEL
from settings.plan.dashboard import dashboard
from tests.end_to_end.conftest import Checkout, until

pytestmark = pytest.mark.rehearsal

RECOVERY_S = 60.0
ENGINE_STARTS_S = 120.0


# -- before anything is up --------------------------------------------------------------------------------------------


def test_a_bad_configuration_starts_nothing(checkout: Checkout) -> None:
    def spoil(config: dict[str, Any]) -> None:
        config["tpu-platform:workloads"][0]["slices"] = 0
        config["tpu-platform:cluster"]["name"] = "Multislice"

    undo = checkout.config(spoil)
    done = checkout.make("up", check=False)
    undo()
    assert done.returncode != 0
    assert "workloads[0].slices" in done.stderr and "cluster.name" in done.stderr
    assert "Traceback" not in done.stderr
    assert sandbox.first_process(checkout.layout) is None


def test_a_port_in_use_starts_nothing(checkout: Checkout) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = checkout.make("up", f"KUBECTL_PORT={port}", check=False)
    assert done.returncode != 0
    assert f"port {port} cannot be used" in done.stderr and "Traceback" not in done.stderr
    assert sandbox.first_process(checkout.layout) is None


def test_a_missing_tool_starts_nothing(checkout: Checkout) -> None:
    folders = checkout.folder / "few-tools"
    folders.mkdir()
    for tool in ("make", "sh", "bash", "python3", "git", "unshare", "nsenter", "mount", "env", "grep", "sed"):
        found = shutil.which(tool)
        if found:
            (folders / tool).symlink_to(found)
    environment = {**checkout.environment(), "PATH": str(folders)}
    command = [".venv/bin/python", "-m", "operations.stack.up"]
    done = subprocess.run(command, cwd=checkout.folder, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode != 0
    assert "ip (package iproute2)" in done.stderr and "Traceback" not in done.stderr
    assert sandbox.first_process(checkout.layout) is None


def test_the_first_preview_needs_no_cluster_and_no_kubeconfig(checkout: Checkout) -> None:
    checkout.make("rehearsal")
    checkout.make("pulumi", "ARGS=stack init", check=False)
    made = checkout.changes()
    assert set(made) == {"create"}
    assert {"nodepool1", "nodepool2", "nodepool3", "multislice-3slice"} <= set(made["create"])
    assert checkout.google("/_rehearsal/state")["clusters"] == {}


# -- up ---------------------------------------------------------------------------------------------------------------


def test_up_keeps_the_tutorials_promises(checkout: Checkout) -> None:
    checkout.make("up")
    lines = checkout.lines()
    three, two, one = (lines[f"multislice-{n}slice"] for n in (3, 2, 1))
    assert all(line.succeeded for line in lines.values())
    assert all(own_pools(line) for line in lines.values())
    plan_a, plan_b = (lines[f"rayjob-tpu-v6e-dws-{n}"] for n in (1, 2))
    assert (plan_a.pools, plan_a.flavors) == (["on-demand-pool"], frozenset({"on-demand"}))
    assert plan_a.request is None
    assert (plan_b.pools, plan_b.flavors) == (["dws-pool"], frozenset({"dws"}))
    assert plan_b.request is not None
    assert plan_b.request.pod_sets == (4,)
    for line in (plan_a, plan_b):
        assert line.head == "default-pool"
        assert line.nodes is not None and line.reserved is not None
        assert line.nodes >= line.reserved
    assert waited_for(two, three, 2) and waited_for(one, three, 1)
    assert overlap(one, two)
    assert not set(one.pools) & set(two.pools)


def test_nothing_changes_after_up(checkout: Checkout) -> None:
    assert checkout.changes() == {}
    checkout.pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes")
    assert checkout.changes() == {}


def test_nodes_are_as_gke_makes_them(checkout: Checkout) -> None:
    nodes = checkout.cluster().list("/api/v1/nodes")
    pools: dict[str, list[Any]] = {}
    for node in nodes:
        pools.setdefault(node["metadata"]["labels"][NODEPOOL_LABEL], []).append(node)
    for pool in ("nodepool1", "nodepool2", "nodepool3"):
        assert len(pools[pool]) == 2
        for node in pools[pool]:
            labels = node["metadata"]["labels"]
            assert labels["cloud.google.com/gke-tpu-accelerator"] == "tpu-v5-lite-podslice"
            assert labels["cloud.google.com/gke-tpu-topology"] == "2x4"
            assert node["status"]["capacity"]["google.com/tpu"] == "4"
            assert {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert all(node["status"]["nodeInfo"]["kubeletVersion"].startswith("v1.") for node in nodes)


def test_pools_are_what_gcloud_would_have_asked_for(checkout: Checkout) -> None:
    calls = checkout.google("/_rehearsal/audit?method=nodePools.create")
    asked = {call["body"]["nodePool"]["name"]: call["body"]["nodePool"] for call in calls if call["status"] == 200}
    for name in ("nodepool1", "nodepool2", "nodepool3"):
        pool = asked[name]
        assert pool["config"]["machineType"] == "ct5lp-hightpu-4t"
        assert pool["placementPolicy"]["tpuTopology"] == "2x4"
        assert pool["initialNodeCount"] == 2
        assert pool["locations"] == ["us-central1-a"]
    plan_a, plan_b = asked["on-demand-pool"], asked["dws-pool"]
    for pool in (plan_a, plan_b):
        assert pool["placementPolicy"]["tpuTopology"] == "4x4"
        assert (pool["autoscaling"]["enabled"], pool["autoscaling"]["maxNodeCount"]) == (True, 4)
        assert pool.get("initialNodeCount", 0) == pool["autoscaling"].get("minNodeCount", 0) == 0
    assert plan_a["config"]["reservationAffinity"] == {"consumeReservationType": "NO_RESERVATION"}
    assert plan_b["config"]["flexStart"] is True
    assert plan_b["queuedProvisioning"] == {"enabled": True}


def test_a_label_updates_what_carries_it(checkout: Checkout) -> None:
    undo = checkout.config(lambda config: config["tpu-platform:labels"].update(team="maps"))
    try:
        changed = [(step["op"], step["newState"]["type"]) for step in checkout.steps() if step["op"] != "same"]
    finally:
        undo()
    assert sorted(changed) == [("update", "gcp:container/cluster:Cluster"), ("update", "gcp:storage/bucket:Bucket")]


def test_gcloud_sees_the_pools(checkout: Checkout) -> None:
    if shutil.which("gcloud") is None:
        pytest.fail("gcloud is not on this machine; the README names it as a prerequisite of the tests")
    exports = checkout.make("-s", "gcloud-env").stdout
    flags = "--cluster=tpu-cluster --location=us-central1 --project=rehearsal-project --format='value(name)'"
    command = f"{exports}\ngcloud container node-pools list {flags}"
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, check=True, env=checkout.environment()
    )
    assert {"nodepool1", "nodepool2", "nodepool3", "on-demand-pool", "dws-pool"} <= set(done.stdout.split())


def test_the_dashboard_is_in_the_project(checkout: Checkout) -> None:
    (found,) = checkout.google("/v1/projects/rehearsal-project/dashboards")["dashboards"]
    stated = dashboard(checkout.plan)
    assert {key: found[key] for key in stated} == stated
    output = checkout.pulumi("stack", "output", "dashboard").stdout.strip()
    assert output == address(found["name"], "rehearsal-project")


def test_logs_of_a_controller_can_be_read(checkout: Checkout) -> None:
    done = checkout.make("-s", "kubectl", "ARGS=logs -n kueue-system deploy/kueue-controller-manager --tail=3")
    assert len(done.stdout.strip().splitlines()) == 3


# -- trouble ----------------------------------------------------------------------------------------------------------


def kill(checkout: Checkout, name: str) -> None:
    found = sandbox.processes_named(checkout.layout, name)  # both controllers are called manager, as in their images
    assert found, f"no process {name}"
    for pid in found:
        subprocess.run(["kill", "-9", str(pid)], check=True)


@pytest.mark.parametrize("victim", ["etcd", "manager", "kube-apiserver"])
def test_what_is_killed_comes_back(checkout: Checkout, victim: str) -> None:
    kill(checkout, victim)
    until(f"{victim} runs again", RECOVERY_S, lambda: bool(sandbox.processes_named(checkout.layout, victim)))
    checkout.make("up")
    assert checkout.changes() == {}


def test_a_killed_forwarder_is_seen_and_started_again(checkout: Checkout) -> None:
    pid = sandbox.remembered(checkout.layout.run / "forwarder.json")
    assert pid is not None
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert checkout.make("status", check=False).returncode != 0
    nodes = checkout.make("-s", "kubectl", "ARGS=get nodes -o name").stdout.split()
    assert any("tpu" in name for name in nodes)
    assert checkout.make("status").returncode == 0


def test_down_leaves_nothing(checkout: Checkout) -> None:
    checkout.make("down")
    assert sandbox.first_process(checkout.layout) is None
    assert not list(checkout.layout.clusters.iterdir())
    again = checkout.make("down")
    assert "nothing is up" in again.stdout


@pytest.mark.parametrize("moment", ["the cluster", "a controller"])
def test_a_killed_engine_is_picked_up(checkout: Checkout, moment: str) -> None:
    running = checkout.start("up")

    def reached() -> bool:
        assert running.poll() is None, (checkout.folder / "background.log").read_text()[-3000:]
        try:
            clusters = checkout.google("/_rehearsal/state")["clusters"]
        except Exception:  # noqa: BLE001 the server is not up yet
            return False
        if moment == "the cluster":
            return bool(clusters)
        return bool(sandbox.processes_named(checkout.layout, "manager"))

    until(f"the engine makes {moment}", ENGINE_STARTS_S, reached)
    time.sleep(0.5)
    kill(checkout, "pulumi")
    assert running.wait(timeout=60) != 0
    checkout.make("up")
    assert checkout.changes() == {}
    checkout.make("down")


def test_interrupting_is_clean_too(checkout: Checkout) -> None:
    running = checkout.start("rehearsal")
    assert running.wait(timeout=60) == 0
    first = sandbox.first_process(checkout.layout)
    assert first is not None
    subprocess.run(["kill", f"-{signal.SIGKILL.value}", str(first)], check=True)
    until("the sandbox is gone", 10, lambda: sandbox.first_process(checkout.layout) is None)
    checkout.make("rehearsal")
    checkout.make("down")


def test_an_interrupt_waits_for_what_runs_inside(checkout: Checkout) -> None:
    checkout.make("rehearsal")
    started, ended = checkout.folder / "started", checkout.folder / "ended"
    script = f"trap 'sleep 1; touch {ended}; exit 0' INT; touch {started}; while :; do sleep 0.1; done"
    inside = [".venv/bin/python", "-m", "rehearsal", "exec", "--", "sh", "-c", script]
    running = subprocess.Popen(
        ["env", "--default-signal=INT", *inside],
        cwd=checkout.folder,
        env=checkout.environment(),
        start_new_session=True,
    )
    until("the command runs", 30, started.exists)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does for Ctrl-C
    assert running.wait(timeout=30) == 130
    assert ended.exists()
    checkout.make("down")
