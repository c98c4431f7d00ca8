"""Routes, and compute's lists of all places, as gcloud asks for them."""

from __future__ import annotations

import pytest

from tests.rehearsal.gcp.conftest import LOCATION, Gcp
from tests.rehearsal.gcp.net import ADDRESSES, COMPUTE, NET, NETWORKS, PODS, SUBNETS, subnet

pytestmark = pytest.mark.unit


@pytest.mark.parametrize(
    ("plural", "where"),
    [
        ("addresses", set()),
        ("instanceGroupManagers", set()),
        ("operations", {"global", "regions/us-west4"}),
        ("resourcePolicies", set()),
        ("routers", set()),
        ("subnetworks", {"regions/us-west4"}),
    ],
)
def test_lists_of_all_places_are_asked_for_as_gcloud_does(net: Gcp, plural: str, where: set[str]) -> None:
    """gcloud takes a refusal for an empty list and only warns: its parameters have to be taken, whatever is described."""
    net.run("POST", SUBNETS, subnet())
    every = "" if plural == "operations" else "&includeAllScopes=True"
    query = f"alt=json&maxResults=500&returnPartialSuccess=True{every}"
    places = net.ok("GET", f"{COMPUTE}/aggregated/{plural}?{query}")["items"]
    found = {place for place, rows in places.items() if plural in rows}
    assert found == where
    assert all(rows["warning"]["code"] == "NO_RESULTS_ON_PAGE" for place, rows in places.items() if place not in found)


def test_groups_of_all_zones_and_operations_of_all_regions_are_listed(cluster: Gcp) -> None:
    cluster.run("POST", ADDRESSES, {"name": "out"})
    groups = cluster.ok("GET", f"{COMPUTE}/aggregated/instanceGroupManagers")["items"]
    of_pool = cluster.ok("GET", f"{LOCATION}/clusters/demo")["instanceGroupUrls"]
    assert [row["name"] for row in groups["zones/us-west4-a"]["instanceGroupManagers"]] == [
        url.rsplit("/", 1)[-1] for url in of_pool if "/us-west4-a/" in url
    ]
    operations = cluster.ok("GET", f"{COMPUTE}/aggregated/operations")["items"]["regions/us-west4"]["operations"]
    assert [row["operationType"] for row in operations] == ["insert"]


@pytest.mark.parametrize(
    "name", ["%24alt=json", "%24.xgafv=2", "fields=items", "prettyPrint=false", "%24userProject=x"]
)
def test_parameters_of_every_api_are_taken(gcp: Gcp, name: str) -> None:
    gcp.ok("GET", f"{NETWORKS}?{name}")
    assert "Cannot bind query parameter" in gcp.refused(400, "GET", f"{NETWORKS}?returnPartialSucces=true")


def test_a_network_has_routes_of_its_own(net: Gcp) -> None:
    routes = f"{COMPUTE}/global/routes"
    net.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20", PODS))
    (out,) = net.ok("GET", f'{routes}?filter=(network="{NET}") AND (destRange="0.0.0.0/0")')["items"]
    assert out["nextHopGateway"].endswith("/global/gateways/default-internet-gateway") and out["priority"] == 1000
    local = [row for row in net.ok("GET", routes)["items"] if row["destRange"] != "0.0.0.0/0"]
    assert sorted(row["destRange"] for row in local) == ["10.0.0.0/20", "10.4.0.0/14"]
    assert net.ok("GET", f"{routes}/{local[0]['name']}") == local[0]
    assert net.refused(400, "DELETE", f"{routes}/{local[0]['name']}") == "The local route cannot be deleted."
    net.run("DELETE", f"{routes}/{out['name']}")
    net.run("DELETE", f"{SUBNETS}/nodes")
    assert "items" not in net.ok("GET", routes)


def test_a_route_of_the_user_s_keeps_its_network_and_google_s_do_not(net: Gcp) -> None:
    routes = f"{COMPUTE}/global/routes"
    row = {"name": "out", "network": NET, "destRange": "192.0.2.0/24"}
    assert "Exactly one next hop" in net.refused(400, "POST", routes, row)
    net.run("POST", routes, {**row, "nextHopIp": "10.0.0.9"})
    assert "global/routes/out'" in net.refused(400, "DELETE", f"{NETWORKS}/net")
    net.run("DELETE", f"{routes}/out")
    net.run("DELETE", f"{NETWORKS}/net")
    assert net.ok("GET", "/_rehearsal/leftovers")["routes"] == []
