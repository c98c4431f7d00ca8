"""Buckets, their policies and their objects over HTTP."""

from __future__ import annotations

import os
from urllib.parse import quote

import pytest

from tests.rehearsal.gcp.conftest import CLUSTER, LOCATION, PROJECT, Gcp

pytestmark = pytest.mark.unit

NAME = "tests-checkpoints"
BUCKETS = f"/storage/v1/b?project={PROJECT}"
BUCKET = f"/storage/v1/b/{NAME}"
UNIFORM = {"uniformBucketLevelAccess": {"enabled": True}, "publicAccessPrevention": "enforced"}
POOL = f"{PROJECT}.svc.id.goog"


def member(number: str, account: str = "tpu-training") -> str:
    pools = f"principal://iam.googleapis.com/projects/{number}/locations/global/workloadIdentityPools"
    return f"{pools}/{POOL}/subject/ns/default/sa/{account}"


@pytest.fixture
def on(gcp: Gcp) -> Gcp:
    gcp.enable("storage")
    return gcp


def make(gcp: Gcp, **further) -> dict:
    body = {"name": NAME, "location": "us-west4", "iamConfiguration": UNIFORM, **further}
    return gcp.ok("POST", BUCKETS, body)


def write(gcp: Gcp, name: str, text: str = "x") -> None:
    path = gcp.state / "buckets" / NAME / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_bucket_reads_back_with_what_google_fills_in(on: Gcp) -> None:
    made = make(on, hierarchicalNamespace={"enabled": True}, labels={"team": "a"})
    assert on.ok("GET", BUCKET) == made
    assert (made["location"], made["locationType"], made["storageClass"]) == ("US-WEST4", "region", "STANDARD")
    assert made["softDeletePolicy"]["retentionDurationSeconds"] == "604800"
    assert made["iamConfiguration"]["publicAccessPrevention"] == "enforced"
    assert made["iamConfiguration"]["bucketPolicyOnly"] == made["iamConfiguration"]["uniformBucketLevelAccess"]
    assert made["hierarchicalNamespace"] == {"enabled": True}
    assert on.ok("GET", BUCKETS)["items"] == [made]


def test_names_are_shared_by_all_projects(on: Gcp) -> None:
    make(on)
    body = {"name": NAME, "location": "US"}
    assert on.refused(409, "POST", BUCKETS, body).endswith("succeeded and you already own it.")
    other = "another-project"
    on.enable("storage", project=other)
    message = on.refused(409, "POST", f"/storage/v1/b?project={other}", body)
    assert message.startswith("The requested bucket name is not available.")


@pytest.mark.parametrize(
    "name", ["ab", "Upper", "-a-b", "a_b-", "1.2.3.4", "x" * 64, "goog-bucket", "my-google-bucket", "a..b"]
)
def test_names_that_google_refuses(on: Gcp, name: str) -> None:
    message = on.refused(400, "POST", BUCKETS, {"name": name, "location": "US"})
    assert message == f"Invalid bucket name: '{name}'"


@pytest.mark.parametrize(
    ("further", "text"),
    [
        ({"location": "us-west4-a"}, "location constraint is not valid"),
        ({"iamConfiguration": {}, "hierarchicalNamespace": {"enabled": True}}, "requires uniform bucket-level access"),
        ({"versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": True}}, "versioning is not supported"),
        ({"softDeletePolicy": {"retentionDurationSeconds": "60"}}, "0 or between 7 and 90 days"),
        ({"storageClass": "HOT"}, "unknown storage class"),
        ({"lifecycle": {"rule": [{"action": {"type": "Delete"}, "condition": {}}]}}, "at least one condition"),
    ],
)
def test_what_google_refuses_of_a_new_bucket(on: Gcp, further: dict, text: str) -> None:
    body = {"name": NAME, "location": "us-west4", "iamConfiguration": UNIFORM, **further}
    assert text in on.refused(400, "POST", BUCKETS, body)
    assert on.call("GET", BUCKET)[0] == 404


def test_the_api_must_be_enabled(gcp: Gcp) -> None:
    other = "a-fresh-project"
    message = gcp.refused(403, "POST", f"/storage/v1/b?project={other}", {"name": NAME, "location": "US"})
    assert message.startswith("Cloud Storage API has not been used in project")


def test_patch_changes_what_it_names(on: Gcp) -> None:
    made = make(on, labels={"a": "1", "b": "2"}, hierarchicalNamespace={"enabled": True})
    rule = {"action": {"type": "Delete"}, "condition": {"age": 30}}
    body = {
        "labels": {"a": None, "c": "3"},
        "lifecycle": {"rule": [rule]},
        "softDeletePolicy": {"retentionDurationSeconds": "0"},
    }
    changed = on.ok("PATCH", BUCKET, body)
    assert changed["labels"] == {"b": "2", "c": "3"}
    assert changed["lifecycle"] == {"rule": [rule]}
    assert changed["softDeletePolicy"]["retentionDurationSeconds"] == "0"
    assert changed["iamConfiguration"]["uniformBucketLevelAccess"]["enabled"] is True
    assert (made["metageneration"], changed["metageneration"]) == ("1", "2")
    assert "versioning is not supported" in on.refused(400, "PATCH", BUCKET, {"versioning": {"enabled": True}})
    assert "cannot be changed" in on.refused(400, "PATCH", BUCKET, {"hierarchicalNamespace": {"enabled": False}})


