"""The provider between an engine and Google's server: what is made, read back, changed and removed, and by which calls."""

from __future__ import annotations

import threading
from typing import Any

import grpc
import pytest
import requests
from pulumi.runtime.proto import provider_pb2, status_pb2

from rehearsal.gcp_provider import wire
from tests.rehearsal.gcp_provider.conftest import PROJECT, SERVICE, Engine

pytestmark = pytest.mark.unit
CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
NETWORK, ACCOUNT = "gcp:compute/network:Network", "gcp:serviceaccount/account:Account"
NEWS: dict[str, Any] = {
    "name": "c",
    "location": "us-west4",
    "nodeLocations": ["us-west4-a"],
    "initialNodeCount": 1,
    "removeDefaultNodePool": True,
    "deletionProtection": False,
    "resourceLabels": {"environment": "tests"},
    "releaseChannel": {"channel": "RAPID"},
    "network": "n",
}
SLICE: dict[str, Any] = {
    "name": "slice",
    "cluster": "c",
    "location": "us-west4",
    "nodeCount": 2,
    "nodeLocations": ["us-west4-a"],
    "nodeConfig": {"machineType": "ct5lp-hightpu-4t", "labels": {"a": "1"}},
    "placementPolicy": {"type": "COMPACT", "tpuTopology": "2x4"},
    "management": {"autoRepair": True, "autoUpgrade": True},
}
NETWORKS = {"name": "n", "autoCreateSubnetworks": True}


@pytest.fixture
def cluster(ready: Engine) -> tuple[Engine, str, dict[str, Any], dict[str, Any]]:
    ready.create(NETWORK, "n", NETWORKS)
    return (ready, *ready.create(CLUSTER, "c", NEWS))


