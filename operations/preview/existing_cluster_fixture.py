"""For the offline preview of a stack that moves into somebody else's cluster: plays that somebody, as far as the stack file
describes what he has made (docs/environments.md, "A cluster")."""

from __future__ import annotations

import time
from typing import Any

from operations.stack.engine import OperationError
from rehearsal.errors import RehearsalError
from rehearsal.host.layout import Layout
from rehearsal.lifecycle import google
from settings.catalogue.labels import DEFAULT_POOL
from settings.plan.plan import Plan
from settings.schema.field_types import region_of

TIMEOUT_S = 120.0
POLL_S = 0.2
NETWORK = "owners-network"
PODS, SERVICES = "owners-pods", "owners-services"


def make_existing(rehearsal: Layout, plan: Plan) -> None:
    """A network and the cluster, ready when this returns. Raises OperationError when it is not after TIMEOUT_S, or refused."""
    project, region = plan.settings.project, region_of(plan.settings.location)
    clusters = f"/v1/projects/{project}/locations/{plan.settings.location}/clusters"
    apis = {"serviceIds": ["compute.googleapis.com", "container.googleapis.com"]}
    networks = f"/compute/v1/projects/{project}/global/networks"
    subnetworks = f"/compute/v1/projects/{project}/regions/{region}/subnetworks"
    _ask(rehearsal, f"/v1/projects/{project}/services:batchEnable", apis)
    _make(rehearsal, networks, NETWORK, {"name": NETWORK, "autoCreateSubnetworks": False})
    _make(rehearsal, subnetworks, NETWORK, _subnetwork(f"projects/{project}/global/networks/{NETWORK}"))
    _make(rehearsal, clusters, plan.settings.cluster.name, {"cluster": _cluster(plan)})


def _subnetwork(network: str) -> dict[str, Any]:
    ranges = {PODS: "10.64.0.0/16", SERVICES: "10.32.0.0/20"}
    return {
        "name": NETWORK,
        "network": network,
        "ipCidrRange": "10.128.0.0/16",
        "secondaryIpRanges": [{"rangeName": name, "ipCidrRange": cidr} for name, cidr in ranges.items()],
    }


def _cluster(plan: Plan) -> dict[str, Any]:
    settings = plan.settings
    body: dict[str, Any] = {
        "name": settings.cluster.name,
        "network": NETWORK,
        "subnetwork": NETWORK,
        "ipAllocationPolicy": {
            "useIpAliases": True,
            "clusterSecondaryRangeName": PODS,
            "servicesSecondaryRangeName": SERVICES,
        },
    }
    if plan.autopilot:
        return {**body, "autopilot": {"enabled": True}}
    pool = settings.cluster.default_pool
    first = {"name": DEFAULT_POOL, "initialNodeCount": pool.nodes, "config": {"machineType": pool.machine_type}}
    return {
        **body,
        "locations": list(plan.system_zones),
        "workloadIdentityConfig": {"workloadPool": f"{settings.project}.svc.id.goog"},
        "nodePools": [first],
    }


def _make(rehearsal: Layout, collection: str, name: str, body: dict[str, Any]) -> None:
    _ask(rehearsal, collection, body)
    deadline = time.monotonic() + TIMEOUT_S
    while not _ready(rehearsal, f"{collection}/{name}"):
        if time.monotonic() > deadline:
            raise OperationError(f"the existing {name} is not ready in the rehearsal after {TIMEOUT_S:.0f} s")
        time.sleep(POLL_S)


def _ready(rehearsal: Layout, path: str) -> bool:
    try:
        return google(rehearsal, "GET", path).get("status") in (None, "RUNNING")
    except RehearsalError:
        return False  # its operation has only begun


def _ask(rehearsal: Layout, path: str, body: dict[str, Any]) -> None:
    """An API that has just been enabled refuses for a while, and so does what is still being made."""
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        try:
            google(rehearsal, "POST", path, body)
            return
        except RehearsalError as error:
            soon = ": 403 " in str(error) or "resourceNotReady" in str(error)
            if not soon or time.monotonic() > deadline:
                raise OperationError(f"the existing cluster of the stack file cannot be played: {error}") from error
            time.sleep(POLL_S)
