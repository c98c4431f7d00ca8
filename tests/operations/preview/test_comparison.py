"""What two previews from nothing ask for differently, and what of it no resource can change in place."""

from __future__ import annotations

from typing import Any

import pytest

from operations.preview.comparison import ResourceChange, differences
from operations.preview.replacement import replacing
from policies.steps import Step
from rehearsal.gcp_provider.resources import KINDS

pytestmark = pytest.mark.unit

POOL, QUEUE, JOBSET = (
    "gcp:container/nodePool:NodePool",
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
)
INPUTS = {"name": "p", "nodeCount": 2, "nodeConfig": {"machineType": "ct5lp-hightpu-4t", "labels": {"a": "b"}}}


def step(kind: str, name: str, inputs: dict[str, Any], **further: Any) -> Step:
    urn = f"urn:pulumi:a::p::tpu-platform:x:Part${kind}::{name}"
    state = {"urn": urn, "type": kind, "custom": not kind.startswith("tpu-"), "inputs": inputs, **further}
    return Step("create", urn, None, state)


def one(kind: str, before: dict[str, Any], after: dict[str, Any], **further: Any) -> ResourceChange:
    (change,) = differences([step(kind, "one", before, **further)], [step(kind, "one", after, **further)])
    return change


def test_what_comes_goes_and_changes_in_the_order_of_what_is_lost() -> None:
    before = [step(POOL, "stays", INPUTS), step(POOL, "goes::x", INPUTS), step(QUEUE, "queue", {"spec": 1})]
    after = [step(POOL, "stays", INPUTS), step(QUEUE, "queue", {"spec": 2}), step(POOL, "comes", INPUTS)]
    assert differences(before, after) == (
        ResourceChange("delete", POOL, "goes::x"),
        ResourceChange("create", POOL, "comes"),
        ResourceChange("update", QUEUE, "queue", ("spec",)),
    )


def test_how_the_program_is_built_is_no_difference() -> None:
    component = step("tpu-platform:pool:SlicePool", "a", {})
    provider = step("pulumi:providers:gcp", "google", {"version": "1"})
    assert differences([step(POOL, "b", INPUTS)], [step(POOL, "b", INPUTS), component, provider]) == ()
    marked = {**INPUTS, "__defaults": ["nodeCount"]}
    assert differences([step(POOL, "b", INPUTS)], [step(POOL, "b", marked)]) == ()


def test_google_replaces_a_pool_of_another_kind_and_resizes_one() -> None:
    spot = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "spot": True}}
    assert one(POOL, INPUTS, spot) == ResourceChange("replace", POOL, "one", ("nodeConfig.spot",))
    assert one(POOL, INPUTS, {**INPUTS, "nodeCount": 4}) == ResourceChange("update", POOL, "one", ("nodeCount",))


def test_an_object_of_another_name_or_namespace_is_another_object() -> None:
    before, after = ({"metadata": {"name": "q", "namespace": namespace}} for namespace in ("a", "b"))
    assert one(QUEUE, before, after) == ResourceChange("replace", QUEUE, "one", ("metadata.namespace",))
    labelled = {"metadata": {"name": "q", "namespace": "a", "labels": {"x": "y"}}}
    assert one(QUEUE, before, labelled) == ResourceChange("update", QUEUE, "one", ("metadata",))


def test_what_the_program_replaces_on_is_a_replacement() -> None:
    before, after = {"spec": {"jobs": [{"replicas": 1}]}}, {"spec": {"jobs": [{"replicas": 2}]}}
    log_summary = one(JOBSET, before, after, replaceOnChanges=["metadata", "spec"])
    assert log_summary == ResourceChange("replace", JOBSET, "one", ("spec.jobs[0].replicas",))
    assert one(JOBSET, before, after, replaceOnChanges=["spec.jobs[*].replicas"]).change == "replace"
    assert one(JOBSET, before, after, replaceOnChanges=["spec.other"]).change == "update"


def test_the_order_of_a_set_is_no_difference() -> None:
    scopes = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "oauthScopes": ["a", "b"]}}
    turned = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "oauthScopes": ["b", "a"]}}
    wider = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "oauthScopes": ["a", "c"]}}
    assert differences([step(POOL, "one", scopes)], [step(POOL, "one", turned)]) == ()
    assert one(POOL, scopes, wider) == ResourceChange("replace", POOL, "one", ("nodeConfig.oauthScopes[1]",))


def test_an_unset_value_and_an_empty_one_replace_nothing() -> None:
    off = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "spot": False}}
    assert one(POOL, INPUTS, off).change == "update"
    assert one("gcp:compute/network:Network", {}, {"autoCreateSubnetworks": True}).change == "update"
    assert one("gcp:compute/network:Network", {}, {"autoCreateSubnetworks": False}).change == "replace"


def test_a_link_and_a_name_are_one_network() -> None:
    kind, link = "gcp:compute/router:Router", "projects/p/global/networks/n"
    assert one(kind, {"network": link}, {"network": "n"}).change == "update"
    assert one(kind, {"network": link}, {"network": "m"}).change == "replace"
    assert one(kind, {"network": link}, {"network": "projects/q/global/networks/n"}).change == "replace"


def test_every_key_of_a_map_that_replaces_counts() -> None:
    before, after = ({**INPUTS, "nodeConfig": {"metadata": {"a": value}}} for value in ("b", "c"))
    assert one(POOL, before, after) == ResourceChange("replace", POOL, "one", ("nodeConfig.metadata.a",))


def test_a_value_that_google_keeps_replaces_nothing_when_it_is_no_longer_set() -> None:
    account = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "serviceAccount": "a"}}
    assert one(POOL, account, INPUTS).change == "update"
    assert one(POOL, INPUTS, account).change == "replace"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_table_agrees_with_the_rehearsals_provider(kind: str) -> None:
    """Both are from Terraform's provider. Pools and nodes inside a cluster are left out here: the program makes its own pools."""
    rules = {path: rule for path, rule in KINDS[kind].table.items() if rule.force and not rule.output}
    if kind.endswith(":Cluster"):
        rules = {path: rule for path, rule in rules.items() if path.split(".")[0] not in ("nodePools", "nodeConfig")}
    known = replacing()[kind]
    assert known.replace == set(rules)
    assert known.kept_when_unset == {path for path, rule in rules.items() if rule.computed}
    assert known.unordered == {path for path, rule in rules.items() if rule.unordered}


def test_every_kind_that_the_rehearsal_knows_is_in_the_table() -> None:
    assert set(replacing()) == set(KINDS)
