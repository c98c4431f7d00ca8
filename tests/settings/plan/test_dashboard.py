"""What is measured, and the dashboard over it."""

from __future__ import annotations

import json
import re

import pytest

from components.monitoring import address
from rehearsal.gcp.core.validation import check
from rehearsal.gcp.services import find
from settings.plan.dashboard import COLUMNS, dashboard
from tests.support.platforms import AUTOPILOT, BOTH, TUTORIAL, changed, plan_with
from tests.support.problems import cluster, each, is_the_only_problem

pytestmark = pytest.mark.unit

CLUSTER, DASHBOARD = "gcp:container/cluster:Cluster", "gcp:monitoring/dashboard:Dashboard"
SYSTEM = "SYSTEM_COMPONENTS"


def monitoring(**keys):
    return changed(monitoring=keys)


def existing(**keys):
    pool = {"machineType": "e2-standard-8", "nodes": 2, "zones": ["us-west4-a"]}
    return changed(cluster=cluster(existing=True, defaultPool=pool), monitoring=keys)


@each(
    [
        ("component of nobody's", monitoring(components=[SYSTEM, "JOBSETS"]), "monitoring.components[1]", "JOBSET", "write JOBSET"),
        ("no component", monitoring(components=[]), "monitoring.components", "at least one", "at least one"),
        ("component twice", monitoring(components=[SYSTEM, "POD", "POD"]), "monitoring.components", "each component only once", "remove"),
        ("metrics without the system's", monitoring(components=["JOBSET"]), "monitoring.components", "a list with", f"add {SYSTEM}"),
        ("dashboard without its jobs", monitoring(components=[SYSTEM], dashboard=True), "monitoring.components", "JOBSET", "add JOBSET"),
        ("components of somebody else's cluster", existing(components=[SYSTEM]), "monitoring.components", "already exists", "remove"),
        ("Prometheus of others", existing(managedPrometheus=True), "monitoring.managedPrometheus", "already exists", "remove"),
        (
            "Autopilot without Prometheus",
            changed(**AUTOPILOT, monitoring={"managedPrometheus": False}),
            "monitoring.managedPrometheus", "always runs it", "remove the key",
        ),
        ("dashboard in words", monitoring(dashboard="yes"), "monitoring.dashboard", "true or false", "write true"),
    ]
)  # fmt: skip
def test_a_wrong_setting_is_one_fault(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


def test_what_is_not_stated_stays_as_gke_has_it(tutorial) -> None:
    (made,) = tutorial.of_type(CLUSTER)
    assert "monitoringConfig" not in made.inputs
    assert not tutorial.of_type(DASHBOARD)


def test_what_is_stated_reaches_the_cluster(recorded) -> None:
    (made,) = recorded(monitoring={"components": [SYSTEM, "JOBSET"], "managedPrometheus": False}).of_type(CLUSTER)
    assert made.inputs["monitoringConfig"] == {
        "enableComponents": [SYSTEM, "JOBSET"],
        "managedPrometheus": {"enabled": False},
    }
    (made,) = recorded(monitoring={"managedPrometheus": True}).of_type(CLUSTER)
    assert made.inputs["monitoringConfig"] == {"managedPrometheus": {"enabled": True}}


def test_the_dashboard_is_the_projects_and_comes_after_its_api(recorded) -> None:
    stack = recorded(monitoring={"dashboard": True})
    (made,) = stack.of_type(DASHBOARD)
    assert json.loads(made.inputs["dashboardJson"]) == dashboard(plan_with(monitoring={"dashboard": True}))
    assert made.inputs["project"] == "some-project"
    assert any("services-monitoring" in urn for urn in made.depends_on)


@pytest.mark.parametrize("changes", [{}, BOTH, AUTOPILOT], ids=["tutorial", "both", "autopilot"])
def test_a_dashboard_is_one_to_google(changes) -> None:
    """Every field is one of the API's, tiles are whole and on no other one, and each query is about this cluster."""
    plan = plan_with(**changes)
    made = dashboard(plan)
    method = find("POST", "/v1/projects/some-project/dashboards")
    assert method is not None and check(method[0], [], made) == made
    tiles = made["mosaicLayout"]["tiles"]
    cells = [
        (x, y)
        for tile in tiles
        for x in range(tile.get("xPos", 0), tile.get("xPos", 0) + tile["width"])
        for y in range(tile.get("yPos", 0), tile.get("yPos", 0) + tile["height"])
    ]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < COLUMNS
    queries = [
        line["timeSeriesQuery"]["prometheusQuery"] for tile in tiles for line in tile["widget"]["xyChart"]["dataSets"]
    ]
    assert len(queries) > len(tiles)
    for query in queries:
        assert (
            f'cluster="{plan.settings.cluster.name}"' in query
            or f'cluster_name="{plan.settings.cluster.name}"' in query
        )
        assert query.count("(") == query.count(")") and query.count("{") == query.count("}")


def test_legends_name_labels_that_the_query_keeps() -> None:
    for tile in dashboard(plan_with())["mosaicLayout"]["tiles"]:
        for line in tile["widget"]["xyChart"]["dataSets"]:
            query = line["timeSeriesQuery"]["prometheusQuery"]
            kept = {name.strip() for group in re.findall(r"by \(([^)]*)\)", query) for name in group.split(",")}
            assert set(re.findall(r"\$\{labels\.(\w+)\}", line["legendTemplate"])) == kept


def test_one_more_slice_is_no_change_of_the_dashboard() -> None:
    more = [{**TUTORIAL["slices"][0], "pools": ["nodepool1", "nodepool2", "nodepool3", "nodepool4"]}]
    assert dashboard(plan_with(slices=more)) == dashboard(plan_with())


def test_where_the_dashboard_is_seen() -> None:
    assert address("projects/123/dashboards/abc-d", "some-project") == (
        "https://console.cloud.google.com/monitoring/dashboards/builder/abc-d?project=some-project"
    )
