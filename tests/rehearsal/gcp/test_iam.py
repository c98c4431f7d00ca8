"""Service accounts over HTTP."""

from __future__ import annotations

import pytest

from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"
EMAIL = f"tpu-nodes@{PROJECT}.iam.gserviceaccount.com"
ROLE = "roles/logging.logWriter"


def create(gcp: Gcp, name: str = "tpu-nodes") -> dict:
    return gcp.ok("POST", ACCOUNTS, {"accountId": name, "serviceAccount": {"displayName": "nodes"}})


def test_an_account_reads_back_by_address_and_by_unique_id(gcp: Gcp) -> None:
    made = create(gcp)
    assert (made["email"], made["displayName"], made["name"]) == (
        EMAIL,
        "nodes",
        f"projects/{PROJECT}/serviceAccounts/{EMAIL}",
    )
    assert len(made["uniqueId"]) == 21 and made["uniqueId"].isdigit()
    assert gcp.ok("GET", f"{ACCOUNTS}/{EMAIL}") == made
    assert gcp.ok("GET", f"/v1/projects/-/serviceAccounts/{made['uniqueId']}") == made


@pytest.mark.parametrize("name", ["short", "x" * 31, "Tpu-nodes", "tpu-nodes-", "1nodes-x", ""])
def test_ids_that_google_refuses(gcp: Gcp, name: str) -> None:
    message = gcp.refused(400, "POST", ACCOUNTS, {"accountId": name})
    assert "does not have a length between 6 and 30" in message


def test_a_second_one_of_the_name_is_refused_until_the_first_is_deleted(gcp: Gcp) -> None:
    first = create(gcp)
    message = gcp.refused(409, "POST", ACCOUNTS, {"accountId": "tpu-nodes"})
    assert message == f"Service account tpu-nodes already exists within project projects/{PROJECT}."
    gcp.ok("DELETE", f"{ACCOUNTS}/{EMAIL}")
    assert "does not exist" in gcp.refused(404, "GET", f"{ACCOUNTS}/{EMAIL}")
    assert create(gcp)["uniqueId"] != first["uniqueId"]


def test_patch_changes_what_its_mask_names_and_nothing_else(gcp: Gcp) -> None:
    made = create(gcp)
    body = {"serviceAccount": {"displayName": "ignored", "description": "runs nodes"}, "updateMask": "description"}
    read = gcp.ok("PATCH", f"{ACCOUNTS}/{EMAIL}", body)
    assert (read["displayName"], read["description"]) == ("nodes", "runs nodes")
    assert read["etag"] != made["etag"]
    gcp.refused(400, "PATCH", f"{ACCOUNTS}/{EMAIL}", {"serviceAccount": {}, "updateMask": "email"})


def test_lists_come_in_pages(gcp: Gcp) -> None:
    for n in range(3):
        create(gcp, f"account-{n}")
    page = gcp.ok("GET", f"{ACCOUNTS}?pageSize=2")
    rest = gcp.ok("GET", f"{ACCOUNTS}?pageSize=2&pageToken={page['nextPageToken']}")
    assert [a["email"].split("@")[0] for a in page["accounts"] + rest["accounts"]] == [
        "account-0",
        "account-1",
        "account-2",
    ]
    assert "nextPageToken" not in rest


def test_an_account_has_a_policy_of_its_own(gcp: Gcp) -> None:
    create(gcp)
    pods = f"serviceAccount:{PROJECT}.svc.id.goog[train/runner]"
    bindings = [{"role": "roles/iam.workloadIdentityUser", "members": [pods]}]
    gcp.ok("POST", f"{ACCOUNTS}/{EMAIL}:setIamPolicy", {"policy": {"bindings": bindings}})
    assert gcp.ok("POST", f"{ACCOUNTS}/{EMAIL}:getIamPolicy", {})["bindings"] == bindings
    asked = {"permissions": ["iam.serviceAccounts.actAs"]}
    assert gcp.ok("POST", f"{ACCOUNTS}/{EMAIL}:testIamPermissions", asked) == asked


def test_a_deleted_account_leaves_bindings_that_the_next_one_does_not_inherit(gcp: Gcp) -> None:
    unique = create(gcp)["uniqueId"]
    policy = {"bindings": [{"role": ROLE, "members": [f"serviceAccount:{EMAIL}"]}]}
    gcp.ok("POST", f"/v1/projects/{PROJECT}:setIamPolicy", {"policy": policy})
    gcp.ok("DELETE", f"{ACCOUNTS}/{EMAIL}")
    create(gcp)
    read = gcp.ok("POST", f"/v1/projects/{PROJECT}:getIamPolicy", {})
    assert read["bindings"] == [{"role": ROLE, "members": [f"deleted:serviceAccount:{EMAIL}?uid={unique}"]}]
    gcp.ok("POST", f"/v1/projects/{PROJECT}:setIamPolicy", {"policy": read})
