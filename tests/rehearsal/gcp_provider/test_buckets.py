"""Buckets and their members between an engine and Google's server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import grpc
import pytest
import requests

from tests.rehearsal.gcp_provider.conftest import PROJECT, Engine

pytestmark = pytest.mark.unit
BUCKET, MEMBER = "gcp:storage/bucket:Bucket", "gcp:storage/bucketIAMMember:BucketIAMMember"
NEWS: dict[str, Any] = {
    "name": "tests-checkpoints",
    "location": "us-west4",
    "uniformBucketLevelAccess": True,
    "publicAccessPrevention": "enforced",
    "hierarchicalNamespace": {"enabled": True},
    "softDeletePolicy": {"retentionDurationSeconds": 0},
    "lifecycleRules": [{"action": {"type": "Delete"}, "condition": {"age": 30}}],
    "labels": {"team": "a"},
}


@pytest.fixture
def bucket(ready: Engine) -> tuple[Engine, str, dict[str, Any], dict[str, Any]]:
    ready.create("gcp:projects/service:Service", "s", {"service": "storage.googleapis.com"})
    return (ready, *ready.create(BUCKET, "b", NEWS))


def put(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_bucket_is_made_as_stated_and_right_after_nothing_differs(bucket: Any) -> None:
    engine, identity, state, inputs = bucket
    assert identity == "tests-checkpoints"
    sent = engine.audit("storage.buckets.insert")[0]["body"]
    assert sent["softDeletePolicy"] == {"retentionDurationSeconds": 0}
    assert sent["iamConfiguration"] == {
        "uniformBucketLevelAccess": {"enabled": True},
        "publicAccessPrevention": "enforced",
    }
    assert sent["labels"] == {"team": "a", "goog-pulumi-provisioned": "true"}
    assert (state["location"], state["url"], state["labels"]) == ("US-WEST4", "gs://tests-checkpoints", {"team": "a"})
    assert state["lifecycleRules"][0]["condition"]["age"] == 30
    assert list(engine.diff(BUCKET, identity, state, inputs).diffs) == []
    _, again, refreshed = engine.read(BUCKET, identity, state, inputs)
    assert {name for name in {*again, *state} if again.get(name) != state.get(name)} == set()
    assert refreshed == inputs


@pytest.mark.parametrize(
    ("change", "differing", "sent"),
    [
        ({"labels": {"use": "b"}}, ["labels.team", "labels.use"], {"labels": {"team": None, "use": "b"}}),
        ({"lifecycleRules": None}, ["lifecycleRules"], {"lifecycle": None}),
        (
            {"softDeletePolicy": {"retentionDurationSeconds": 604800}},
            ["softDeletePolicy.retentionDurationSeconds"],
            {"softDeletePolicy": {"retentionDurationSeconds": 604800}},
        ),
        ({"forceDestroy": True}, ["forceDestroy"], {}),
    ],
)
def test_a_change_sends_what_changes(bucket: Any, change: dict, differing: list[str], sent: dict) -> None:
    engine, identity, state, inputs = bucket
    wanted = {key: value for key, value in {**inputs, **change}.items() if value is not None}
    answer = engine.diff(BUCKET, identity, state, wanted)
    assert (sorted(answer.detailedDiff), list(answer.replaces)) == (differing, [])
    after = engine.update(BUCKET, identity, state, wanted)
    assert engine.audit("storage.buckets.patch")[0]["body"] == sent
    assert list(engine.diff(BUCKET, identity, after, wanted).diffs) == []


@pytest.mark.parametrize(
    "change", [{"location": "US"}, {"hierarchicalNamespace": {"enabled": False}}, {"name": "another-name"}]
)
def test_what_is_decided_at_the_start_replaces_the_bucket(bucket: Any, change: dict) -> None:
    engine, identity, state, inputs = bucket
    answer = engine.diff(BUCKET, identity, state, {**inputs, **change})
    assert len(answer.replaces) == 1


def test_a_bucket_with_objects_goes_only_by_force(bucket: Any, tmp_path: Path) -> None:
    engine, identity, state, _ = bucket
    files = next(tmp_path.rglob(f"buckets/{identity}"))
    for n in range(3):
        put(files / f"default/job/{n}/state")
    with pytest.raises(grpc.RpcError) as caught:
        engine.delete(BUCKET, identity, state)
    assert "without `force_destroy` set to true" in caught.value.details()
    assert len(list(files.rglob("state"))) == 3
    engine.delete(BUCKET, identity, {**state, "forceDestroy": True})
    assert not files.exists()
    assert engine.read(BUCKET, identity, state, {})[0] == ""


def test_a_member_is_added_beside_those_of_others(bucket: Any) -> None:
    engine, identity, _, _ = bucket
    engine.create("gcp:serviceaccount/account:Account", "a", {"accountId": "trainer"})
    role, member = "roles/storage.objectUser", f"serviceAccount:trainer@{PROJECT}.iam.gserviceaccount.com"
    news = {"bucket": identity, "role": role, "member": member}
    name, granted, inputs = engine.create(MEMBER, "m", news)
    assert name == f"b/{identity}/{role}/{member}"
    assert list(engine.diff(MEMBER, name, granted, inputs).diffs) == []
    assert engine.read(MEMBER, name, granted, inputs)[0] == name
    roles = [
        row["role"]
        for row in requests.get(f"{engine.google}/storage/v1/b/{identity}/iam", timeout=10).json()["bindings"]
    ]
    assert role in roles and "roles/storage.legacyBucketOwner" in roles
    engine.delete(MEMBER, name, granted)
    assert engine.read(MEMBER, name, granted, inputs)[0] == ""
