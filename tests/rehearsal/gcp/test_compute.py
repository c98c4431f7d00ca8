"""Compute resources over HTTP: what they read back as, how they change, and what stands in the way of deleting them."""

from __future__ import annotations

import time

import pytest

from tests.rehearsal.gcp.conftest import LOCATION, PROJECT, Gcp
from tests.rehearsal.gcp.net import (
    ADDRESSES,
    COMPUTE,
    FIREWALLS,
    LINKS,
    NET,
    NETWORKS,
    PODS,
    REGION,
    ROUTERS,
    SUBNETS,
    subnet,
)

pytestmark = pytest.mark.unit


def test_an_operation_tells_of_its_target(gcp: Gcp) -> None:
    operation = gcp.ok("POST", NETWORKS, {"name": "net", "autoCreateSubnetworks": False})
    assert operation["kind"] == "compute#operation" and operation["operationType"] == "insert"
    assert operation["targetLink"] == NET and operation["status"] == "RUNNING"
    assert operation["selfLink"] == f"{LINKS}/global/operations/{operation['name']}"
    waited = gcp.ok("POST", f"{COMPUTE}/global/operations/{operation['name']}/wait")
    assert (waited["status"], waited["progress"], waited["targetId"]) == (
        "DONE",
        100,
        gcp.ok("GET", f"{NETWORKS}/net")["id"],
    )
    listed = gcp.ok("GET", f'{COMPUTE}/global/operations?filter=name="{operation["name"]}"')
    assert listed["items"] == [waited]


def test_a_network_has_google_s_defaults_and_knows_its_subnetworks(net: Gcp) -> None:
    net.run("POST", SUBNETS, subnet())
    read = net.ok("GET", f"{NETWORKS}/net")
    assert read["selfLink"] == NET and read["id"].isdigit() and read["kind"] == "compute#network"
    assert read["routingConfig"]["routingMode"] == "REGIONAL" and read["autoCreateSubnetworks"] is False
    assert read["subnetworks"] == [f"{LINKS}/regions/us-west4/subnetworks/nodes"]
    net.run("PATCH", f"{NETWORKS}/net", {"routingConfig": {"routingMode": "GLOBAL"}})
    assert net.ok("GET", f"{NETWORKS}/net")["routingConfig"]["routingMode"] == "GLOBAL"


def test_names_and_doubles_are_refused(net: Gcp) -> None:
    for name in ("Net", "-net", "n" * 64, "net-"):
        assert "Must be a match of regex" in net.refused(400, "POST", NETWORKS, {"name": name})
    status, answer = net.call("POST", NETWORKS, {"name": "net"})
    assert (status, answer["error"]["errors"][0]["reason"]) == (409, "alreadyExists")
    assert answer["error"]["message"] == f"The resource 'projects/{PROJECT}/global/networks/net' already exists"
    missing = net.refused(404, "GET", f"{NETWORKS}/other")
    assert missing == f"The resource 'projects/{PROJECT}/global/networks/other' was not found"
    assert "Unknown region" in net.refused(400, "POST", f"{COMPUTE}/regions/mars-1/subnetworks", subnet())


def test_a_resource_is_not_changed_while_an_operation_is_on_it(net: Gcp) -> None:
    operation = net.ok("PATCH", f"{NETWORKS}/net", {"routingConfig": {"routingMode": "GLOBAL"}})
    status, answer = net.call("DELETE", f"{NETWORKS}/net")
    if status == 400:  # else the first one was done already
        assert answer["error"]["errors"][0]["reason"] == "resourceNotReady"
    net.done(operation)