def test_services_asked_for_together_are_enabled_in_one_call(engine: Engine) -> None:
    names = [f"{api}.googleapis.com" for api in ("compute", "container", "logging")]
    threads = [threading.Thread(target=engine.create, args=(SERVICE, name, {"service": name})) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batches = engine.audit("batchEnable")
    assert [sorted(call["body"]["serviceIds"]) for call in batches] == [sorted(names)]


def test_a_service_stays_on_when_its_resource_goes(engine: Engine) -> None:
    identity, state, _ = engine.create(SERVICE, "s", {"service": "compute.googleapis.com"})
    engine.delete(SERVICE, identity, state)
    assert engine.read(SERVICE, identity, state, {})[0] == identity
    engine.delete(SERVICE, identity, {**state, "disableOnDestroy": True})
    assert engine.read(SERVICE, identity, state, {})[0] == ""


def test_a_cluster_is_made_as_the_real_provider_makes_it(cluster: Any) -> None:
    engine, identity, state, _ = cluster
    assert identity == f"projects/{PROJECT}/locations/us-west4/clusters/c"
    sent = engine.audit("clusters.create")[0]["body"]["cluster"]
    assert sent["resourceLabels"] == {"environment": "tests", "goog-pulumi-provisioned": "true"}
    assert sent["controlPlaneEndpointsConfig"]["ipEndpointsConfig"]["enabled"] is True
    assert [call["path"].rsplit("/", 1)[-1] for call in engine.audit("nodePools.delete")] == ["default-pool"]
    assert state["endpoint"] and state["masterVersion"] and state["masterAuth"]["clusterCaCertificate"] is not None
    assert state["resourceLabels"] == {"environment": "tests"}
    assert state["effectiveLabels"]["goog-pulumi-provisioned"] == "true"


def test_right_after_creation_nothing_differs_and_a_refresh_changes_nothing(cluster: Any) -> None:
    engine, identity, state, inputs = cluster
    ignored = ("nodeConfig", "nodePools", "initialNodeCount")
    assert list(engine.diff(CLUSTER, identity, state, inputs, ignored).diffs) == []
    _, again, refreshed = engine.read(CLUSTER, identity, state, inputs)
    differing = {name for name in {*again, *state} if again.get(name) != state.get(name)}
    assert differing == set()
    assert {k: v for k, v in refreshed.items() if k not in ignored} == {
        k: v for k, v in inputs.items() if k not in ignored
    }


def test_a_label_is_one_call_that_keeps_the_labels_of_others(cluster: Any) -> None:
    engine, identity, state, inputs = cluster
    changed = {**inputs, "resourceLabels": {"environment": "other"}}
    ignored = ("nodeConfig", "nodePools", "initialNodeCount")
    assert list(engine.diff(CLUSTER, identity, state, changed, ignored).diffs) == ["resourceLabels"]
    after = engine.update(CLUSTER, identity, state, {**changed})
    assert after["effectiveLabels"] == {"environment": "other", "goog-pulumi-provisioned": "true"}
    assert len(engine.audit("setResourceLabels")) == 1


def test_default_labels_are_on_a_cluster_and_follow_the_provider(ready: Engine) -> None:
    ready.create(NETWORK, "n", NETWORKS)
    ready.configure(defaultLabels='{"team": "ml"}')
    identity, state, inputs = ready.create(CLUSTER, "c", NEWS)
    own = {"environment": "tests"}
    assert state["pulumiLabels"] == {"team": "ml", **own} and state["resourceLabels"] == own
    assert state["effectiveLabels"] == {"team": "ml", **own, "goog-pulumi-provisioned": "true"}
    ignored = ("nodeConfig", "nodePools", "initialNodeCount")
    assert list(ready.diff(CLUSTER, identity, state, inputs, ignored).diffs) == []
    ready.configure(defaultLabels='{"team": "infra"}')
    assert list(ready.diff(CLUSTER, identity, state, inputs, ignored).diffs) == ["pulumiLabels"]
    assert ready.update(CLUSTER, identity, state, inputs)["effectiveLabels"]["team"] == "infra"


def test_a_protected_cluster_is_not_deleted(cluster: Any) -> None:
    engine, identity, state, _ = cluster
    with pytest.raises(grpc.RpcError) as caught:
        engine.delete(CLUSTER, identity, {**state, "deletionProtection": True})
    assert "Cannot destroy cluster because deletion_protection is set to true" in caught.value.details()
    engine.delete(CLUSTER, identity, state)
    assert engine.read(CLUSTER, identity, state, {})[0] == ""


def test_a_pool_is_made_by_the_real_providers_calls_and_reads_back(cluster: Any) -> None:
    engine = cluster[0]
    identity, state, inputs = engine.create(POOL, "p", SLICE)
    assert list(engine.diff(POOL, identity, state, inputs).diffs) == []
    assert state["nodeCount"] == 2
    calls = [
        (call["verb"], call["path"].rsplit("/", 1)[-1])
        for call in engine.audit("nodePools.")
        if "default-pool" not in call["path"]
    ]
    assert calls[:3] == [("GET", "slice"), ("POST", "nodePools"), ("GET", "nodePools")]
    sent = engine.audit("nodePools.create")[0]["body"]["nodePool"]
    assert sent["initialNodeCount"] == 2 and sent["placementPolicy"] == {"type": "COMPACT", "tpuTopology": "2x4"}
    assert all(call["path"].startswith("/v1beta1/") for call in engine.audit("container."))


def test_drift_shows_after_a_refresh_and_is_set_right(cluster: Any) -> None:
    engine = cluster[0]
    identity, state, inputs = engine.create(POOL, "p", SLICE)
    requests.put(
        f"{engine.google}/v1beta1/{identity}", json={"labels": {"labels": {"a": "drift"}}}, timeout=10
    ).raise_for_status()
    _wait_for_pool(engine, identity)
    _, found, refreshed = engine.read(POOL, identity, state, inputs)
    assert found["nodeConfig"]["labels"]["a"] == "drift" and refreshed["nodeConfig"]["labels"] == {"a": "drift"}
    assert list(engine.diff(POOL, identity, found, inputs).diffs) == ["nodeConfig"]
    assert engine.update(POOL, identity, found, inputs)["nodeConfig"]["labels"]["a"] == "1"


def _wait_for_pool(engine: Engine, identity: str) -> None:
    while requests.get(f"{engine.google}/v1beta1/{identity}", timeout=10).json()["status"] != "RUNNING":
        threading.Event().wait(0.02)


def test_a_pool_that_is_there_already_is_an_error(cluster: Any) -> None:
    engine = cluster[0]
    engine.create(POOL, "p", SLICE)
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(POOL, "p", SLICE)
    assert "clusters/c/nodePools/slice - already exists" in caught.value.details()


def test_googles_refusal_is_passed_on_in_the_words_of_its_client(cluster: Any) -> None:
    engine = cluster[0]
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(CLUSTER, "c", NEWS)
    assert "googleapi: Error 409: Already exists: projects/" in caught.value.details()
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(POOL, "p", {**SLICE, "nodeConfig": {"machineType": "ct9-none"}})
    assert "error creating NodePool: googleapi: Error 400: " in caught.value.details()


def test_a_pool_without_machines_goes_into_the_state_and_says_why(cluster: Any) -> None:
    engine = cluster[0]
    faults = [{"fault": "stockout", "match": {"name": "slice"}, "times": 1}]
    requests.put(f"{engine.google}/_rehearsal/faults", json=faults, timeout=10).raise_for_status()
    with pytest.raises(grpc.RpcError) as caught:
        engine.create(POOL, "p", SLICE)
    packed = {entry[0]: entry[1] for entry in caught.value.trailing_metadata()}["grpc-status-details-bin"]
    detail = provider_pb2.ErrorResourceInitFailed()
    status_pb2.Status.FromString(packed).details[0].Unpack(detail)
    assert detail.id.endswith("/nodePools/slice")
    assert "GCE_STOCKOUT" in detail.reasons[0]
    assert wire.decode(detail.properties)[0]["nodeCount"] == 0


def test_two_pools_at_once_both_succeed(cluster: Any) -> None:
    engine, failures = cluster[0], []

    def create(name: str) -> None:
        try:
            engine.create(POOL, name, {**SLICE, "name": name})
        except grpc.RpcError as error:
            failures.append(error.details())

    threads = [threading.Thread(target=create, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


@pytest.mark.parametrize("form", [f"projects/{PROJECT}/global/networks/n", f"{PROJECT}/n", "n"])
def test_an_import_accepts_each_form_of_an_id(ready: Engine, form: str) -> None:
    identity, _, _ = ready.create(NETWORK, "n", NETWORKS)
    found, state, inputs = ready.read(NETWORK, form, {}, {})
    assert found == identity and state["name"] == "n" and inputs["name"] == "n"
    assert list(ready.diff(NETWORK, found, state, inputs).diffs) == []


def test_a_network_without_subnetworks_is_imported_as_such(ready: Engine) -> None:
    identity, _, _ = ready.create(NETWORK, "n", {"name": "n", "autoCreateSubnetworks": False})
    _, state, inputs = ready.read(NETWORK, identity, {}, {})
    assert inputs["autoCreateSubnetworks"] is False
    assert list(ready.diff(NETWORK, identity, state, inputs).diffs) == []


def test_a_network_is_made_without_its_route_to_the_internet(ready: Engine) -> None:
    ready.create(NETWORK, "n", {**NETWORKS, "deleteDefaultRoutesOnCreate": True})
    ready.create(NETWORK, "other", {"name": "other", "autoCreateSubnetworks": False})
    listed = requests.get(f"{ready.google}/compute/v1/projects/{PROJECT}/global/routes", timeout=10).json()["items"]
    assert [row["network"].rsplit("/", 1)[-1] for row in listed if row["destRange"] == "0.0.0.0/0"] == ["other"]


def test_a_preview_tells_what_is_known_and_leaves_the_rest_open(engine: Engine) -> None:
    _, outputs, _ = engine.create(ACCOUNT, "a", {"accountId": "nodes"}, preview=True)
    assert outputs["email"] == f"nodes@{PROJECT}.iam.gserviceaccount.com"
    assert outputs["uniqueId"] is wire.UNKNOWN
    _, outputs, _ = engine.create(CLUSTER, "c", NEWS, preview=True)
    assert outputs["endpoint"] is wire.UNKNOWN and outputs["name"] == "c" and outputs["project"] == PROJECT


def test_a_deletion_policy_is_obeyed(ready: Engine) -> None:
    identity, state, _ = ready.create(NETWORK, "n", NETWORKS)
    with pytest.raises(grpc.RpcError, match="PREVENT"):
        ready.delete(NETWORK, identity, {**state, "deletionPolicy": "PREVENT"})
    ready.delete(NETWORK, identity, {**state, "deletionPolicy": "ABANDON"})
    assert ready.read(NETWORK, identity, state, {})[0] == identity
    ready.delete(NETWORK, identity, state)
    assert ready.read(NETWORK, identity, state, {})[0] == ""
