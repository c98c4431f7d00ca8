"""What dies or is deleted in the middle of a scale-up: it goes on, or leaves nothing."""

from __future__ import annotations

import os

import pytest

from rehearsal import sandbox, supervisor
from tests.gke.builders import ZONE
from tests.gke.conftest import PLACE, World, queued_pool, until

pytestmark = pytest.mark.rehearsal


def kill(world: World, program: str) -> None:
    """Ends a program as a crash does; the supervisor starts it again."""
    unit = next(u for name, u in supervisor.units(world.layout).items() if name.startswith(program))
    done = sandbox.enter(world.layout, ["kill", "-9", str(unit["pid"])])
    assert os.spawnvp(os.P_WAIT, done[0], done) == 0
    until(f"{program} is back", lambda: next(
        u["pid"] not in (None, unit["pid"]) for name, u in supervisor.units(world.layout).items() if name == unit["name"]
    ))  # fmt: skip


def test_a_killed_server_and_api_server_go_on_with_what_is_queued(world: World) -> None:
    world.capacity({"zone": ZONE, "family": "v6e", "kind": "flex-start", "wait_s": 4})
    world.ask("survivor", 4)
    until("it is queued", lambda: world.state("survivor") == "Accepted")
    kill(world, "google")
    kill(world, "kube-apiserver")
    until("it is provisioned", lambda: world.state("survivor") == "Provisioned")
    assert len(world.nodes("dws")) == 4
    world.withdraw("survivor")
    until("the nodes are gone", lambda: world.size("dws") == 0 and not world.nodes("dws"))


def test_a_pool_deleted_under_a_request_fails_it(world: World) -> None:
    world.capacity(boot_s=10_000)
    world.ask("orphan", 4)
    until("its nodes boot", lambda: world.size("dws") == 4)
    assert "error" not in world.run("DELETE", f"{PLACE}/clusters/demo/nodePools/dws")
    until("it fails", lambda: world.state("orphan") == "Failed")
    reasons = {c["type"]: c["reason"] for c in world.asked("orphan")["status"]["conditions"]}
    assert reasons["Failed"] == "MissingResizeRequest"
    assert world.nodes("dws") == []


def test_a_cluster_deleted_while_nodes_boot_leaves_nothing(world: World) -> None:
    world.add_pool("dws", **queued_pool())
    world.ask("last", 4)
    until("its nodes boot", lambda: world.size("dws") == 4)
    assert "error" not in world.run("DELETE", f"{PLACE}/clusters/demo")
    left = world.google("GET", "/_rehearsal/leftovers")
    assert (left["clusters"], left["pools"]) == ([], [])
    until("its requests are forgotten", lambda: not list((world.layout.google / "objects" / "provisioning-requests").glob("*")))
