"""Buckets by Google's own gcloud: made as the program makes them, opened to a workload, listed, and deleted when empty."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.rehearsal.gcp.process import PROJECT

pytestmark = pytest.mark.rehearsal

NAME = "gcloud-checkpoints"
URL = f"gs://{NAME}"
PRIVATE = ("--uniform-bucket-level-access", "--public-access-prevention", "--enable-hierarchical-namespace")


def ran(server: Any, *words: str) -> str:
    done = server.gcloud("storage", *words)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def bucket(server: Any) -> Any:
    done = server.gcloud("services", "enable", "storage.googleapis.com")
    assert done.returncode == 0, done.stderr
    ran(server, "buckets", "create", URL, "--location=us-west4", *PRIVATE, "--soft-delete-duration=0")
    return server


def test_a_bucket_is_described_as_it_was_asked_for(bucket: Any) -> None:
    found = json.loads(ran(bucket, "buckets", "describe", URL, "--format=json"))
    assert (found["location"], found["uniform_bucket_level_access"]) == ("US-WEST4", True)
    assert found["public_access_prevention"] == "enforced"
    assert found["soft_delete_policy"]["retentionDurationSeconds"] == "0"
    assert NAME in ran(bucket, "buckets", "list", "--format=value(name)").split()


def test_a_second_one_of_the_name_is_told_in_google_s_words(bucket: Any) -> None:
    again = bucket.gcloud("storage", "buckets", "create", URL, "--location=us-west4")
    assert again.returncode != 0
    assert "Your previous request to create the named bucket succeeded and you already own it." in again.stderr


def test_a_service_account_is_let_in_and_out(bucket: Any) -> None:
    done = bucket.gcloud("iam", "service-accounts", "create", "trainer")
    assert done.returncode == 0, done.stderr
    grant = (f"--member=serviceAccount:trainer@{PROJECT}.iam.gserviceaccount.com", "--role=roles/storage.objectUser")
    ran(bucket, "buckets", "add-iam-policy-binding", URL, *grant)
    policy = json.loads(ran(bucket, "buckets", "get-iam-policy", URL, "--format=json"))
    assert "roles/storage.objectUser" in [binding["role"] for binding in policy["bindings"]]
    ran(bucket, "buckets", "remove-iam-policy-binding", URL, *grant)
    policy = json.loads(ran(bucket, "buckets", "get-iam-policy", URL, "--format=json"))
    assert "roles/storage.objectUser" not in [binding["role"] for binding in policy["bindings"]]


def test_a_bucket_goes_when_its_files_have_gone(bucket: Any) -> None:
    """The objects are files: whoever mounts the bucket has written this one."""
    files = next(bucket.folder.rglob(f"buckets/{NAME}"))
    state = files / "default" / "job" / "7" / "state"
    state.parent.mkdir(parents=True)
    state.write_text("weights")
    assert f"{URL}/default/job/7/state" in ran(bucket, "ls", "--recursive", URL)
    refused = bucket.gcloud("storage", "buckets", "delete", URL)
    assert "is not empty" in refused.stderr
    ran(bucket, "rm", f"{URL}/default/job/7/state")
    assert not state.exists()
    ran(bucket, "buckets", "delete", URL)
    assert NAME not in ran(bucket, "buckets", "list", "--format=value(name)").split()
