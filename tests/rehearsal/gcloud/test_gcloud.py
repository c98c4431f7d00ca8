"""The tutorials' commands, by Google's own gcloud, against the server in a process of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import requests

pytestmark = pytest.mark.rehearsal

RECORDED = Path(__file__).parents[1] / "gcp" / "gcloud_bodies.json"
A = ("--location=us-west4", "--cluster=multislice-cluster")
B = ("--location=us-east5-b", "--cluster=tpu-cluster")
SCALING = ("--enable-autoscaling", "--num-nodes=0", "--min-nodes=0", "--max-nodes=4")


def ran(server: Any, *words: str) -> str:
    done = server.gcloud(*words)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def value(server: Any, *words: str) -> Any:
    return json.loads(ran(server, *words, "--format=json"))


@pytest.fixture(scope="module")
def tutorial_a(server: Any) -> Any:
    where = ("--location=us-west4", "--node-locations=us-west4-a", "--num-nodes=1")
    ran(server, "container", "clusters", "create", "multislice-cluster", *where)
    shape = ("--node-locations=us-west4-a", "--machine-type=ct5lp-hightpu-4t", "--tpu-topology=2x4")
    ran(server, "beta", "container", "node-pools", "create", "nodepool1", *A, *shape)
    return server


@pytest.fixture(scope="module")
def tutorial_b(server: Any) -> Any:
    machine = ("--machine-type=n2-standard-16", "--enable-image-streaming", "--addons=RayOperator")
    words = ("--cluster-version=1.34", "--location=us-east5-b", *machine)
    ran(server, "container", "clusters", "create", "tpu-cluster", *words)
    slice_ = ("--machine-type=ct6e-standard-4t", "--tpu-topology=4x4", *SCALING)
    ran(server, "container", "node-pools", "create", "on-demand-pool", *B, *slice_, "--reservation-affinity=none")
    queued = ("--enable-queued-provisioning", "--flex-start")
    ran(server, "container", "node-pools", "create", "dws-pool", *B, *slice_, *queued)
    return server


def test_a_slice_is_listed_and_described(tutorial_a: Any) -> None:
    pools = value(tutorial_a, "container", "node-pools", "list", *A)
    assert [(pool["name"], pool["status"]) for pool in pools] == [("default-pool", "RUNNING"), ("nodepool1", "RUNNING")]
    pool = value(tutorial_a, "container", "node-pools", "describe", "nodepool1", *A)
    assert (pool["initialNodeCount"], pool["placementPolicy"]["tpuTopology"]) == (2, "2x4")


def test_a_pool_that_exists_is_told_in_gcloud_s_words(tutorial_a: Any) -> None:
    shape = ("--node-locations=us-west4-a", "--machine-type=ct5lp-hightpu-4t", "--tpu-topology=2x4")
    again = tutorial_a.gcloud("container", "node-pools", "create", "nodepool1", *A, *shape)
    assert again.returncode != 0
    assert "code=409" in again.stderr and "Already exists" in again.stderr


def test_flex_start_reads_back_true(tutorial_b: Any) -> None:
    """The tutorial's own check, and the same of a pool on demand, which has no such field."""
    read = ("container", "node-pools", "describe")
    form = "--format=value(config.flexStart)"
    assert ran(tutorial_b, *read, "dws-pool", *B, form) == "True\n"
    assert ran(tutorial_b, *read, "on-demand-pool", *B, form) == "\n"


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("on-demand-pool", {"consumeReservationType": "NO_RESERVATION"}),
        ("dws-pool", None),
    ],
)
def test_the_pools_of_tutorial_b_read_back(tutorial_b: Any, name: str, own: Any) -> None:
    pool = value(tutorial_b, "container", "node-pools", "describe", name, *B)
    assert (pool["status"], pool.get("initialNodeCount", 0)) == ("RUNNING", 0)
    assert pool["autoscaling"]["enabled"] is True and pool["autoscaling"]["maxNodeCount"] == 4
    assert pool["autoscaling"].get("minNodeCount", 0) == 0
    assert pool["placementPolicy"] == {"tpuTopology": "4x4", "type": "COMPACT"}
    assert pool["config"]["machineType"] == "ct6e-standard-4t"
    assert pool["config"].get("reservationAffinity") == own
    assert pool.get("queuedProvisioning", {}).get("enabled", False) is (name == "dws-pool")


def test_gcloud_still_sends_what_is_recorded(tutorial_a: Any, tutorial_b: Any) -> None:
    """Other tests compare with the recording; this one compares the recording with the gcloud on PATH."""
    calls = requests.get(f"{tutorial_a.base}/_rehearsal/audit", timeout=10).json()
    bodies = [call["body"] for call in calls if call["method"].endswith("s.create") and call["status"] == 200]
    sent = {
        (kind, body[kind]["name"]): body[kind] for body in bodies for kind in ("nodePool", "cluster") if kind in body
    }
    for case in json.loads(RECORDED.read_text()):
        kind = "nodePool" if "nodePool" in case["body"] else "cluster"
        assert sent[kind, case["name"]] == case["body"][kind], case["command"]


def test_a_pool_and_a_cluster_are_deleted(tutorial_b: Any) -> None:
    ran(tutorial_b, "container", "node-pools", "delete", "dws-pool", *B)
    assert [p["name"] for p in value(tutorial_b, "container", "node-pools", "list", *B)] == [
        "default-pool",
        "on-demand-pool",
    ]
    ran(tutorial_b, "container", "clusters", "delete", "tpu-cluster", "--location=us-east5-b")
    assert "tpu-cluster" not in [cluster["name"] for cluster in value(tutorial_b, "container", "clusters", "list")]


def test_lists_of_compute_are_not_empty(server: Any) -> None:
    """gcloud turns a refused list into an empty one and a warning."""
    ran(server, "compute", "networks", "create", "net", "--subnet-mode=custom")
    ran(
        server,
        "compute",
        "networks",
        "subnets",
        "create",
        "nodes",
        "--network=net",
        "--range=10.0.0.0/20",
        "--region=us-west4",
    )
    assert [row["name"] for row in value(server, "compute", "networks", "subnets", "list")] == ["nodes"]
    assert sorted(row["destRange"] for row in value(server, "compute", "routes", "list")) == [
        "0.0.0.0/0",
        "10.0.0.0/20",
    ]
    in_zone = value(server, "compute", "machine-types", "list", "--zones=us-west4-a")
    assert "ct5lp-hightpu-4t" in [row["name"] for row in in_zone]


def test_a_project_without_the_api_is_told_which_to_enable(server: Any) -> None:
    refused = server.gcloud("container", "clusters", "list", "--project=another-project")
    assert refused.returncode != 0
    assert "Kubernetes Engine API has not been used in project" in refused.stderr


def test_gcloud_s_calls_are_in_the_audit_log(tutorial_a: Any) -> None:
    calls = requests.get(f"{tutorial_a.base}/_rehearsal/audit", timeout=10).json()
    created = [call for call in calls if call["method"].endswith("nodePools.create") and "gcloud" in call["agent"]]
    assert created[0]["body"]["nodePool"]["placementPolicy"] == {"tpuTopology": "2x4"}