def test_a_bucket_with_objects_is_not_deleted(on: Gcp) -> None:
    make(on)
    write(on, "default/job/7/state")
    assert on.refused(409, "DELETE", BUCKET) == "The bucket you tried to delete is not empty."
    on.ok("DELETE", f"{BUCKET}/o/{quote('default/job/7/state', safe='')}?generation=1")
    on.ok("DELETE", BUCKET)
    assert on.refused(404, "GET", BUCKET) == "The specified bucket does not exist."
    assert not (on.state / "buckets" / NAME).exists()
    assert on.ok("GET", "/_rehearsal/leftovers")["iam bindings"] == []


def test_objects_are_listed_in_pages_and_by_folder(on: Gcp) -> None:
    make(on)
    for n in range(3):
        write(on, f"default/job/{n}/state", "abc")
    write(on, "notes.json")
    first = on.ok("GET", f"{BUCKET}/o?maxResults=3&versions=true")
    rest = on.ok("GET", f"{BUCKET}/o?maxResults=3&pageToken={first['nextPageToken']}")
    names = [row["name"] for row in [*first["items"], *rest["items"]]]
    assert names == ["default/job/0/state", "default/job/1/state", "default/job/2/state", "notes.json"]
    assert first["items"][0]["size"] == "3"
    top = on.ok("GET", f"{BUCKET}/o?delimiter=/")
    assert ([row["name"] for row in top["items"]], top["prefixes"]) == (["notes.json"], ["default/"])
    inner = on.ok("GET", f"{BUCKET}/o?delimiter=/&prefix=default/job/")
    assert inner["prefixes"] == ["default/job/0/", "default/job/1/", "default/job/2/"]


def test_an_object_that_goes_while_the_others_are_listed_is_left_out(on: Gcp) -> None:
    """A name that leads to no file any more: what a listing meets when a training deletes its oldest checkpoint beside it."""
    make(on)
    write(on, "there")
    (on.state / "buckets" / NAME / "gone").symlink_to("nowhere")
    assert [item["name"] for item in on.ok("GET", f"{BUCKET}/o")["items"]] == ["there"]


def test_no_object_is_outside_of_its_bucket(on: Gcp) -> None:
    make(on)
    secret = on.state / "secret"
    secret.write_text("x")
    os.makedirs(on.state / "buckets" / NAME / "a", exist_ok=True)
    assert "No such object" in on.refused(404, "DELETE", f"{BUCKET}/o/{quote('../../secret', safe='')}")
    assert secret.exists()


def test_a_policy_begins_with_the_project_s_own_people_and_takes_workloads(on: Gcp) -> None:
    make(on)
    cluster = {"name": "demo", "initialNodeCount": 1, "workloadIdentityConfig": {"workloadPool": POOL}}
    policy = on.ok("GET", f"{BUCKET}/iam?optionsRequestedPolicyVersion=3")
    assert policy["resourceId"] == f"projects/_/buckets/{NAME}"
    assert [binding["role"] for binding in policy["bindings"]] == [
        "roles/storage.legacyBucketOwner",
        "roles/storage.legacyBucketReader",
    ]
    number = on.ok("GET", BUCKET)["projectNumber"]
    grant = {"role": "roles/storage.objectUser", "members": [member(number)]}
    wanted = {**policy, "bindings": [*policy["bindings"], grant]}
    assert f"Identity Pool does not exist ({POOL})" in on.refused(400, "PUT", f"{BUCKET}/iam", wanted)
    on.done(on.ok("POST", f"{LOCATION}/clusters", {"cluster": cluster}))
    assert grant in on.ok("PUT", f"{BUCKET}/iam", wanted)["bindings"]
    on.done(on.ok("DELETE", CLUSTER))
    assert grant in on.ok("GET", f"{BUCKET}/iam")["bindings"]
    assert "concurrent policy changes" in on.refused(409, "PUT", f"{BUCKET}/iam", wanted)


def test_no_public_member_where_that_is_prevented(on: Gcp) -> None:
    make(on)
    policy = on.ok("GET", f"{BUCKET}/iam")
    public = {
        **policy,
        "bindings": [*policy["bindings"], {"role": "roles/storage.objectViewer", "members": ["allUsers"]}],
    }
    assert "public access prevention is enforced" in on.refused(412, "PUT", f"{BUCKET}/iam", public)
    on.ok("PATCH", BUCKET, {"iamConfiguration": {"publicAccessPrevention": "inherited"}})
    assert "allUsers" in str(on.ok("PUT", f"{BUCKET}/iam", public))
