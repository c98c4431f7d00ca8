"""Diff: as Terraform's SDK and the provider's own exceptions decide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rehearsal.gcp_provider.google.cloud import Cloud
from rehearsal.gcp_provider.google.rest import Rest
from rehearsal.gcp_provider.protocol import engine
from rehearsal.gcp_provider.resources import KINDS
from rehearsal.gcp_provider.wire import UNKNOWN

pytestmark = pytest.mark.unit
CLOUD = Cloud(Rest({}), project="p", region="us-west4")
POOL, CLUSTER = KINDS["gcp:container/nodePool:NodePool"], KINDS["gcp:container/cluster:Cluster"]
NETWORK, FIREWALL = KINDS["gcp:compute/network:Network"], KINDS["gcp:compute/firewall:Firewall"]
SUBNET = KINDS["gcp:compute/subnetwork:Subnetwork"]


DEFAULTED = {"network": "default", "deletionProtection": True, "enableShieldedNodes": True}
"""What every cluster's state has without being told."""
LABELLED = replace(CLOUD, default_labels={"team": "ml"})


def changed(
    kind: Any, state: dict[str, Any], news: dict[str, Any], ignored: tuple[str, ...] = (), cloud: Cloud = CLOUD
) -> dict[str, tuple[str, bool]]:
    found = engine.diff(kind, cloud, {"project": "p", **state}, news, ignored)
    return {change.path: (change.verb.value, change.force) for change in found.changes}


def test_what_google_has_and_the_program_does_not_state_is_no_difference() -> None:
    state = {
        "nodeConfig": {"diskSizeGb": 100, "machineType": "e2-medium", "preemptible": False},
        "version": "1.36",
        "nodeCount": 2,
    }
    assert changed(POOL, state, {}) == {}


def test_an_optional_block_that_is_no_longer_stated_is_removed() -> None:
    state = {"autoscaling": {"minNodeCount": 0, "maxNodeCount": 4, "locationPolicy": "ANY"}}
    assert changed(POOL, state, {}) == {"autoscaling": ("delete", False)}


def test_labels_and_size_change_in_place_and_spot_replaces() -> None:
    state = {"nodeConfig": {"labels": {"a": "1"}, "spot": False}, "nodeCount": 2}
    news = {"nodeConfig": {"labels": {"a": "2"}, "spot": True}, "nodeCount": 3}
    assert changed(POOL, state, news) == {
        "nodeConfig.labels.a": ("update", False),
        "nodeConfig.spot": ("update", True),
        "nodeCount": ("update", False),
    }


def test_labels_that_gke_adds_are_no_difference() -> None:
    state = {"nodeConfig": {"labels": {"a": "1", "cloud.google.com/gke-queued": "true"}}}
    assert changed(POOL, state, {"nodeConfig": {"labels": {"a": "1"}}}) == {}


def test_a_topology_by_itself_does_not_replace_but_the_block_does() -> None:
    """The provider's schema marks the block, not the field: programs ask for the replacement themselves."""
    state = {"placementPolicy": {"type": "COMPACT", "policyName": "", "tpuTopology": "2x4"}}
    news = {"placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"}}
    assert changed(POOL, state, news) == {"placementPolicy.tpuTopology": ("update", False)}
    assert changed(POOL, {}, news) == {"placementPolicy": ("add", True)}


@pytest.mark.parametrize(
    "link", ["n", "projects/p/global/networks/n", "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"]
)
def test_a_network_by_name_path_or_link_is_the_same(link: str) -> None:
    there = "https://www.googleapis.com/compute/v1/projects/p/global/networks/n"
    assert changed(FIREWALL, {"network": there, "priority": 1000}, {"network": link, "priority": 1000}) == {}
    other = {"network": "projects/q/global/networks/n", "priority": 1000}
    assert changed(FIREWALL, {"network": there, "priority": 1000}, other) == {"network": ("update", True)}


def test_the_order_of_a_set_means_nothing() -> None:
    state = {
        "network": "n",
        "priority": 1000,
        "targetTags": ["a", "b"],
        "allows": [{"protocol": "tcp", "ports": ["1", "2"]}],
    }
    news = {
        "network": "n",
        "priority": 1000,
        "targetTags": ["b", "a"],
        "allows": [{"protocol": "tcp", "ports": ["1", "2"]}],
    }
    assert changed(FIREWALL, state, news) == {}
    assert changed(FIREWALL, state, {**news, "targetTags": ["a"]}) == {"targetTags[1]": ("delete", False)}


