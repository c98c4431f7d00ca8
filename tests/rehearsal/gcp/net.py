"""Paths of the compute API in the tests' project, and a subnetwork of the network `net`."""

from __future__ import annotations

from tests.rehearsal.gcp.conftest import PROJECT

COMPUTE = f"/compute/v1/projects/{PROJECT}"
LINKS = f"https://www.googleapis.com/compute/v1/projects/{PROJECT}"
NETWORKS, FIREWALLS = f"{COMPUTE}/global/networks", f"{COMPUTE}/global/firewalls"
REGION = f"{COMPUTE}/regions/us-west4"
SUBNETS, ROUTERS, ADDRESSES = (f"{REGION}/{plural}" for plural in ("subnetworks", "routers", "addresses"))
NET = f"{LINKS}/global/networks/net"
PODS = {"rangeName": "pods", "ipCidrRange": "10.4.0.0/14"}


def subnet(name: str = "nodes", cidr: str = "10.0.0.0/20", *secondary: dict) -> dict:
    return {"name": name, "ipCidrRange": cidr, "network": NET, "secondaryIpRanges": list(secondary)}
