"""Projects and their policies, in both versions of the API."""

from __future__ import annotations

import pytest

from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

V1, V3 = f"/v1/projects/{PROJECT}", f"/v3/projects/{PROJECT}"
EMAIL = f"tpu-nodes@{PROJECT}.iam.gserviceaccount.com"
MEMBER = f"serviceAccount:{EMAIL}"
CONDITION = {"title": "until", "expression": "request.time < timestamp('2030-01-01T00:00:00Z')"}


def account(gcp: Gcp) -> None:
    gcp.ok("POST", f"/v1/projects/{PROJECT}/serviceAccounts", {"accountId": "tpu-nodes"})


def policy_of(gcp: Gcp, version: int = 1) -> dict:
    return gcp.ok("POST", f"{V1}:getIamPolicy", {"options": {"requestedPolicyVersion": version}})


def write(gcp: Gcp, policy: dict) -> dict:
    return gcp.ok("POST", f"{V1}:setIamPolicy", {"policy": policy})


def test_both_versions_tell_of_the_same_project(bare: Gcp) -> None:
    old, new = bare.ok("GET", V1), bare.ok("GET", V3)
    assert (old["projectId"], old["lifecycleState"], len(old["projectNumber"])) == (PROJECT, "ACTIVE", 12)
    assert (new["name"], new["state"]) == (f"projects/{old['projectNumber']}", "ACTIVE")
    assert bare.ok("GET", f"/v3/{new['name']}") == new


def test_a_project_that_cannot_be_is_refused_as_somebody_else_s(bare: Gcp) -> None:
    assert "does not have permission" in bare.refused(403, "GET", "/v1/projects/Bad_Name")
    assert "may not exist" in bare.refused(403, "GET", "/v3/projects/1234")


def test_a_policy_is_written_only_over_the_one_that_was_read(gcp: Gcp) -> None:
    account(gcp)
    policy = policy_of(gcp)
    assert (policy["etag"], policy.get("bindings")) == ("ACAB", None)
    policy["bindings"] = [{"role": "roles/logging.logWriter", "members": [MEMBER]}]
    written = write(gcp, policy)
    assert written == gcp.ok("POST", f"{V3}:getIamPolicy", {})
    status, answer = gcp.call("POST", f"{V1}:setIamPolicy", {"policy": policy})
    assert (status, answer["error"]["status"]) == (409, "ABORTED")
    assert "There were concurrent policy changes" in answer["error"]["message"]


def test_an_etag_may_come_back_in_the_other_alphabet(gcp: Gcp) -> None:
    """`gcloud` reads bytes and writes them as URL-safe base 64."""
    for n in range(20):
        etag = policy_of(gcp)["etag"].replace("+", "-").replace("/", "_")
        write(gcp, {"etag": etag, "bindings": [{"role": "roles/viewer", "members": [f"user:{n}@example.com"]}]})


def test_members_of_one_role_are_kept_together_and_once(gcp: Gcp) -> None:
    account(gcp)
    people = ["user:b@example.com", "user:a@example.com", "user:a@example.com"]
    bindings = [{"role": "roles/viewer", "members": people}, {"role": "roles/viewer", "members": [MEMBER]}]
    assert write(gcp, {"bindings": [*bindings, {"role": "roles/editor", "members": []}]})["bindings"] == [
        {"role": "roles/viewer", "members": [MEMBER, "user:a@example.com", "user:b@example.com"]}
    ]


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (f"serviceAccount:absent@{PROJECT}.iam.gserviceaccount.com", "Service account absent@"),
        ("somebody@example.com", "Invalid member"),
        ("robot:somebody", "Invalid member"),
    ],
)
def test_members_that_are_not_there(gcp: Gcp, member: str, words: str) -> None:
    policy = {"bindings": [{"role": "roles/viewer", "members": [member]}]}
    assert words in gcp.refused(400, "POST", f"{V1}:setIamPolicy", {"policy": policy})


def test_conditions_need_version_three(gcp: Gcp) -> None:
    account(gcp)
    bindings = [{"role": "roles/logging.logWriter", "members": [MEMBER], "condition": CONDITION}]
    gcp.refused(400, "POST", f"{V1}:setIamPolicy", {"policy": {"bindings": bindings}})
    basic = {"version": 3, "bindings": [{**bindings[0], "role": "roles/viewer"}]}
    assert "basic roles" in gcp.refused(400, "POST", f"{V1}:setIamPolicy", {"policy": basic})
    write(gcp, {"bindings": bindings, "version": 3})
    assert (policy_of(gcp, 3)["version"], policy_of(gcp, 3)["bindings"]) == (3, bindings)
    old = policy_of(gcp, 1)
    assert old["version"] == 1 and old["bindings"][0]["role"].startswith("roles/logging.logWriter_withcond_")
    gcp.refused(400, "POST", f"{V1}:setIamPolicy", {"policy": old})


def test_permissions_asked_about_are_held(bare: Gcp) -> None:
    asked = {"permissions": ["container.clusters.create"]}
    assert bare.ok("POST", f"{V1}:testIamPermissions", asked) == asked
