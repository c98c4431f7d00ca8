"""The add-on's fields in the Kubernetes Engine API, on creation and by both calls that change them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rehearsal.gcp.conftest import CLUSTER, LOCATION, PROJECT, Gcp, bare, gcp

pytestmark = pytest.mark.unit
__all__ = ["bare", "gcp"]

ON = {"enabled": True, "rayClusterLoggingConfig": {"enabled": True}, "rayClusterMonitoringConfig": {"enabled": True}}


def operator(google: Gcp) -> Any:
    return google.ok("GET", CLUSTER)["addonsConfig"].get("rayOperatorConfig")


def test_what_is_asked_for_reads_back(gcp: Gcp) -> None:
    gcp.run(
        "POST",
        f"{LOCATION}/clusters",
        {"cluster": {"name": "demo", "initialNodeCount": 1, "addonsConfig": {"rayOperatorConfig": ON}}},
    )
    assert operator(gcp) == ON
    gcp.run("PUT", CLUSTER, {"update": {"desiredAddonsConfig": {"rayOperatorConfig": {"enabled": False}}}})
    assert operator(gcp)["enabled"] is False
    gcp.run("POST", f"{CLUSTER}:setAddons", {"addonsConfig": {"rayOperatorConfig": ON}})
    assert operator(gcp) == ON
    zonal = f"/v1/projects/{PROJECT}/zones/us-west4/clusters/demo/addons"
    gcp.run("POST", zonal, {"addonsConfig": {"rayOperatorConfig": {"enabled": False}}})
    assert operator(gcp)["enabled"] is False


def test_other_addons_stay_when_ray_is_switched_on(gcp: Gcp) -> None:
    gcp.run("POST", f"{LOCATION}/clusters", {"cluster": {"name": "demo", "initialNodeCount": 1}})
    before = gcp.ok("GET", CLUSTER)["addonsConfig"]
    gcp.run("PUT", CLUSTER, {"update": {"desiredAddonsConfig": {"rayOperatorConfig": {"enabled": True}}}})
    assert gcp.ok("GET", CLUSTER)["addonsConfig"] == {**before, "rayOperatorConfig": {"enabled": True}}


def test_a_misspelt_field_is_refused(gcp: Gcp) -> None:
    addons = {"rayOperatorConfig": {"enabled": True, "rayClusterLogging": {"enabled": True}}}
    body = {"cluster": {"name": "demo", "initialNodeCount": 1, "addonsConfig": addons}}
    assert "rayClusterLogging" in gcp.refused(400, "POST", f"{LOCATION}/clusters", body)
