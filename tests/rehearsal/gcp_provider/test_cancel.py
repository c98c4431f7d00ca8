"""The engine cancels while Google works: what was accepted is kept by its id, and the next update goes on with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
import pytest
import requests
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2, status_pb2

from rehearsal.gcp_provider import wire
from tests.rehearsal.gcp_provider.conftest import PROJECT, SERVICE, Engine
from tests.rehearsal.gcp_provider.test_flow import ACCOUNT, CLUSTER, NETWORK, NETWORKS, NEWS, POOL, SLICE

pytestmark = pytest.mark.unit
ENDS_S = 3.0
"""How soon a wait has to end once it is cancelled."""
REACHED_S = 10.0
IGNORED = ("nodeConfig", "nodePools", "initialNodeCount")
ROUTER, NAT = "gcp:compute/router:Router", "gcp:compute/routerNat:RouterNat"


def slow(engine: Engine, name: str, times: int = 1) -> None:
    """Google's next operations on `name` take much longer than any wait here; `hurry` lets them be."""
    faults = [{"fault": "slow", "factor": 300, "match": {"name": name}, "times": times}]
    requests.put(f"{engine.google}/_rehearsal/faults", json=faults, timeout=10).raise_for_status()


def cancelled(engine: Engine, token: str, name: str, news: dict[str, Any], method: str) -> Any:
    """Creates, cancels when Google has been asked, and gives the error, which has to come soon."""
    failures: list[grpc.RpcError] = []

    def create() -> None:
        try:
            engine.create(token, name, news)
        except grpc.RpcError as error:
            failures.append(error)

    worker = threading.Thread(target=create)
    worker.start()
    until(lambda: any(call["status"] == 200 for call in engine.audit(method)))
    engine.stub.Cancel(Empty())
    worker.join(ENDS_S)
    assert not worker.is_alive() and len(failures) == 1
    engine.configure()  # what the next run of the engine does
    return failures[0]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + REACHED_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def kept(error: Any) -> tuple[str, dict[str, Any]]:
    """(id, outputs) as the engine takes them from an initialization error."""
    packed = dict(error.trailing_metadata())["grpc-status-details-bin"]
    detail = provider_pb2.ErrorResourceInitFailed()
    assert status_pb2.Status.FromString(packed).details[0].Unpack(detail)
    assert "the engine cancelled" in detail.reasons[0]
    return detail.id, wire.decode(detail.properties)[0]


def test_a_pool_in_the_making_is_kept_and_taken_up(ready: Engine) -> None:
    ready.create(NETWORK, "n", NETWORKS)
    ready.create(CLUSTER, "c", NEWS)
    slow(ready, "slice")
    identity, state = kept(cancelled(ready, POOL, "p", SLICE, "nodePools.create"))
    assert identity == f"projects/{PROJECT}/locations/us-west4/clusters/c/nodePools/slice"
    inputs, _ = ready.check(POOL, "p", SLICE)
    # Google takes a while yet: reading it waits for that, as the real provider's does.
    _, found, _ = ready.read(POOL, identity, state, inputs)
    assert found["nodeCount"] == 2 and found["operation"] == ""
    assert list(ready.diff(POOL, identity, found, inputs).diffs) == []
    assert ready.update(POOL, identity, state, inputs)["nodeCount"] == 2
    assert len(ready.audit("nodePools.create")) == 1


def test_a_cluster_in_the_making_is_kept_and_loses_its_default_pool_later(ready: Engine) -> None:
    ready.create(NETWORK, "n", NETWORKS)
    slow(ready, "c")
    identity, state = kept(cancelled(ready, CLUSTER, "c", NEWS, "clusters.create"))
    assert identity == f"projects/{PROJECT}/locations/us-west4/clusters/c"
    inputs, _ = ready.check(CLUSTER, "c", NEWS)
    _, found, _ = ready.read(CLUSTER, identity, state, inputs)
    assert found["endpoint"] and ready.audit("nodePools.delete") == []
    assert list(ready.diff(CLUSTER, identity, found, inputs, IGNORED).diffs) == ["removeDefaultNodePool"]
    after = ready.update(CLUSTER, identity, found, inputs)
    assert [call["path"].rsplit("/", 1)[-1] for call in ready.audit("nodePools.delete")] == ["default-pool"]
    assert list(ready.diff(CLUSTER, identity, after, inputs, IGNORED).diffs) == []


def test_what_compute_engine_makes_is_kept(ready: Engine) -> None:
    slow(ready, "n")
    identity, state = kept(cancelled(ready, NETWORK, "n", NETWORKS, "networks.insert"))
    assert identity == f"projects/{PROJECT}/global/networks/n" and state["name"] == "n"


def test_a_gateway_is_kept_too(ready: Engine) -> None:
    ready.create(NETWORK, "n", NETWORKS)
    ready.create(ROUTER, "r", {"name": "r", "network": "n", "region": "us-west4"})
    slow(ready, "r")
    news = {
        "name": "g",
        "router": "r",
        "region": "us-west4",
        "natIpAllocateOption": "AUTO_ONLY",
        "sourceSubnetworkIpRangesToNat": "ALL_SUBNETWORKS_ALL_IP_RANGES",
    }
    identity, state = kept(cancelled(ready, NAT, "g", news, "routers.patch"))
    assert identity == f"projects/{PROJECT}/regions/us-west4/routers/r/g" and state["router"] == "r"


def test_after_the_cancellation_nothing_new_is_asked_for(ready: Engine) -> None:
    ready.stub.Cancel(Empty())
    for token, news in (
        (NETWORK, NETWORKS),
        (ACCOUNT, {"accountId": "nodes"}),
        (SERVICE, {"service": "x.googleapis.com"}),
    ):
        with pytest.raises(grpc.RpcError) as caught:
            ready.create(token, "n", news)
        assert caught.value.code() is grpc.StatusCode.CANCELLED
    assert ready.audit("networks.insert") == ready.audit("serviceAccounts.create") == []


def test_services_that_are_gathered_do_not_wait_for_a_batch_that_was_cancelled(engine: Engine) -> None:
    codes: list[grpc.StatusCode] = []

    def create(name: str) -> None:
        try:
            engine.create(SERVICE, name, {"service": f"{name}.googleapis.com"})
        except grpc.RpcError as error:
            codes.append(error.code())

    workers = [threading.Thread(target=create, args=(name,)) for name in ("compute", "container")]
    for worker in workers:
        worker.start()
    until(lambda: len(engine.audit("services.list")) == 2)
    engine.stub.Cancel(Empty())
    for worker in workers:
        worker.join(ENDS_S)
    assert codes == [grpc.StatusCode.CANCELLED] * 2