def test_subnetworks_read_back_and_change(net: Gcp) -> None:
    net.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20", PODS))
    read = net.ok("GET", f"{SUBNETS}/nodes")
    assert (
        read["gatewayAddress"] == "10.0.0.1"
        and read["network"] == NET
        and read["region"] == f"{LINKS}/regions/us-west4"
    )
    assert (read["purpose"], read["stackType"], read["privateIpGoogleAccess"]) == ("PRIVATE", "IPV4_ONLY", False)
    net.run("POST", f"{SUBNETS}/nodes/setPrivateIpGoogleAccess", {"privateIpGoogleAccess": True})
    change = {"fingerprint": read["fingerprint"], "secondaryIpRanges": []}
    assert "fingerprint does not match" in net.refused(412, "PATCH", f"{SUBNETS}/nodes", change)
    net.run("PATCH", f"{SUBNETS}/nodes", {**change, "fingerprint": net.ok("GET", f"{SUBNETS}/nodes")["fingerprint"]})
    after = net.ok("GET", f"{SUBNETS}/nodes")
    assert (after["secondaryIpRanges"], after["privateIpGoogleAccess"]) == ([], True)
    net.run("POST", f"{SUBNETS}/nodes/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/16"})
    assert net.ok("GET", f"{SUBNETS}/nodes")["ipCidrRange"] == "10.0.0.0/16"
    net.refused(400, "POST", f"{SUBNETS}/nodes/expandIpCidrRange", {"ipCidrRange": "10.0.0.0/24"})
    net.refused(400, "PATCH", f"{SUBNETS}/nodes", {"ipCidrRange": "10.9.0.0/20"})


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (subnet("b", "10.0.8.0/24"), "10.0.8.0/24 conflicts with existing subnetwork 'nodes' in region 'us-west4'."),
        (subnet("b", "10.5.0.0/24"), "conflicts with existing subnetwork 'nodes'"),
        (subnet("b", "10.1.0.0/24", {"rangeName": "pods", "ipCidrRange": "10.1.0.0/25"}), "overlaps with 10.1.0.0/24"),
        (subnet("b", "10.1.0.1/24"), "Must be a CIDR address range. 10.1.0.1/24 has host bits set."),
        (subnet("b", "10.1.0.0/30"), "of a length from /8 to /29"),
        (subnet("b", "169.254.0.0/20"), "must not have"),
        ({**subnet("b", "10.1.0.0/24"), "network": NET + "x"}, "The referenced network resource cannot be found."),
        ({**subnet("b", "10.1.0.0/24"), "network": "net"}, "The URL is malformed."),
        ({"name": "b", "network": NET}, "Required field 'resource.ipCidrRange' not specified"),
        (
            subnet("b", "10.1.0.0/24", {**PODS, "ipCidrRange": "10.2.0.0/24"}, {**PODS, "ipCidrRange": "10.3.0.0/24"}),
            "unique",
        ),
    ],
)
def test_a_subnetwork_that_cannot_be_is_refused(net: Gcp, body: dict, words: str) -> None:
    net.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20", PODS))
    assert words in net.refused(400, "POST", SUBNETS, body)


def test_firewalls(net: Gcp) -> None:
    net.run("POST", FIREWALLS, {"name": "in", "network": NET, "allowed": [{"IPProtocol": "tcp", "ports": ["9443"]}]})
    read = net.ok("GET", f"{FIREWALLS}/in")
    assert (read["direction"], read["priority"], read["disabled"]) == ("INGRESS", 1000, False)
    assert (read["sourceRanges"], read["logConfig"]) == (["0.0.0.0/0"], {"enable": False})
    net.run("PATCH", f"{FIREWALLS}/in", {"priority": 0, "disabled": True})
    read = net.ok("GET", f"{FIREWALLS}/in")
    assert (read["priority"], read["disabled"], read["allowed"][0]["ports"]) == (0, True, ["9443"])
    net.run("PUT", f"{FIREWALLS}/in", {"name": "in", "network": NET, "denied": [{"IPProtocol": "all"}]})
    read = net.ok("GET", f"{FIREWALLS}/in")
    assert "allowed" not in read and read["priority"] == 1000


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"allowed": []}, "Exactly one of allowed and denied"),
        ({"priority": 70000}, "Must be between 0 and 65535."),
        ({"allowed": [{"IPProtocol": "tpc"}]}, "well-known protocol name"),
        ({"allowed": [{"IPProtocol": "tcp", "ports": ["90-80"]}]}, "Must be a port or a range of ports"),
        ({"allowed": [{"IPProtocol": "icmp", "ports": ["80"]}]}, "of a protocol that has ports"),
        ({"sourceRanges": ["10.0.0.1/8"]}, "Must be a valid CIDR address range."),
        ({"targetTags": ["a"], "sourceServiceAccounts": ["b"]}, "cannot be used in one firewall"),
    ],
)
def test_a_firewall_that_cannot_be_is_refused(net: Gcp, change: dict, words: str) -> None:
    body = {"name": "in", "network": NET, "allowed": [{"IPProtocol": "tcp"}], **change}
    assert words in net.refused(400, "POST", FIREWALLS, body)


