"""Dashboards between an engine and Google's server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rehearsal.gcp.core import number
from rehearsal.gcp_provider.resources.dashboard import same_dashboard
from tests.rehearsal.gcp_provider.conftest import PROJECT, Engine

pytestmark = pytest.mark.unit
DASHBOARD = "gcp:monitoring/dashboard:Dashboard"


def text(title: str, **further: Any) -> str:
    widget = {"title": title, "blank": {}}
    return json.dumps({"displayName": "TPU", "gridLayout": {"columns": "2", "widgets": [widget]}, **further})


@pytest.fixture
def dashboard(ready: Engine) -> tuple[Engine, str, dict[str, Any], dict[str, Any]]:
    ready.create("gcp:projects/service:Service", "s", {"service": "monitoring.googleapis.com"})
    return (ready, *ready.create(DASHBOARD, "d", {"dashboardJson": text("one")}))


def test_what_google_adds_is_no_difference(dashboard: Any) -> None:
    engine, identity, state, inputs = dashboard
    assert identity.startswith(f"projects/{number(PROJECT)}/dashboards/")
    assert json.loads(state["dashboardJson"])["etag"] and state["project"] == PROJECT
    assert list(engine.diff(DASHBOARD, identity, state, inputs).diffs) == []
    found, again, refreshed = engine.read(DASHBOARD, identity, state, inputs)
    assert (found, again, refreshed) == (identity, state, inputs)


def test_a_change_is_sent_with_the_etag_that_it_replaces(dashboard: Any) -> None:
    engine, identity, state, inputs = dashboard
    wanted = {**inputs, "dashboardJson": text("two", labels={"team": "a"})}
    answer = engine.diff(DASHBOARD, identity, state, wanted)
    assert (list(answer.diffs), list(answer.replaces)) == (["dashboardJson"], [])
    after = engine.update(DASHBOARD, identity, state, wanted)
    sent = engine.audit("monitoring.projects.dashboards.patch")[0]["body"]
    assert sent == {**json.loads(wanted["dashboardJson"]), "etag": json.loads(state["dashboardJson"])["etag"]}
    assert list(engine.diff(DASHBOARD, identity, after, wanted).diffs) == []


def test_a_dashboard_that_somebody_deleted_is_gone(dashboard: Any) -> None:
    engine, identity, state, inputs = dashboard
    engine.delete(DASHBOARD, identity, state)
    assert engine.read(DASHBOARD, identity, state, inputs)[0] == ""
    engine.delete(DASHBOARD, identity, state)  # once more: no error


def test_text_that_is_no_json_is_refused_before_anything_is_made(ready: Engine) -> None:
    _, failures = ready.check(DASHBOARD, "d", {"dashboardJson": "{"})
    assert len(failures) == 1 and failures[0].startswith('dashboardJson: "dashboard_json" contains an invalid JSON')


@pytest.mark.parametrize(
    ("there", "wanted", "same"),
    [
        ({"a": 1, "etag": "x"}, {"a": 1}, True),
        ({"a": [{"b": 1, "c": 2}]}, {"a": [{"b": 1}]}, True),
        ({"a": [1, 2]}, {"a": [1]}, False),
        ({"a": [1]}, {"a": [1, 2]}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ({"a": {"b": 1}}, {"a": {"b": 2}}, False),
    ],
)
def test_two_texts_of_one_dashboard(there: Any, wanted: Any, same: bool) -> None:
    assert same_dashboard(json.dumps(there), json.dumps(wanted)) is same


def test_a_text_that_is_no_json_is_another_dashboard() -> None:
    assert not same_dashboard("{", "{}")
