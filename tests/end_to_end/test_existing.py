"""A network and a cluster that somebody else made: the platform moves in with `make up`, and out with `make down`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rehearsal import lifecycle
from rehearsal.errors import RehearsalError
from tests.end_to_end.conftest import Checkout, until

pytestmark = pytest.mark.rehearsal

PROJECT, REGION, ZONE, CLUSTER = "rehearsal-project", "us-central1", "us-central1-a", "given-cluster"
GOOGLE_S = 60.0
HERE = f"/v1/projects/{PROJECT}/locations/{REGION}/clusters"
NETWORK = f"/compute/v1/projects/{PROJECT}/global/networks"
SUBNET = f"/compute/v1/projects/{PROJECT}/regions/{REGION}/subnetworks"


class Owner:
    """Somebody with a project of his own, who asks Google's APIs himself."""

    def __init__(self, checkout: Checkout) -> None:
        self.layout = checkout.layout

    def asks(self, method: str, path: str, body: Any = None) -> Any:
        return lifecycle.google(self.layout, method, path, body)

    def found(self, path: str) -> Any:
        try:
            return self.asks("GET", path)
        except RehearsalError:
            return None

    def makes(self, collection: str, name: str, body: Any) -> None:
        """Creates a thing and waits until it is there and done."""
        until(f"{name} is taken", GOOGLE_S, lambda: self._accepted(collection, body))
        ready = (None, "RUNNING")
        until(
            f"{name} is ready",
            GOOGLE_S,
            lambda: (thing := self.found(f"{collection}/{name}")) is not None and thing.get("status") in ready,
        )

    def _accepted(self, collection: str, body: Any) -> bool:
        """An API that has just been enabled refuses for a while, and so does what is still being made."""
        try:
            self.asks("POST", collection, body)
        except RehearsalError as error:
            assert ": 403 " in str(error) or "resourceNotReady" in str(error), str(error)
            return False
        return True


def given_cluster() -> dict[str, Any]:
    return {
        "name": CLUSTER,
        "network": "given-network",
        "subnetwork": "given-subnet",
        "ipAllocationPolicy": {
            "useIpAliases": True,
            "clusterSecondaryRangeName": "given-pods",
            "servicesSecondaryRangeName": "given-services",
        },
        "locations": [ZONE],
        "addonsConfig": {"gcsFuseCsiDriverConfig": {"enabled": True}},
        "workloadIdentityConfig": {"workloadPool": f"{PROJECT}.svc.id.goog"},
        "nodePools": [{"name": "default-pool", "initialNodeCount": 2, "config": {"machineType": "e2-standard-4"}}],
    }


@pytest.fixture(scope="module")
def visited(fresh: Callable[..., Checkout]) -> tuple[Checkout, Owner]:
    """A rehearsal in which the owner has made a network and a cluster, and a stack that moves into it."""
    checkout = fresh("given")
    checkout.make("rehearsal")
    owner = Owner(checkout)
    apis = {"serviceIds": ["compute.googleapis.com", "container.googleapis.com"]}
    owner.asks("POST", f"/v1/projects/{PROJECT}/services:batchEnable", apis)
    owner.makes(NETWORK, "given-network", {"name": "given-network", "autoCreateSubnetworks": False})
    ranges = [
        {"rangeName": "given-pods", "ipCidrRange": "10.52.0.0/16"},
        {"rangeName": "given-services", "ipCidrRange": "10.53.0.0/20"},
    ]
    subnet = {"name": "given-subnet", "network": f"projects/{PROJECT}/global/networks/given-network"}
    owner.makes(SUBNET, "given-subnet", {**subnet, "ipCidrRange": "10.50.0.0/20", "secondaryIpRanges": ranges})
    owner.makes(HERE, CLUSTER, {"cluster": given_cluster()})
    checkout.config(move_in)
    return checkout, owner


def move_in(config: dict[str, Any]) -> None:
    """One slice, one queue and one job, in the cluster of somebody else."""
    pool = {"machineType": "e2-standard-4", "nodes": 2, "zones": [ZONE]}
    config["tpu-platform:cluster"] = {"name": CLUSTER, "existing": True, "defaultPool": pool}
    config["tpu-platform:slices"] = [{**config["tpu-platform:slices"][0], "pools": ["visitor"]}]
    config["tpu-platform:queues"] = config["tpu-platform:queues"][:1]
    config["tpu-platform:workloads"] = [{"name": "guest", "slices": 1}]
    del config["tpu-platform:ray"]


def facts(owner: Owner) -> dict[str, Any]:
    """What the owner would miss: his cluster as he described it, its first pool, and his network's parts."""
    cluster = owner.asks("GET", f"{HERE}/{CLUSTER}")
    kept = ("name", "network", "subnetwork", "endpoint", "masterAuth", "resourceLabels", "addonsConfig", "locations")
    pool = next(pool for pool in cluster["nodePools"] if pool["name"] == "default-pool")
    return {
        **{key: cluster.get(key) for key in kept},
        "pool": {key: pool.get(key) for key in ("config", "initialNodeCount", "locations")},
        "network": owner.asks("GET", f"{NETWORK}/given-network")["selfLink"],
        "subnet": owner.asks("GET", f"{SUBNET}/given-subnet")["secondaryIpRanges"],
    }


def pools(owner: Owner) -> set[str]:
    return {pool["name"] for pool in owner.asks("GET", f"{HERE}/{CLUSTER}")["nodePools"]}


def test_the_platform_moves_in_and_out_and_the_owner_keeps_everything(visited: tuple[Checkout, Owner]) -> None:
    checkout, owner = visited
    before = facts(owner)
    checkout.make("up")
    assert pools(owner) == {"default-pool", "visitor"}
    assert checkout.lines()["guest"].succeeded
    assert checkout.changes() == {"read": ["cluster"]}
    done = checkout.make("down")
    assert "given-network" in done.stdout
    checkout.make("rehearsal")
    assert pools(owner) == {"default-pool"}
    assert facts(owner) == before
    left = checkout.google("/_rehearsal/leftovers")
    assert [name.rsplit("/", 1)[-1] for name in left["networks"]] == ["given-network"]
    assert left["kubernetes objects of deleted clusters"] == []
