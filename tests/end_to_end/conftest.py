"""A checkout of its own for the rehearsals: the files of this one, the same Python environment, nothing else shared."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client

from operations.jobs.timeline import JobLine
from operations.jobs.watch import Watcher
from operations.kubernetes import Cluster
from operations.stack.up import plan_of
from rehearsal import lifecycle
from rehearsal.host.layout import Layout
from settings.plan.plan import Plan

HERE = Path(__file__).resolve().parents[2]
MAKE_TIMEOUT_S = 900


class Checkout:
    """A checkout in a temporary folder. `pods` of training are "simulated", or "real" processes."""

    def __init__(self, folder: Path, pods: str = "simulated") -> None:
        self.folder, self.pods = folder, pods
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"], cwd=HERE, capture_output=True, text=True, check=True
        )
        for name in listed.stdout.splitlines():
            if (HERE / name).is_file():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(HERE / name, target)
        (folder / ".venv").symlink_to(sys.prefix)
        self.layout = Layout(folder / ".rehearsal", folder)

    def make(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs make in this checkout."""
        done = subprocess.run(
            ["make", *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=MAKE_TIMEOUT_S,
            env=self.environment(),
        )
        if check:
            assert done.returncode == 0, f"make {' '.join(words)}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
        return done

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Starts make in the background."""
        log = (self.folder / "background.log").open("w")
        return subprocess.Popen(
            ["make", *words], cwd=self.folder, stdout=log, stderr=log, text=True, env=self.environment()
        )

    def environment(self) -> dict[str, str]:
        """Ours, without what points at another rehearsal or cluster, and without the outer make's own variables."""
        taken = ("REHEARSAL_HOME", "KUBECONFIG", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ARGS", "KUBECTL_PORT")
        ours = {key: value for key, value in os.environ.items() if key not in taken}
        return {**ours, "REHEARSAL_PODS": self.pods}

    def pulumi(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs the engine inside the rehearsal on the local stack."""
        command = [
            ".venv/bin/python",
            "-m",
            "rehearsal",
            "exec",
            "--",
            "pulumi",
            *words,
            "--stack",
            "local",
            "--non-interactive",
        ]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=MAKE_TIMEOUT_S, env=self.environment()
        )
        if check:
            assert done.returncode == 0, f"pulumi {' '.join(words)}\n{done.stdout[-6000:]}\n{done.stderr[-3000:]}"
        return done

    def google(self, path: str) -> Any:
        return lifecycle.google(self.layout, "GET", path)

    @property
    def plan(self) -> Plan:
        return plan_of(self.layout, "local")

    def cluster(self) -> Cluster:
        return Cluster(self.layout)

    def lines(self) -> dict[str, JobLine]:
        return {line.name: line for line in Watcher(self.cluster(), self.plan, self.layout.run / "seen.json").lines()}

    def config(self, change: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Changes the local stack's configuration; call what is returned to undo it."""
        path = self.folder / "Pulumi.local.yaml"
        before = path.read_text()
        content = yaml.safe_load(before)
        change(content["config"])
        path.write_text(yaml.safe_dump(content))

        def undo() -> None:
            path.write_text(before)

        return undo

    def steps(self) -> list[dict[str, Any]]:
        """The steps of a preview, as the engine prints them."""
        steps: list[dict[str, Any]] = json.loads(self.pulumi("preview", "--json").stdout)["steps"]
        return steps

    def changes(self) -> dict[str, list[str]]:
        """What a preview would do, by operation: names of resources (without those that stay the same)."""
        found: dict[str, list[str]] = {}
        for step in self.steps():
            if step["op"] != "same":
                found.setdefault(step["op"], []).append(step["urn"].rsplit("::", 1)[-1])
        return found


def until(what: str, seconds: float, holds: Callable[[], bool]) -> None:
    """Polls a fact that must become true within a stated time."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.2)


def submit(cluster: Cluster, path: str, made: dict[str, Any], seconds: float = 120.0) -> None:
    """Creates an object that a webhook must admit; it is there when this returns. A webhook whose manager was replaced, or is short of
    processors, may not be reached for a moment, as on GKE."""

    slow = False

    def accepted() -> bool:
        nonlocal slow
        try:
            cluster.call("POST", path, made)
        except client.ApiException as error:
            if error.status == 500 and "failed to call webhook" in str(error.reason):
                slow = True
                return False
            if not slow or error.status != 409:  # there: a call that was given up as too slow came through after all
                raise
        return True

    until(f"{made['metadata']['name']} is accepted", seconds, accepted)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    yield made
    made.make("clean", check=False)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Checkout]]:
    """Makes checkouts by a name, and takes down what runs in them at the end, also when its start has failed."""
    with ExitStack() as ends:

        def make(name: str, **settings: str) -> Checkout:
            made = Checkout(tmp_path_factory.mktemp(name), **settings)
            ends.callback(made.make, "clean", check=False)
            return made

        yield make
