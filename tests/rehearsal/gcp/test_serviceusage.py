"""Enabled APIs: what is on, what is switched on with it, and what a project without them hears."""

from __future__ import annotations

import pytest

from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

SERVICES = f"/v1/projects/{PROJECT}/services"
COMPUTE, CONTAINER = "compute.googleapis.com", "container.googleapis.com"


def names(gcp: Gcp, query: str) -> set[str]:
    return {s["config"]["name"] for s in gcp.ok("GET", f"{SERVICES}?{query}")["services"]}


def test_a_fresh_project_has_only_what_every_project_has(bare: Gcp) -> None:
    on = names(bare, "filter=state:ENABLED&pageSize=200")
    assert on == {"cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com"}
    assert CONTAINER in names(bare, "filter=state:DISABLED&pageSize=200")
    read = bare.ok("GET", f"{SERVICES}/{COMPUTE}")
    assert read["name"] == f"{read['parent']}/services/{COMPUTE}"
    assert (read["state"], read["config"]["title"]) == ("DISABLED", "Compute Engine API")


def test_a_call_to_an_api_that_is_off_is_refused_in_google_s_words(bare: Gcp) -> None:
    status, answer = bare.call("GET", f"/compute/v1/projects/{PROJECT}/zones")
    digits = bare.ok("GET", f"/v1/projects/{PROJECT}")["projectNumber"]
    error = answer["error"]
    assert (status, error["status"], error["details"][0]["reason"]) == (403, "PERMISSION_DENIED", "SERVICE_DISABLED")
    assert error["details"][0]["metadata"] == {"service": COMPUTE, "consumer": f"projects/{digits}"}
    assert error["message"].startswith(
        f"Compute Engine API has not been used in project {digits} before or it is disabled. Enable it by visiting "
    )


def test_enabling_takes_time_and_brings_what_is_needed(bare: Gcp) -> None:
    operation = bare.ok("POST", f"{SERVICES}/{CONTAINER}:enable", {})
    assert operation["name"].startswith("operations/acat.") and "done" not in operation
    bare.enable("container")
    assert {CONTAINER, COMPUTE, "oslogin.googleapis.com"} <= names(bare, "filter=state:ENABLED&pageSize=200")
    done = bare.ok("GET", f"/v1/{operation['name']}")
    assert (done["done"], done["response"]["service"]["state"]) == (True, "ENABLED")
    again = bare.ok("POST", f"{SERVICES}/{CONTAINER}:enable", {})
    assert (again["name"], again["done"]) == ("operations/noop.DONE_OPERATION", True)


def test_what_others_stand_on_is_not_switched_off_alone(gcp: Gcp) -> None:
    message = gcp.refused(400, "POST", f"{SERVICES}/{COMPUTE}:disable", {})
    assert f"is depended on by the following active service(s): {CONTAINER}" in message
    gcp.ok("POST", f"{SERVICES}/{COMPUTE}:disable", {"disableDependentServices": True})
    assert not {COMPUTE, CONTAINER} & names(gcp, "filter=state:ENABLED&pageSize=200")


def test_pages_hold_everything_once(bare: Gcp) -> None:
    seen: list[str] = []
    query = "pageSize=7"
    while query:
        page = bare.ok("GET", f"{SERVICES}?{query}")
        seen += [s["config"]["name"] for s in page["services"]]
        query = f"pageSize=7&pageToken={page['nextPageToken']}" if "nextPageToken" in page else ""
    assert len(seen) == len(set(seen)) and set(seen) == names(bare, "pageSize=200")


def test_unknown_apis_projects_filters_and_long_lists_are_refused(bare: Gcp) -> None:
    assert "permission denied for service(s): nope.googleapis.com" in bare.refused(
        403, "POST", f"{SERVICES}/nope.googleapis.com:enable", {}
    )
    bare.refused(404, "GET", "/v1/projects/X/services")
    bare.refused(400, "GET", f"{SERVICES}?filter=name:x")
    many = {"serviceIds": [f"s{n}.googleapis.com" for n in range(21)]}
    assert "No more than 20" in bare.refused(400, "POST", f"{SERVICES}:batchEnable", many)


def test_several_apis_are_asked_about_by_repeating_a_parameter(gcp: Gcp) -> None:
    names_of = "&".join(f"names=projects/{PROJECT}/services/{api}" for api in (COMPUTE, "dns.googleapis.com"))
    found = gcp.ok("GET", f"{SERVICES}:batchGet?{names_of}")["services"]
    assert [service["config"]["name"] for service in found] == [COMPUTE, "dns.googleapis.com"]
    last = gcp.ok("GET", "/_rehearsal/audit?method=batchGet")[-1]
    assert last["query"] == {"names": [f"projects/{PROJECT}/services/{api}" for api in (COMPUTE, "dns.googleapis.com")]}


def test_a_project_is_known_by_its_number_too(gcp: Gcp) -> None:
    digits = gcp.ok("GET", f"/v1/projects/{PROJECT}")["projectNumber"]
    by_number = gcp.ok("GET", f"/v1/projects/{digits}/services/{CONTAINER}")
    assert by_number == gcp.ok("GET", f"{SERVICES}/{CONTAINER}") and by_number["state"] == "ENABLED"
