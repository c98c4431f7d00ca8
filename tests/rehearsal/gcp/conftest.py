"""A server of Google's APIs over HTTP, without Kubernetes behind it, and a client that speaks to it as Google's clients do."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
import uvicorn

from rehearsal.gcp.core import ServerSettings
from rehearsal.gcp.server import Server

PROJECT = "tests-project"
LOCATION = f"/v1beta1/projects/{PROJECT}/locations/us-west4"
CLUSTER = f"{LOCATION}/clusters/demo"
SCALE = 0.0005
"""Operations take a two-thousandth of Google's time: a cluster 0.15 s."""
PATIENCE_S = 20.0


@dataclass
class Gcp:
    """One server and its client. `refused` and `ok` fail the test when the answer is of the other kind."""

    state: Path
    base: str = ""
    _stop: list[Any] = field(default_factory=list)

    # -- the server ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serves the folder of state on a free port, as a new life of the server does."""
        server = Server(self.state, ServerSettings(time_scale=SCALE))
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        runner = uvicorn.Server(uvicorn.Config(server.app(), log_level="warning", access_log=False, lifespan="off"))
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        server.start()
        assert server.ready.wait(PATIENCE_S)
        _await(lambda: runner.started, "the server")
        self.base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self._stop = [server, runner, thread]

    def kill(self) -> None:
        """Ends the server as a kill would: no operation that is under way does its work."""
        server, runner, thread = self._stop
        server.world.over.set()
        runner.should_exit = True
        thread.join(timeout=PATIENCE_S)

    # -- the client ---------------------------------------------------------------------------------------------------

    def call(self, verb: str, path: str, body: Any = None) -> tuple[int, Any]:
        answer = requests.request(verb, self.base + path, json=body, timeout=PATIENCE_S)
        return answer.status_code, answer.json()

    def ok(self, verb: str, path: str, body: Any = None) -> Any:
        status, answer = self.call(verb, path, body)
        assert status == 200, answer
        return answer

    def refused(self, code: int, verb: str, path: str, body: Any = None) -> str:
        """The message of a call that must be refused with that status."""
        status, answer = self.call(verb, path, body)
        assert status == code, answer
        return str(answer["error"]["message"])

    def done(self, operation: Any) -> Any:
        """An operation of container or compute, when it is done."""
        path = "/" + operation["selfLink"].split("googleapis.com/")[1]
        found: list[Any] = []

        def ended() -> bool:
            found[:] = [self.ok("GET", path)]
            return bool(found[0]["status"] == "DONE")

        _await(ended, path)
        return found[0]

    def run(self, verb: str, path: str, body: Any = None) -> Any:
        """Makes a call that starts an operation, and waits for its success."""
        operation = self.done(self.ok(verb, path, body))
        assert "error" not in operation, operation
        return operation

    def enable(self, *apis: str, project: str = PROJECT) -> None:
        ids = [f"{api}.googleapis.com" for api in apis]
        operation = self.ok("POST", f"/v1/projects/{project}/services:batchEnable", {"serviceIds": ids})
        path = f"/v1/{operation['name']}"
        _await(lambda: self.ok("GET", path).get("done", False), path)


def _await(ready: Any, what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not ready():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_S} s"
        time.sleep(0.01)


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[Gcp]:
    """A server whose project has no API enabled."""
    server = Gcp(tmp_path / "google")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def gcp(bare: Gcp) -> Gcp:
    """A server whose project has the APIs on that platforms need."""
    bare.enable("container", "compute", "iam")
    return bare


@pytest.fixture
def cluster(gcp: Gcp) -> Gcp:
    """A server with the cluster `demo`, which has one ordinary node."""
    gcp.run("POST", f"{LOCATION}/clusters", {"cluster": {"name": "demo", "initialNodeCount": 1}})
    return gcp


@pytest.fixture
def net(gcp: Gcp) -> Gcp:
    """A server with the custom network `net`."""
    gcp.run("POST", f"/compute/v1/projects/{PROJECT}/global/networks", {"name": "net", "autoCreateSubnetworks": False})
    return gcp
