"""Check: what a program states is held against the installed package's own types."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.gcp_provider.errors import ProviderError
from rehearsal.gcp_provider.protocol import engine
from rehearsal.gcp_provider.resources import KINDS
from rehearsal.gcp_provider.wire import UNKNOWN

pytestmark = pytest.mark.unit
POOL, CLUSTER = KINDS["gcp:container/nodePool:NodePool"], KINDS["gcp:container/cluster:Cluster"]
NAMING = engine.Naming("pool", b"seed")


def reasons(kind: Any, news: dict[str, Any]) -> dict[str, str]:
    _, failures = engine.check(kind, {}, news, NAMING)
    return {failure.path: failure.reason for failure in failures}


def test_a_misspelt_property_is_refused_with_the_one_that_is_meant() -> None:
    found = reasons(POOL, {"cluster": "c", "nodeCont": 2})
    assert 'Did you mean "nodeCount"?' in found["nodeCont"]


def test_a_misspelt_property_deep_inside_is_refused_by_its_path() -> None:
    taints = [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}, {"key": "k", "value": "v", "efect": "NO_SCHEDULE"}]
    found = reasons(POOL, {"cluster": "c", "nodeConfig": {"taints": taints}})
    assert 'Did you mean "effect"?' in found["nodeConfig.taints[1].efect"]
    assert "required" in found["nodeConfig.taints[1].effect"]


def test_a_missing_required_property_is_named() -> None:
    assert "Missing required argument" in reasons(POOL, {})["cluster"]
    assert (
        "Missing required argument"
        in reasons(POOL, {"cluster": "c", "placementPolicy": {"tpuTopology": "2x4"}})["placementPolicy.type"]
    )


@pytest.mark.parametrize(
    ("path", "news"),
    [
        ("nodeCount", {"nodeCount": "many"}),
        ("nodeCount", {"nodeCount": 1.5}),
        ("nodeCount", {"nodeCount": -1}),
        ("nodeConfig", {"nodeConfig": "big"}),
        ("nodeLocations", {"nodeLocations": "us-west4-a"}),
        ("nodeConfig.spot", {"nodeConfig": {"spot": "maybe"}}),
        ("nodeConfig.labels.a", {"nodeConfig": {"labels": {"a": {"b": "c"}}}}),
    ],
)
def test_a_value_of_another_type_is_refused(path: str, news: dict[str, Any]) -> None:
    assert path in reasons(POOL, {"cluster": "c", **news})


def test_scalars_are_converted_as_terraform_does() -> None:
    inputs, failures = engine.check(
        POOL, {}, {"cluster": "c", "nodeCount": "2", "nodeConfig": {"labels": {"a": 1, "b": True}}}, NAMING
    )
    assert failures == []
    assert inputs["nodeCount"] == 2
    assert inputs["nodeConfig"]["labels"]["a"] == "1"
    assert inputs["nodeConfig"]["labels"]["b"] == "true"


def test_what_is_not_known_yet_is_not_wrong() -> None:
    assert (
        reasons(POOL, {"cluster": UNKNOWN, "nodeConfig": UNKNOWN, "nodeLocations": [UNKNOWN], "nodeCount": UNKNOWN})
        == {}
    )


def test_zero_and_false_are_values() -> None:
    inputs, _ = engine.check(POOL, {}, {"cluster": "c", "nodeCount": 0, "management": {"autoRepair": False}}, NAMING)
    assert inputs["nodeCount"] == 0
    assert inputs["management"]["autoRepair"] is False
    assert inputs["management"]["autoUpgrade"] is True
    assert inputs["management"]["__defaults"] == ["autoUpgrade"]


def test_a_name_that_is_not_stated_is_made_and_kept() -> None:
    first, _ = engine.check(POOL, {}, {"cluster": "c"}, NAMING)
    assert first["name"].startswith("pool-") and len(first["name"]) == len("pool-") + 7
    assert first["__defaults"] == ["name"]
    again, _ = engine.check(POOL, first, {"cluster": "c"}, engine.Naming("pool", b"other"))
    assert again["name"] == first["name"]


def test_the_schemas_defaults_of_a_cluster_are_inputs() -> None:
    inputs, _ = engine.check(CLUSTER, {}, {"name": "c"}, NAMING)
    assert inputs["deletionProtection"] is True
    assert inputs["network"] == "default"
    assert "deletionPolicy" not in inputs


@pytest.mark.parametrize("name", ["Capitals", "x" * 41, "1c", "c-", "under_score"])
def test_a_clusters_name_is_checked_before_any_call(name: str) -> None:
    assert "name" in reasons(CLUSTER, {"name": name})


def test_autopilot_stated_at_all_excludes_removing_the_default_pool() -> None:
    found = reasons(CLUSTER, {"name": "c", "enableAutopilot": False, "removeDefaultNodePool": True})
    assert "conflicts with enable_autopilot" in found["removeDefaultNodePool"]


def test_a_property_that_is_not_supported_is_refused_by_name() -> None:
    policy = {"maintenanceExclusions": [{"exclusionName": "x", "startTime": "a", "endTime": "b"}]}
    found = reasons(CLUSTER, {"name": "c", "maintenancePolicy": policy})
    assert "not supported" in found["maintenancePolicy.maintenanceExclusions"]


def test_a_type_that_is_not_supported_is_named_with_those_that_are() -> None:
    with pytest.raises(
        ProviderError, match=r"gcp:pubsub/topic:Topic is not supported .* supported: .*gcp:container/cluster:Cluster"
    ):
        engine.kind_of("gcp:pubsub/topic:Topic")
    with pytest.raises(ProviderError, match="not one of the installed"):
        engine.kind_of("gcp:pubsub/topic:Topik")