def test_a_changed_entry_of_a_set_is_an_update_and_no_replacement() -> None:
    """As an addition and a deletion at one index it would be told as a replacement of the entry."""
    state = {
        "network": "n",
        "priority": 1000,
        "allows": [{"protocol": "tcp", "ports": ["9443"]}],
        "targetTags": ["a", "b"],
    }
    ports = {**state, "allows": [{"protocol": "tcp", "ports": ["9443", "8082"]}]}
    assert changed(FIREWALL, state, ports) == {"allows[0]": ("update", False)}
    assert changed(FIREWALL, state, {**state, "targetTags": ["a", "c"]}) == {"targetTags[1]": ("update", False)}
    assert changed(FIREWALL, state, {**state, "targetTags": ["a", "b", "c"]}) == {"targetTags[2]": ("add", False)}


@pytest.mark.parametrize("stated", [{}, {"resourceLabels": {"env": "dev"}}])
def test_the_providers_default_labels_differ_until_the_cluster_has_them(stated: dict[str, Any]) -> None:
    own = stated.get("resourceLabels", {})
    before = {**DEFAULTED, **stated, "pulumiLabels": own}
    assert changed(CLUSTER, before, stated) == {}
    assert changed(CLUSTER, before, stated, cloud=LABELLED) == {"pulumiLabels": ("update", False)}
    after = {**before, "pulumiLabels": {"team": "ml", **own}}
    assert changed(CLUSTER, after, stated, cloud=LABELLED) == {}
    assert changed(CLUSTER, after, stated) == {"pulumiLabels": ("update", False)}


def test_a_label_of_the_program_s_own_is_told_once_and_wins_over_a_default() -> None:
    before = {**DEFAULTED, "resourceLabels": {"team": "a"}, "pulumiLabels": {"team": "a"}}
    assert changed(CLUSTER, before, {"resourceLabels": {"team": "b"}}, cloud=LABELLED) == {
        "resourceLabels.team": ("update", False)
    }
    assert changed(CLUSTER, before, {"resourceLabels": {"team": "a"}}, cloud=LABELLED) == {}


@pytest.mark.parametrize(
    ("wanted", "differs"),
    [("1.34", False), ("1.36.3", False), ("1.36.3-gke.100", False), ("1.36.4", True), ("1.37", True)],
)
def test_a_version_floor_is_reached_or_is_not(wanted: str, differs: bool) -> None:
    state = {"masterVersion": "1.36.3-gke.200", "minMasterVersion": "1.30"}
    assert ("minMasterVersion" in changed(CLUSTER, state, {"minMasterVersion": wanted})) is differs


def test_an_unknown_value_of_a_field_that_replaces_is_planned_as_a_replacement() -> None:
    assert changed(POOL, {"cluster": "c"}, {"cluster": UNKNOWN}) == {"cluster": ("update", True)}


def test_another_project_of_the_provider_replaces() -> None:
    found = changed(NETWORK, {"project": "q", "autoCreateSubnetworks": False}, {"autoCreateSubnetworks": False})
    assert found["project"] == ("update", True)


def test_a_given_name_is_deleted_before_it_is_replaced_and_an_automatic_one_after() -> None:
    given = engine.diff(NETWORK, CLOUD, {"name": "n", "project": "p"}, {"name": "n", "__defaults": []})
    made = engine.diff(NETWORK, CLOUD, {"name": "n-1", "project": "p"}, {"name": "n-1", "__defaults": ["name"]})
    assert given.delete_first and not made.delete_first


@pytest.mark.parametrize(("range_", "force"), [("10.0.0.0/15", False), ("10.0.0.0/20", True), ("10.9.0.0/16", True)])
def test_a_range_grows_in_place_and_otherwise_replaces(range_: str, force: bool) -> None:
    found = changed(SUBNET, {"network": "n", "ipCidrRange": "10.0.0.0/16"}, {"network": "n", "ipCidrRange": range_})
    assert found == {"ipCidrRange": ("update", force)}


def test_what_the_program_ignores_is_no_difference() -> None:
    state = {"nodeConfig": {"spot": False, "taints": [{"key": "a", "value": "b", "effect": "NO_EXECUTE"}]}}
    news = {"nodeConfig": {"spot": True, "taints": [{"key": "a", "value": "c", "effect": "NO_EXECUTE"}]}}
    assert set(changed(POOL, state, news)) == {"nodeConfig.spot", "nodeConfig.taints[0].value"}
    assert set(changed(POOL, state, news, ("nodeConfig.taints[*].value",))) == {"nodeConfig.spot"}
    assert changed(POOL, state, news, ("nodeConfig",)) == {}


def test_a_block_that_google_reads_back_as_off_is_no_difference() -> None:
    assert changed(CLUSTER, {"networkPolicy": {"enabled": False, "provider": ""}}, {}).get("networkPolicy") is None
