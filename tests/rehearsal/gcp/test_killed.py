"""A server that is killed in the middle of its work goes on with it in its next life."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rehearsal.gcp.process import PROJECT, ServerProcess

pytestmark = pytest.mark.unit

LOCATION = f"v1/projects/{PROJECT}/locations/us-west4"


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[ServerProcess]:
    """A server on which a cluster takes 1.5 s: long enough to be killed in between."""
    server = ServerProcess(tmp_path)
    server.scale = 0.005
    server.start()
    try:
        server.enable()
        yield server
    finally:
        server.kill()


def test_a_cluster_in_the_making_is_finished_by_the_next_life(slow: ServerProcess) -> None:
    body = {"cluster": {"name": "interrupted", "initialNodeCount": 1, "locations": ["us-west4-a"]}}
    operation = slow.call("POST", f"{LOCATION}/clusters", body)
    assert slow.call("GET", f"{LOCATION}/clusters/interrupted")["status"] == "PROVISIONING"
    slow.kill()
    slow.start()
    assert "error" not in slow.finish(operation)
    assert slow.call("GET", f"{LOCATION}/clusters/interrupted")["status"] == "RUNNING"


def test_the_unix_socket_answers_in_the_next_life_too(slow: ServerProcess) -> None:
    slow.kill()
    slow.start()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(slow.unix))
        client.sendall(b"GET /_rehearsal/health HTTP/1.0\r\n\r\n")
        assert client.recv(100).startswith(b"HTTP/1.1 200")
