"""What dies or is deleted in the middle of a scale-up: it goes on, or leaves nothing."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from rehearsal.host import sandbox
from tests.rehearsal.gke.builders import ZONE
from tests.rehearsal.gke.conftest import PLACE, World, queued_pool, until

pytestmark = pytest.mark.rehearsal


def processes(world: World, program: str) -> set[int]:
    """Programs of the sandbox by their first word; the stand-in for Google by its module."""
    name = Path(sys.executable).name if program == "google" else program[:15]
    found = sandbox.processes_named(world.layout, name)
    if program != "google":
        return set(found)
    return {pid for pid in found if b"rehearsal.google_server\0" in Path(f"/proc/{pid}/cmdline").read_bytes()}


def kill(world: World, program: str) -> None:
    """Ends a program as a crash does; the supervisor starts it again."""
    before = processes(world, program)
    assert before, program
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    until(f"{program} is back", lambda: processes(world, program) - before)


def test_a_killed_server_and_api_server_go_on_with_what_is_queued(world: World) -> None:
    world.capacity({"zone": ZONE, "family": "v6e", "kind": "flex-start", "wait_s": 3})
    world.ask("survivor", 4)
    until("it is queued", lambda: world.state("survivor") == "Accepted")
    kill(world, "google")
    kill(world, "kube-apiserver")
    until("it is provisioned", lambda: world.state("survivor") == "Provisioned")
    assert len(world.nodes("dws")) == 4
    world.withdraw("survivor")
    until("the nodes are gone", lambda: world.size("dws") == 0 and not world.nodes("dws"))


def test_a_pool_deleted_under_a_request_fails_it(world: World) -> None:
    world.capacity(boot_s=60)
    world.ask("orphan", 4)
    until("its nodes boot", lambda: world.size("dws") == 4)
    assert "error" not in world.run("DELETE", f"{PLACE}/clusters/demo/nodePools/dws")
    until("it fails", lambda: world.state("orphan") == "Failed")
    reasons = {c["type"]: c["reason"] for c in world.asked("orphan")["status"]["conditions"]}
    assert reasons["Failed"] == "MissingResizeRequest"
    assert world.nodes("dws") == []


def test_a_cluster_deleted_while_nodes_boot_leaves_nothing(world: World) -> None:
    world.ended(world.add_pool("dws", **queued_pool()))
    world.ask("last", 4)
    until("its nodes boot", lambda: world.size("dws") == 4)
    assert "error" not in world.run("DELETE", f"{PLACE}/clusters/demo")
    left = world.google("GET", "/_rehearsal/leftovers")
    assert (left["clusters"], left["pools"]) == ([], [])
    until(
        "its requests are forgotten",
        lambda: not list((world.layout.google / "objects" / "provisioning-requests").glob("*")),
    )