def test_gateways_live_in_routers(net: Gcp) -> None:
    net.run("POST", ROUTERS, {"name": "router", "network": NET, "bgp": {"asn": 64514}})
    nat = {"name": "nat", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES"}
    net.run("PATCH", f"{ROUTERS}/router", {"nats": [nat]})
    read = net.ok("GET", f"{ROUTERS}/router")
    assert read["nats"][0] | nat == read["nats"][0] and read["nats"][0]["natIpAllocateOption"] == "AUTO_ONLY"
    assert read["bgp"] == {"asn": 64514, "advertiseMode": "DEFAULT", "keepaliveInterval": 20}
    assert "unique" in net.refused(400, "PATCH", f"{ROUTERS}/router", {"nats": [nat, nat]})
    assert "already use NAT" in net.refused(400, "POST", ROUTERS, {"name": "second", "network": NET, "nats": [nat]})
    net.run("PATCH", f"{ROUTERS}/router", {"nats": []})
    assert "nats" not in net.ok("GET", f"{ROUTERS}/router")


def test_addresses_of_a_gateway_are_in_use(net: Gcp) -> None:
    net.run("POST", ADDRESSES, {"name": "out"})
    ip = net.ok("GET", f"{ADDRESSES}/out")
    assert (ip["status"], ip["addressType"]) == ("RESERVED", "EXTERNAL") and ip["address"]
    nat = {"name": "nat", "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES", "natIps": [ip["selfLink"]]}
    net.run("POST", ROUTERS, {"name": "router", "network": NET, "nats": [nat]})
    assert net.ok("GET", f"{ADDRESSES}/out")["users"] == [f"{LINKS}/regions/us-west4/routers/router"]
    assert "is already being used by" in net.refused(400, "DELETE", f"{ADDRESSES}/out")
    net.run("DELETE", f"{ROUTERS}/router")
    net.run("DELETE", f"{ADDRESSES}/out")


def test_what_is_stood_on_stays(net: Gcp) -> None:
    net.run("POST", SUBNETS, subnet("nodes", "10.0.0.0/20", PODS))
    status, answer = net.call("DELETE", f"{NETWORKS}/net")
    assert (status, answer["error"]["errors"][0]["reason"]) == (400, "resourceInUseByAnotherResource")
    path, user = f"projects/{PROJECT}/global/networks/net", f"projects/{PROJECT}/regions/us-west4/subnetworks/nodes"
    assert answer["error"]["message"] == f"The network resource '{path}' is already being used by '{user}'"
    cluster = {
        "name": "demo", "initialNodeCount": 1, "network": "net", "subnetwork": "nodes",
        "ipAllocationPolicy": {"useIpAliases": True, "clusterSecondaryRangeName": "pods"},
    }  # fmt: skip
    net.run("POST", f"{LOCATION}/clusters", {"cluster": cluster})
    assert "/clusters/demo'" in net.refused(400, "DELETE", f"{SUBNETS}/nodes")
    assert "/clusters/demo'" in net.refused(400, "PATCH", f"{SUBNETS}/nodes", {"secondaryIpRanges": []})
    group = net.ok("GET", f"{LOCATION}/clusters/demo/nodePools/default-pool")["instanceGroupUrls"][0]
    assert net.ok("GET", group.removeprefix("https://www.googleapis.com"))["targetSize"] == 1
    net.run("DELETE", f"{LOCATION}/clusters/demo")
    net.run("DELETE", f"{SUBNETS}/nodes")
    net.run("DELETE", f"{NETWORKS}/net")


def test_auto_mode_networks_bring_and_take_their_subnetworks(gcp: Gcp) -> None:
    gcp.run("POST", NETWORKS, {"name": "auto"})
    assert gcp.ok("GET", f"{SUBNETS}/auto")["ipCidrRange"].startswith("10.1")
    assert len(gcp.ok("GET", f"{NETWORKS}/auto")["subnetworks"]) == len(gcp.ok("GET", f"{COMPUTE}/regions")["items"])
    gcp.run("DELETE", f"{NETWORKS}/auto")
    gcp.refused(404, "GET", f"{SUBNETS}/auto")


def test_resource_policies(gcp: Gcp) -> None:
    policies = f"{REGION}/resourcePolicies"
    workload = {"type": "HIGH_THROUGHPUT", "acceleratorTopology": "4x4x4"}
    gcp.run("POST", policies, {"name": "slice", "workloadPolicy": workload})
    read = gcp.ok("GET", f"{policies}/slice")
    assert (read["status"], read["workloadPolicy"]) == ("READY", workload)
    gcp.refused(400, "POST", policies, {"name": "both", "workloadPolicy": workload, "groupPlacementPolicy": {}})
    gcp.run("DELETE", f"{policies}/slice")


def test_lists_filter_page_and_gather(net: Gcp) -> None:
    for n in range(3):
        net.run("POST", SUBNETS, subnet(f"s{n}", f"10.{n}.0.0/24"))
    one = net.ok("GET", f'{SUBNETS}?filter=(name eq "s1")')
    assert [row["name"] for row in one["items"]] == ["s1"]
    page = net.ok("GET", f"{SUBNETS}?maxResults=2")
    rest = net.ok("GET", f"{SUBNETS}?maxResults=2&pageToken={page['nextPageToken']}")
    assert [row["name"] for row in page["items"] + rest["items"]] == ["s0", "s1", "s2"]
    everywhere = net.ok("GET", f"{COMPUTE}/aggregated/subnetworks")["items"]
    assert len(everywhere["regions/us-west4"]["subnetworks"]) == 3
    assert everywhere["regions/us-east1"]["warning"]["code"] == "NO_RESULTS_ON_PAGE"
    assert "Invalid list filter" in net.refused(400, "GET", f"{SUBNETS}?filter=nonsense")


def test_machine_types_are_those_of_the_zone(gcp: Gcp) -> None:
    tpu = gcp.ok("GET", f"{COMPUTE}/zones/us-west4-a/machineTypes/ct5lp-hightpu-4t")
    assert (tpu["guestCpus"], tpu["memoryMb"], tpu["accelerators"][0]["guestAcceleratorCount"]) == (112, 192 * 1024, 4)
    gcp.refused(404, "GET", f"{COMPUTE}/zones/us-west4-b/machineTypes/ct5lp-hightpu-4t")
    assert "Unknown zone" in gcp.refused(400, "GET", f"{COMPUTE}/zones/us-west4-x/machineTypes")
    everywhere = gcp.ok("GET", f"{COMPUTE}/aggregated/machineTypes?filter=name=tpu7x-standard-4t")["items"]
    assert [zone for zone, found in everywhere.items() if "machineTypes" in found] == ["zones/us-central1-c"]
    assert gcp.ok("GET", COMPUTE)["name"] == PROJECT


def test_an_operation_that_was_under_way_is_taken_up_after_a_kill(net: Gcp) -> None:
    net.run("POST", SUBNETS, subnet())
    operation = net.ok("DELETE", f"{SUBNETS}/nodes")
    net.kill()
    net.start()
    assert net.done(operation)["status"] == "DONE"
    deadline = time.monotonic() + 5
    while net.call("GET", f"{SUBNETS}/nodes")[0] == 200:
        assert time.monotonic() < deadline
