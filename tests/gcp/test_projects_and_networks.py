"""Enabled APIs, service accounts, policies and networks."""

from __future__ import annotations

import pytest

from tests.gcp.conftest import PROJECT, Gcp

pytestmark = pytest.mark.unit

COMPUTE = f"/compute/v1/projects/{PROJECT}"
SUBNETS = f"{COMPUTE}/regions/us-west4/subnetworks"
ACCOUNTS = f"/v1/projects/{PROJECT}/serviceAccounts"
LINK = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}/global/networks/net"


def subnet(name: str, cidr: str, **ranges: str) -> dict:
    secondary = [{"rangeName": key, "ipCidrRange": value} for key, value in ranges.items()]
    return {"name": name, "ipCidrRange": cidr, "network": LINK, "secondaryIpRanges": secondary}


def test_enabling_an_api_enables_what_it_needs(bare: Gcp) -> None:
    bare.enable("container")
    names = {
        s["config"]["name"]
        for s in bare.ok("GET", f"/v1/projects/{PROJECT}/services?filter=state:ENABLED&pageSize=200")["services"]
    }
    assert {"container.googleapis.com", "compute.googleapis.com"} <= names
    message = bare.refused(400, "POST", f"/v1/projects/{PROJECT}/services/compute.googleapis.com:disable", {})
    assert "is depended on by the following active service(s): container.googleapis.com" in message


def test_service_accounts(gcp: Gcp) -> None:
    made = gcp.ok("POST", ACCOUNTS, {"accountId": "tpu-nodes", "serviceAccount": {"displayName": "nodes"}})
    assert made["email"] == f"tpu-nodes@{PROJECT}.iam.gserviceaccount.com"
    assert "already exists" in gcp.refused(409, "POST", ACCOUNTS, {"accountId": "tpu-nodes"})
    assert "does not have a length between 6 and 30" in gcp.refused(400, "POST", ACCOUNTS, {"accountId": "x"})
    gcp.ok("DELETE", f"{ACCOUNTS}/{made['email']}")
    gcp.refused(404, "GET", f"{ACCOUNTS}/{made['email']}")


def test_a_policy_is_written_only_over_the_one_that_was_read(gcp: Gcp) -> None:
    path = f"/v1/projects/{PROJECT}"
    gcp.ok("POST", ACCOUNTS, {"accountId": "tpu-nodes"})
    member = f"serviceAccount:tpu-nodes@{PROJECT}.iam.gserviceaccount.com"
    policy = gcp.ok("POST", f"{path}:getIamPolicy", {})
    policy["bindings"] = [{"role": "roles/logging.logWriter", "members": [member]}]
    gcp.ok("POST", f"{path}:setIamPolicy", {"policy": policy})
    assert "concurrent policy changes" in gcp.refused(409, "POST", f"{path}:setIamPolicy", {"policy": policy})
    fresh = gcp.ok("POST", f"{path}:getIamPolicy", {})
    assert fresh["bindings"] == policy["bindings"]
    fresh["bindings"][0]["members"].append(f"serviceAccount:absent@{PROJECT}.iam.gserviceaccount.com")
    assert "does not exist" in gcp.refused(400, "POST", f"{path}:setIamPolicy", {"policy": fresh})


def test_networks_and_what_stands_on_them(gcp: Gcp) -> None:
    gcp.run("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    gcp.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20", pods="10.4.0.0/14"))
    read = gcp.ok("GET", f"{SUBNETS}/nodes")
    assert (read["gatewayAddress"], read["privateIpGoogleAccess"]) == ("10.0.0.1", False)
    assert gcp.ok("GET", f"{COMPUTE}/global/networks/net")["subnetworks"] == [read["selfLink"]]
    message = gcp.refused(400, "DELETE", f"{COMPUTE}/global/networks/net")
    assert message == (
        f"The network resource 'projects/{PROJECT}/global/networks/net' is already being used by "
        f"'projects/{PROJECT}/regions/us-west4/subnetworks/nodes'"
    )
    gcp.run("DELETE", f"{SUBNETS}/nodes")
    gcp.run("DELETE", f"{COMPUTE}/global/networks/net")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (subnet("b", "10.0.8.0/24"), "conflicts with existing subnetwork 'nodes'"),
        (subnet("b", "10.1.0.0/24", pods="10.1.0.0/25"), "overlap"),
        (subnet("b", "10.1.0.1/24"), "Must be a CIDR address range"),
        (subnet("B", "10.1.0.0/24"), "Must be a match of regex"),
        ({**subnet("b", "10.1.0.0/24"), "network": LINK + "x"}, "The referenced network resource cannot be found."),
    ],
)
def test_a_subnetwork_that_cannot_be_is_refused(gcp: Gcp, body: dict, words: str) -> None:
    gcp.run("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    gcp.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20"))
    assert words in gcp.refused(400, "POST", SUBNETS, body)


def test_a_routers_gateways_live_in_it(gcp: Gcp) -> None:
    gcp.run("POST", f"{COMPUTE}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    routers = f"{COMPUTE}/regions/us-west4/routers"
    gcp.run("POST", routers, {"name": "router", "network": LINK})
    gcp.run(
        "PATCH",
        f"{routers}/router",
        {"nats": [{"name": "nat", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}]},
    )
    assert [nat["natIpAllocateOption"] for nat in gcp.ok("GET", f"{routers}/router")["nats"]] == ["AUTO_ONLY"]
