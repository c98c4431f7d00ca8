"""An Autopilot cluster against a real API server and scheduler: nodes for pods, and what its admission refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client

from rehearsal.errors import RehearsalError
from tests.rehearsal.gke.builders import ZONE, pod, worker
from tests.rehearsal.gke.conftest import INITIAL, PROJECT, World, until

pytestmark = pytest.mark.rehearsal

PLACE = f"/v1/projects/{PROJECT}/locations/us-east5"
WORKERS = [f"w-{n}" for n in range(4)]
POOL = "cloud.google.com/gke-nodepool"


class Auto(World):
    """The rehearsal's Autopilot cluster."""

    def all_nodes(self) -> list[Any]:
        return self.kube.list("/api/v1/nodes")

    def names(self) -> set[str]:
        """The pools that its nodes say they are of."""
        return {node["metadata"]["labels"][POOL] for node in self.all_nodes()}

    def known(self) -> list[str]:
        """The cluster's pools as Google's side knows them."""
        return [pool["name"] for pool in self.google("GET", f"{PLACE}/clusters/auto").get("nodePools", [])]

    def ended(self, operation: Any) -> Any:
        def done() -> Any:
            found = self.google("GET", f"{PLACE}/operations/{operation['name']}")
            return found if found["status"] == "DONE" else None

        return until("the operation", done, 60)

    def idle(self) -> bool:
        return not self.all_nodes() and not self.known()

    def clear(self) -> None:
        """As in the other cluster; ProvisioningRequests are none of an Autopilot cluster's."""
        self.google("PUT", "/_rehearsal/capacity", INITIAL)
        self.kube.call("DELETE", "/api/v1/namespaces/default/pods")
        until("nothing is left", self.idle)


@pytest.fixture(scope="module")
def standing(demo: World) -> Iterator[Auto]:
    made = Auto(demo.layout, "auto")
    stated = {"name": "auto", "autopilot": {"enabled": True}, "privateClusterConfig": {"enablePrivateNodes": True}}
    assert "error" not in made.ended(made.google("POST", f"{PLACE}/clusters", {"cluster": stated}))
    until("pods may be created", lambda: made.kube.get("/api/v1/namespaces/default/serviceaccounts/default"))
    yield made
    made.ended(made.google("DELETE", f"{PLACE}/clusters/auto"))


@pytest.fixture
def auto(standing: Auto) -> Iterator[Auto]:
    yield standing
    standing.clear()


def test_a_new_cluster_has_no_node(auto: Auto) -> None:
    assert auto.idle()
    with pytest.raises(RehearsalError, match="Autopilot node pools cannot be accessed or modified"):
        auto.google("GET", f"{PLACE}/clusters/auto/nodePools")


def test_pods_bring_a_whole_slice_and_it_goes_with_its_pool_when_they_do(auto: Auto) -> None:
    for name in WORKERS:
        auto.submit(worker(name))
    until("the workers run", lambda: auto.running(*WORKERS))
    (pool,) = auto.names()
    assert auto.known() == [pool]
    nodes = auto.nodes(pool)
    assert len(nodes) == 4
    labels, taints = nodes[0]["metadata"]["labels"], nodes[0]["spec"]["taints"]
    assert labels["cloud.google.com/gke-tpu-topology"] == "4x4"
    assert labels["cloud.google.com/private-node"] == "true"
    assert {"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"} in taints
    assert nodes[0]["status"]["allocatable"]["google.com/tpu"] == "4"
    said = [auto.events(name).get("TriggeredScaleUp", "") for name in WORKERS]
    assert any("0->4 (max: 4)" in text for text in said)
    auto.remove(*WORKERS)
    until("nothing is left", auto.idle)


def test_two_slices_are_two_pools_and_pods_without_chips_stay_off_them(auto: Auto) -> None:
    names = [f"w-{n}" for n in range(8)]
    for name in names:
        auto.submit(worker(name))
    auto.submit(pod("plain", cpu="1"))
    until("all run", lambda: auto.running(*names, "plain"))
    machines = {
        n["metadata"]["labels"][POOL]: n["metadata"]["labels"]["cloud.google.com/machine-family"]
        for n in auto.all_nodes()
    }
    assert sorted(machines.values()) == ["ct6e", "ct6e", "e2"]


def test_a_stock_out_is_told_and_ends(auto: Auto) -> None:
    row = {"zone": ZONE, "family": "v6e", "kind": "on-demand"}
    auto.capacity({**row, "chips": 15}, {**row, "zone": "us-east5-a", "chips": 0})
    for name in WORKERS:
        auto.submit(worker(name))
    text = "associated with this pod failed: GCE out of resources."
    until("the failure is told", lambda: any(text in auto.events(n).get("FailedScaleUp", "") for n in WORKERS))
    assert auto.idle()
    auto.capacity({**row, "chips": 16}, {**row, "zone": "us-east5-a", "chips": 0})
    until("the workers run", lambda: auto.running(*WORKERS))
    assert {n["metadata"]["labels"]["topology.kubernetes.io/zone"] for n in auto.all_nodes()} == {ZONE}


def refusal(auto: Auto, made: Any) -> str:
    """Why a pod is refused, as far as the client keeps the answer."""
    with pytest.raises(client.ApiException) as refused:
        auto.submit(made)
    return str(refused.value.reason).replace('\\"', '"')


def privileged(made: Any) -> Any:
    made["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    return made


def test_the_host_is_out_of_reach(auto: Auto) -> None:
    rejected = "GKE Warden rejected the request because it violates one or more constraints. Violations details: "
    host = '"[denied by autogke-disallow-hostnamespaces]":["enabling hostNetwork is not allowed in Autopilot."]'
    container = '"[denied by autogke-disallow-privilege]":["container main is privileged; not allowed in Autopilot"]'
    assert f"{rejected}{{{host}}}" in refusal(auto, pod("nosy", hostNetwork=True))
    assert f"{rejected}{{{container}}}" in refusal(auto, privileged(pod("nosy")))
    assert f"{rejected}{{{host},{container[:40]}" in refusal(auto, privileged(pod("nosy", hostNetwork=True)))


def test_in_a_standard_cluster_it_is_not(world: World) -> None:
    world.submit(privileged(pod("nosy", hostNetwork=True)))
    world.remove("nosy")


def test_a_job_of_such_pods_is_refused_too(auto: Auto) -> None:
    container = {"name": "main", "image": "played", "securityContext": {"privileged": True}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "nosy"}, "spec": {"template": template}}
    with pytest.raises(client.ApiException) as refused:
        auto.kube.call("POST", "/apis/batch/v1/namespaces/default/jobs", job)
    assert "container main is privileged; not allowed in Autopilot" in refused.value.reason
    system = {**job, "metadata": {"name": "googles"}}
    auto.kube.call("POST", "/apis/batch/v1/namespaces/kube-system/jobs?dryRun=All", system)
