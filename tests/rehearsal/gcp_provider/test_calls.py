"""Patience: a busy server is asked again, what will not pass is said at once, and the engine can end all waiting."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from rehearsal.gcp_provider.errors import Cancelled, GoogleError, OperationError
from rehearsal.gcp_provider.google.locks import Locks
from rehearsal.gcp_provider.google.operations import await_compute, await_container
from rehearsal.gcp_provider.google.rest import Patience, Rest, while_busy
from tests.rehearsal.gcp_provider.google import Answer, FakeGoogle, Seen, error

pytestmark = pytest.mark.unit


@pytest.fixture
def fake() -> Iterator[Any]:
    started: list[FakeGoogle] = []

    def start(answer: Answer) -> tuple[FakeGoogle, Rest]:
        google = FakeGoogle(answer)
        google.start()
        started.append(google)
        return google, Rest({"container": google.base, "compute": google.base})

    yield start
    for google in started:
        google.stop()


def in_turn(*answers: tuple[int, Any]) -> Answer:
    left = list(answers)
    return lambda seen: left.pop(0) if len(left) > 1 else left[0]


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_busy_server_is_asked_again(fake: Any, code: int) -> None:
    google, rest = fake(in_turn(error(code, "busy"), error(code, "busy"), (200, {"name": "c"})))
    assert rest.call("container", "GET", "x") == {"name": "c"}
    assert len(google.calls) == 3


def test_what_is_wrong_is_said_at_once_in_the_words_of_googles_client(fake: Any) -> None:
    google, rest = fake(in_turn(error(400, "Machine type x is unknown.", "INVALID_ARGUMENT", "badRequest")))
    with pytest.raises(GoogleError, match=r"^googleapi: Error 400: Machine type x is unknown\., badRequest$"):
        rest.call("container", "POST", "x", {})
    assert len(google.calls) == 1


def test_a_cluster_that_is_worked_on_is_waited_for(fake: Any) -> None:
    busy = error(400, "Cluster is running incompatible operation op.", "FAILED_PRECONDITION", "failedPrecondition")
    google, rest = fake(in_turn(busy, busy, (200, {"name": "op"})))
    assert while_busy(lambda: rest.call("container", "POST", "x", {}), Patience(10)) == {"name": "op"}
    assert len(google.calls) == 3


def test_waiting_for_a_busy_cluster_ends_with_its_time(fake: Any) -> None:
    _, rest = fake(in_turn(error(400, "busy", "FAILED_PRECONDITION")))
    with pytest.raises(GoogleError, match="busy"):
        while_busy(lambda: rest.call("container", "POST", "x", {}), Patience(0.3))


def test_an_operation_is_polled_by_its_name_until_it_is_done(fake: Any) -> None:
    running, done = (200, {"name": "op", "status": "RUNNING"}), (200, {"name": "op", "status": "DONE"})
    google, rest = fake(in_turn(running, done))
    await_container(rest, {"name": "op", "status": "PENDING"}, "projects/p/locations/l", "creating", Patience(10))
    assert {call.path for call in google.calls} == {"/projects/p/locations/l/operations/op"}


def test_a_failed_operation_is_an_error_with_googles_text(fake: Any) -> None:
    _, rest = fake(in_turn((200, {"name": "op", "status": "DONE", "error": {"code": 8, "message": "GCE_STOCKOUT"}})))
    with pytest.raises(OperationError, match="Error waiting for creating GKE NodePool: GCE_STOCKOUT"):
        await_container(
            rest, {"name": "op", "status": "RUNNING"}, "projects/p/locations/l", "creating GKE NodePool", Patience(10)
        )
    failed = {"name": "op", "status": "DONE", "error": {"errors": [{"code": "QUOTA", "message": "Quota is over."}]}}
    with pytest.raises(OperationError, match=r"Quota is over\."):
        await_compute(rest, failed, "p", "Creating Network", Patience(10))


def test_an_operation_that_never_ends_is_given_up(fake: Any) -> None:
    _, rest = fake(in_turn((200, {"name": "op", "status": "RUNNING"})))
    with pytest.raises(OperationError, match="timeout while waiting"):
        await_container(rest, {"name": "op"}, "projects/p/locations/l", "creating", Patience(0.2))


def test_the_engine_ends_all_waiting(fake: Any) -> None:
    cancelled = threading.Event()
    _, rest = fake(in_turn((200, {"name": "op", "status": "RUNNING"})))
    threading.Timer(0.2, cancelled.set).start()
    with pytest.raises(Cancelled):
        await_container(rest, {"name": "op"}, "projects/p/locations/l", "creating", Patience(60, cancelled))


def test_a_call_says_who_it_is_and_what_it_asks(fake: Any) -> None:
    google, rest = fake(lambda seen: (200, {}))
    rest.call("container", "GET", "x", filter="a b", flag=True)
    assert google.calls == [Seen("GET", "/x?filter=a+b&flag=true", None)]


def test_pools_share_a_cluster_and_a_cluster_is_changed_alone() -> None:
    locks, order = Locks(), []
    with locks.shared("c"), locks.shared("c"):
        waiter = threading.Thread(target=lambda: [locks.alone("c").__enter__(), order.append("alone")])
        waiter.start()
        waiter.join(0.1)
        order.append("shared")
    waiter.join(2)
    assert order == ["shared", "alone"]
