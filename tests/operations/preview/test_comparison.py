"""What two previews from nothing ask for differently, and what of it no resource can change in place."""

from __future__ import annotations

from typing import Any

import pytest

from operations.preview.comparison import Change, differences

pytestmark = pytest.mark.unit

POOL, QUEUE, JOBSET = (
    "gcp:container/nodePool:NodePool",
    "kubernetes:kueue.x-k8s.io/v1beta2:ClusterQueue",
    "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet",
)
INPUTS = {"name": "p", "nodeCount": 2, "nodeConfig": {"machineType": "ct5lp-hightpu-4t", "labels": {"a": "b"}}}


def step(kind: str, name: str, inputs: dict[str, Any], **further: Any) -> dict[str, Any]:
    urn = f"urn:pulumi:a::p::tpu-platform:x:Part${kind}::{name}"
    return {
        "op": "create",
        "urn": urn,
        "newState": {"urn": urn, "type": kind, "custom": not kind.startswith("tpu-"), "inputs": inputs, **further},
    }


def one(kind: str, before: dict[str, Any], after: dict[str, Any], **further: Any) -> Change:
    (change,) = differences([step(kind, "one", before, **further)], [step(kind, "one", after, **further)])
    return change


def test_what_comes_goes_and_changes_in_the_order_of_what_is_lost() -> None:
    before = [step(POOL, "stays", INPUTS), step(POOL, "goes::x", INPUTS), step(QUEUE, "queue", {"spec": 1})]
    after = [step(POOL, "stays", INPUTS), step(QUEUE, "queue", {"spec": 2}), step(POOL, "comes", INPUTS)]
    assert differences(before, after) == (
        Change("delete", POOL, "goes::x"),
        Change("create", POOL, "comes"),
        Change("update", QUEUE, "queue", ("spec",)),
    )


def test_how_the_program_is_built_is_no_difference() -> None:
    component = step("tpu-platform:pool:SlicePool", "a", {})
    provider = step("pulumi:providers:gcp", "google", {"version": "1"})
    assert differences([step(POOL, "b", INPUTS)], [step(POOL, "b", INPUTS), component, provider]) == ()
    marked = {**INPUTS, "__defaults": ["nodeCount"]}
    assert differences([step(POOL, "b", INPUTS)], [step(POOL, "b", marked)]) == ()


def test_google_replaces_a_pool_of_another_kind_and_resizes_one() -> None:
    spot = {**INPUTS, "nodeConfig": {**INPUTS["nodeConfig"], "spot": True}}
    assert one(POOL, INPUTS, spot) == Change("replace", POOL, "one", ("nodeConfig.spot",))
    assert one(POOL, INPUTS, {**INPUTS, "nodeCount": 4}) == Change("update", POOL, "one", ("nodeCount",))


def test_an_object_of_another_name_or_namespace_is_another_object() -> None:
    before, after = ({"metadata": {"name": "q", "namespace": namespace}} for namespace in ("a", "b"))
    assert one(QUEUE, before, after) == Change("replace", QUEUE, "one", ("metadata.namespace",))
    labelled = {"metadata": {"name": "q", "namespace": "a", "labels": {"x": "y"}}}
    assert one(QUEUE, before, labelled) == Change("update", QUEUE, "one", ("metadata",))


def test_what_the_program_replaces_on_is_a_replacement() -> None:
    before, after = {"spec": {"jobs": [{"replicas": 1}]}}, {"spec": {"jobs": [{"replicas": 2}]}}
    said = one(JOBSET, before, after, replaceOnChanges=["metadata", "spec"])
    assert said == Change("replace", JOBSET, "one", ("spec.jobs[0].replicas",))
    assert one(JOBSET, before, after, replaceOnChanges=["spec.jobs[*].replicas"]).change == "replace"
    assert one(JOBSET, before, after, replaceOnChanges=["spec.other"]).change == "update"
