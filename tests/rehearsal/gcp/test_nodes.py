"""Nodes as GKE registers them: names, labels, taints, capacities and addresses."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rehearsal.gcp.nodes import shapes
from rehearsal.host.network import ClusterNetwork

pytestmark = pytest.mark.unit

PARENT = "projects/p-one/locations/us-west4/clusters/multislice-cluster"


def pool(name: str = "nodepool1", machine: str = "ct5lp-hightpu-4t", size: int = 2, **config: Any) -> dict[str, Any]:
    """A pool as the store holds it."""
    return {
        "name": name, "_name": f"{PARENT}/nodePools/{name}", "_cluster": PARENT, "_size": size, "locations": ["us-west4-a"],
        "networkConfig": {}, "placementPolicy": {"tpuTopology": "2x4"},
        "config": {"machineType": machine, "diskType": "pd-balanced", "diskSizeGb": 100, **config},
    }  # fmt: skip


def test_names_are_gke_s_and_stay_the_same() -> None:
    (first, zone), (second, _) = shapes.node_names(pool())
    assert re.fullmatch(r"gke-tpu-[0-9a-f]{8}-[0-9a-z]{4}", first) and first != second
    assert zone == "us-west4-a"
    assert shapes.node_names(pool(size=1)) == [(first, zone)]
    (cpu, _), *_ = shapes.node_names(pool("a-very-long-pool-name", "e2-standard-4"))
    assert re.fullmatch(r"gke-multislice-cl-a-very-long-po-[0-9a-f]{8}-[0-9a-z]{4}", cpu)


def test_a_tpu_node_is_what_a_flavor_selects() -> None:
    labels = shapes.labels(pool(labels={"team": "x"}), "n", "us-west4-a")
    assert labels["cloud.google.com/gke-tpu-accelerator"] == "tpu-v5-lite-podslice"
    assert labels["cloud.google.com/gke-tpu-topology"] == "2x4"
    assert labels["cloud.google.com/gke-nodepool"] == "nodepool1"
    assert labels["node.kubernetes.io/instance-type"] == "ct5lp-hightpu-4t"
    assert (labels["topology.kubernetes.io/region"], labels["team"]) == ("us-west4", "x")
    whole, left = shapes.capacity(pool())
    assert (whole["google.com/tpu"], left["google.com/tpu"]) == ("4", "4")


def test_taints_of_tpu_of_queued_and_of_the_pool() -> None:
    stated = {"key": "a", "value": "b", "effect": "PREFER_NO_SCHEDULE"}
    queued = {**pool(taints=[stated]), "queuedProvisioning": {"enabled": True}}
    assert [(t["key"], t["value"], t["effect"]) for t in shapes.taints(queued)] == [
        ("a", "b", "PreferNoSchedule"),
        ("google.com/tpu", "present", "NoSchedule"),
        ("cloud.google.com/gke-queued", "true", "NoSchedule"),
    ]


@pytest.mark.parametrize(("stated", "value"), [("google.com/tpu", "present"), ("cloud.google.com/gke-queued", "true")])
def test_a_taint_that_the_pool_states_and_gke_adds_is_there_once(stated: str, value: str) -> None:
    own = {"key": stated, "value": value, "effect": "NO_SCHEDULE"}
    queued = {**pool(taints=[own]), "queuedProvisioning": {"enabled": True}}
    found = [(t["key"], t["value"]) for t in shapes.taints(queued)]
    assert sorted(found) == [("cloud.google.com/gke-queued", "true"), ("google.com/tpu", "present")]
    assert shapes.applied(queued)["node.gke.io/last-applied-node-taints"].count(stated) == 1


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        ({}, "standard"),
        ({"spot": True}, "spot"),
        ({"flexStart": True}, "flex-start"),
        ({"preemptible": True}, "preemptible"),
    ],
)
def test_how_a_node_was_provisioned(config: dict[str, Any], kind: str) -> None:
    assert shapes.labels(pool(**config), "n", "us-west4-a")["cloud.google.com/gke-provisioning"] == kind


def test_a_node_says_what_its_pool_gave_it() -> None:
    """By these GKE takes back what a pool loses, and leaves what others put on the node."""
    assert shapes.applied(pool(labels={"b": "2", "a": "1"})) == {
        "node.gke.io/last-applied-node-labels": "a=1,b=2",
        "node.gke.io/last-applied-node-taints": "google.com/tpu=present:NoSchedule",
    }


def test_a_node_s_addresses_follow_the_cluster_s_plan() -> None:
    made, status = shapes.node(pool(), "n", "us-west4-a", 7, ClusterNetwork(2), "1.36.3-gke.1001000")
    assert made["spec"]["podCIDR"] == "10.66.7.0/24"
    assert made["spec"]["providerID"] == "gce://p-one/us-west4-a/n"
    assert status["addresses"] == [
        {"type": "InternalIP", "address": "10.130.0.7"},
        {"type": "Hostname", "address": "n"},
    ]
    assert status["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 10252
    assert status["nodeInfo"]["kubeletVersion"] == "v1.36.3-gke.1001000"
