"""Dashboards over HTTP."""

from __future__ import annotations

import pytest

from rehearsal.gcp.core import number
from tests.rehearsal.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

DASHBOARDS = f"/v1/projects/{PROJECT}/dashboards"
NUMBERED = f"projects/{number(PROJECT)}/dashboards"


def tile(x: int, y: int, width: int = 6, height: int = 4) -> dict:
    return {"xPos": x, "yPos": y, "width": width, "height": height, "widget": {"title": "chips", "blank": {}}}


def dashboard(*tiles: dict, **further: object) -> dict:
    return {"displayName": "TPU", "mosaicLayout": {"columns": 12, "tiles": list(tiles)}, **further}


@pytest.fixture
def on(gcp: Gcp) -> Gcp:
    gcp.enable("monitoring")
    return gcp


def test_a_dashboard_is_known_by_the_projects_number(on: Gcp) -> None:
    made = on.ok("POST", DASHBOARDS, dashboard(tile(0, 0), tile(6, 0)))
    assert made["name"].startswith(f"{NUMBERED}/") and made["etag"]
    assert on.ok("GET", f"/v1/{made['name']}") == made
    assert on.ok("GET", f"{DASHBOARDS}/{made['name'].rsplit('/', 1)[1]}") == made
    assert on.ok("GET", DASHBOARDS) == {"dashboards": [made]}
    on.ok("DELETE", f"/v1/{made['name']}")
    assert on.ok("GET", DASHBOARDS) == {}
    assert on.refused(404, "GET", f"/v1/{made['name']}").startswith("Requested entity was not found")


def test_a_change_replaces_the_whole_and_needs_the_newest_etag(on: Gcp) -> None:
    made = on.ok("POST", DASHBOARDS, dashboard(tile(0, 0), labels={"a": ""}))
    changed = on.ok("PATCH", f"/v1/{made['name']}", {**dashboard(tile(0, 0)), "etag": made["etag"]})
    assert "labels" not in changed and changed["etag"] != made["etag"]
    assert "etag" in on.refused(409, "PATCH", f"/v1/{made['name']}", {**dashboard(), "etag": made["etag"]})


def test_an_id_of_ones_own_is_taken_once(on: Gcp) -> None:
    named = dashboard(tile(0, 0), name=f"projects/{PROJECT}/dashboards/tpu")
    assert on.ok("POST", DASHBOARDS, named)["name"] == f"{NUMBERED}/tpu"
    assert on.refused(409, "POST", DASHBOARDS, named).endswith("already exists.")


def test_what_is_only_asked_for_is_not_kept(on: Gcp) -> None:
    on.ok("POST", f"{DASHBOARDS}?validateOnly=true", dashboard(tile(0, 0)))
    assert on.ok("GET", DASHBOARDS) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"mosaicLayout": {"columns": 12}}, "displayName is required"),
        ({"displayName": "TPU"}, "exactly one layout"),
        (dashboard(gridLayout={}), "exactly one layout"),
        (dashboard(tile(8, 0)), "does not fit into 12 columns"),
        (dashboard(tile(0, 0), tile(5, 3)), "overlaps another tile"),
        ({"displayName": "TPU", "mosaicLayout": {"columns": 49}}, "mosaicLayout.columns"),
        (dashboard(tile(0, 0), titel="x"), 'Unknown name "titel"'),
    ],
)
def test_what_is_no_dashboard_is_refused(on: Gcp, wrong: dict, words: str) -> None:
    assert words in on.refused(400, "POST", DASHBOARDS, wrong)


def test_the_api_must_be_on(gcp: Gcp) -> None:
    assert "monitoring.googleapis.com" in gcp.refused(403, "GET", "/v1/projects/another-project/dashboards")
