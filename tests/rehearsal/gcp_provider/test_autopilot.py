"""Autopilot clusters through the provider: what is sent, that nothing differs afterwards, and what excludes each other."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.gcp_provider.conftest import Engine

pytestmark = pytest.mark.unit
CLUSTER, NETWORK = "gcp:container/cluster:Cluster", "gcp:compute/network:Network"
EMAIL = "nodes@tests-project.iam.gserviceaccount.com"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
NEWS: dict[str, Any] = {
    "name": "c",
    "location": "us-west4",
    "enableAutopilot": True,
    "deletionProtection": False,
    "minMasterVersion": "1.34",
    "network": "n",
    "releaseChannel": {"channel": "RAPID"},
    "networkingMode": "VPC_NATIVE",
    "ipAllocationPolicy": {},
    "privateClusterConfig": {
        "enablePrivateNodes": True,
        "enablePrivateEndpoint": False,
        "masterIpv4CidrBlock": "172.16.0.0/28",
    },
    "workloadIdentityConfig": {"workloadPool": "tests-project.svc.id.goog"},
    "addonsConfig": {"rayOperatorConfigs": [{"enabled": False}]},
    "clusterAutoscaling": {"autoProvisioningDefaults": {"serviceAccount": EMAIL, "oauthScopes": SCOPES}},
    "nodePoolAutoConfig": {"networkTags": {"tags": ["c-node"]}},
}


@pytest.fixture
def cluster(ready: Engine) -> tuple[Engine, str, dict[str, Any], dict[str, Any]]:
    ready.create(NETWORK, "n", {"name": "n", "autoCreateSubnetworks": True})
    return (ready, *ready.create(CLUSTER, "c", NEWS))


def test_what_is_sent_names_the_nodes_account_and_no_pool(cluster: Any) -> None:
    engine, _, _, _ = cluster
    (call,) = engine.audit("clusters.create")
    sent = call["body"]["cluster"]
    assert sent["autopilot"] == {"enabled": True}
    assert sent["shieldedNodes"] == {"enabled": True}
    assert not {"nodePools", "initialNodeCount"} & set(sent)
    assert sent["autoscaling"]["autoprovisioningNodePoolDefaults"]["serviceAccount"] == EMAIL
    assert "enableNodeAutoprovisioning" not in sent["autoscaling"]
    assert sent["nodePoolAutoConfig"] == {"networkTags": {"tags": ["c-node"]}}
    assert engine.audit("nodePools") == []


def test_right_after_creation_nothing_differs_and_a_refresh_changes_nothing(cluster: Any) -> None:
    engine, identity, state, inputs = cluster
    assert list(engine.diff(CLUSTER, identity, state, inputs).diffs) == []
    _, again, refreshed = engine.read(CLUSTER, identity, state, inputs)
    assert {name for name in {*again, *state} if again.get(name) != state.get(name)} == set()
    decided = {"clusterAutoscaling"}
    assert {k: v for k, v in refreshed.items() if k not in decided} == {
        k: v for k, v in inputs.items() if k not in decided
    }
    assert list(engine.diff(CLUSTER, identity, again, refreshed).diffs) == []


def test_another_account_for_nodes_is_an_update_and_another_mode_a_replacement(cluster: Any) -> None:
    engine, identity, state, inputs = cluster
    nodes = {"autoProvisioningDefaults": {"serviceAccount": "other@x.y", "oauthScopes": SCOPES}}
    changed = engine.diff(CLUSTER, identity, state, {**inputs, "clusterAutoscaling": nodes})
    assert (list(changed.diffs), list(changed.replaces)) == (["clusterAutoscaling"], [])
    standard = {key: value for key, value in inputs.items() if key != "enableAutopilot"}
    assert "enableAutopilot" in engine.diff(CLUSTER, identity, state, standard).replaces


@pytest.mark.parametrize(
    "excluded",
    [
        {"removeDefaultNodePool": True},
        {"nodePools": [{"name": "p", "initialNodeCount": 1}]},
        {"networkPolicy": {"enabled": True}},
        {"enableShieldedNodes": True},
        {"enableIntranodeVisibility": True},
        {"defaultMaxPodsPerNode": 64},
        {"clusterAutoscaling": {"enabled": True}},
        {"addonsConfig": {"dnsCacheConfig": {"enabled": True}}},
        {"binaryAuthorization": {"enabled": True}},
    ],
    ids=lambda stated: next(iter(stated)),
)
@pytest.mark.parametrize("mode", [True, False])
def test_stated_at_all_the_mode_excludes(engine: Engine, excluded: dict[str, Any], mode: bool) -> None:
    news = {"name": "c", "location": "us-west4", "enableAutopilot": mode, **excluded}
    _, failures = engine.check(CLUSTER, "c", news)
    assert len(failures) == 1
    assert "conflicts with enable_autopilot" in failures[0]
    assert engine.check(CLUSTER, "c", {**news, "enableAutopilot": None})[1] == []
