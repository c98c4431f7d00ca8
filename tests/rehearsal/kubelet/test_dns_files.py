"""What a pod's resolver is told, and what the pod calls itself."""

from __future__ import annotations

import pytest

from rehearsal.kubelet.containers import etc_files
from rehearsal.kubelet.containers.variables import hostname
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit
SERVER = "10.64.0.1"
SEARCH = "search ns.svc.cluster.local svc.cluster.local cluster.local\n"
CLUSTER_FIRST = f"nameserver {SERVER}\n{SEARCH}options ndots:5\n"


def test_pods_ask_the_clusters_dns() -> None:
    assert etc_files.resolv(pods.pod(), SERVER) == CLUSTER_FIRST
    assert etc_files.resolv(pods.pod(hostNetwork=True, dnsPolicy="ClusterFirstWithHostNet"), SERVER) == CLUSTER_FIRST


@pytest.mark.parametrize("spec", [{"dnsPolicy": "Default"}, {"dnsPolicy": "ClusterFirst", "hostNetwork": True}])
def test_pods_that_ask_their_node_are_told_that_it_knows_nothing(spec: dict[str, object]) -> None:
    assert etc_files.resolv(pods.pod(**spec), SERVER) == etc_files.NO_SERVER


def test_a_pods_own_settings_come_last_and_win() -> None:
    options = [{"name": "ndots", "value": "2"}, {"name": "edns0"}]
    config = {"nameservers": ["10.0.0.9"], "searches": ["cluster.local", "own"], "options": options}
    found = etc_files.resolv(pods.pod(dnsConfig=config), SERVER)
    search = SEARCH.replace("\n", " own\n")
    assert found == f"nameserver {SERVER}\nnameserver 10.0.0.9\n{search}options ndots:2 edns0\n"
    alone = etc_files.resolv(pods.pod(dnsPolicy="None", dnsConfig=config), SERVER)
    assert alone == "nameserver 10.0.0.9\nsearch cluster.local own\noptions ndots:2 edns0\n"


def test_a_pod_of_a_headless_service_knows_its_full_name() -> None:
    text = etc_files.hosts(pods.pod(hostname="train-slice-0-1", subdomain="train"), "10.64.1.9")
    assert "10.64.1.9\ttrain-slice-0-1.train.ns.svc.cluster.local\ttrain-slice-0-1\n" in text


def test_a_pod_in_its_nodes_network_goes_by_the_nodes_name() -> None:
    assert hostname(pods.pod(hostname="own", hostNetwork=True)) == "n"
    assert hostname(pods.pod(hostname="own")) == "own"
