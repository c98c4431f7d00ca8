"""A rehearsal of its own with one cluster: RayOperator switched on, two CPU nodes, and a v6e slice of four hosts."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client

from operations.kubernetes import Cluster
from rehearsal import lifecycle
from rehearsal.host import sandbox
from rehearsal.host.layout import CHECKOUT, Layout
from tests.rehearsal.ray_operator import queues

PROJECT, ZONE = "ray-project", "us-east5-b"
PARENT = f"/v1beta1/projects/{PROJECT}/locations/{ZONE}"
CLUSTER = f"{PARENT}/clusters/ray"
PATIENCE_S = 90.0
LONG_S = 300
"""Longer than any test waits: a job that runs so long runs until the test says otherwise."""


def until(what: str, holds: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """The first answer that is true. Fails when none comes in time."""
    deadline = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.2)
    return found


class Rehearsal:
    """One rehearsal, seen from outside as a user sees it."""

    def __init__(self, folder: Path) -> None:
        self.layout = Layout(folder, CHECKOUT)

    # -- Google -------------------------------------------------------------------------------------------------------

    def google(self, verb: str, path: str, body: Any = None) -> Any:
        return lifecycle.google(self.layout, verb, path, body)

    def run(self, verb: str, path: str, body: Any = None) -> None:
        """A call that starts an operation of the Kubernetes Engine API, to its end."""
        operation = self.google(verb, path, body)
        link = "/" + operation["selfLink"].split("googleapis.com/")[1]
        done = until(link, lambda: (o := self.google("GET", link))["status"] == "DONE" and o)
        assert "error" not in done, done

    def enable(self, *apis: str) -> None:
        ids = [f"{api}.googleapis.com" for api in apis]
        operation = self.google("POST", f"/v1/projects/{PROJECT}/services:batchEnable", {"serviceIds": ids})
        until("the APIs", lambda: self.google("GET", f"/v1/{operation['name']}").get("done", False))

    def addons(self, **config: Any) -> None:
        self.run("PUT", CLUSTER, {"update": {"desiredAddonsConfig": config}})

    # -- the cluster --------------------------------------------------------------------------------------------------

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.layout, "ray")

    def create(self, manifest: dict[str, Any], namespace: str = "default") -> None:
        plural = f"{manifest['kind'].lower()}s"
        base = f"/apis/{manifest['apiVersion']}" if "/" in manifest["apiVersion"] else f"/api/{manifest['apiVersion']}"
        self.cluster.call("POST", f"{base}/namespaces/{namespace}/{plural}", manifest)

    def offered(self, path: str, body: dict[str, Any]) -> bool:
        """Whether an object could be made; not while the webhook that must look at it is not there yet."""
        try:
            self.cluster.call("POST", path, body)
        except client.ApiException as error:
            assert "failed calling webhook" in str(error.reason), error.reason
            return False
        return True

    def ray_job(self, name: str) -> dict[str, Any]:
        """The status of a RayJob."""
        found = self.cluster.get(f"/apis/ray.io/v1/namespaces/default/rayjobs/{name}")
        return dict((found or {}).get("status") or {})

    def pods(self, selector: str = "") -> list[dict[str, Any]]:
        return self.cluster.list("/api/v1/namespaces/default/pods", labelSelector=selector)

    def jobs_take(self, seconds: int) -> None:
        """How long played jobs run from now on, those that run already included."""
        table = yaml.safe_load(self.layout.images.read_text())
        table["simulated"]["duration"] = f"{seconds}s"
        fresh = self.layout.images.with_suffix(".new")
        fresh.write_text(yaml.safe_dump(table))
        fresh.rename(self.layout.images)

    def kill(self, name: str) -> None:
        """Ends every process of that name in the sandbox at once."""
        pids = sandbox.processes_named(self.layout, name)
        assert pids, f"no {name} runs"
        subprocess.run(["kill", "-9", *map(str, pids)], check=True)


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    found = Rehearsal(tmp_path_factory.mktemp("ray") / "state")
    try:
        lifecycle.up(found.layout)
        found.jobs_take(LONG_S)
        found.enable("container", "compute", "iam")
        cpu = {"name": "default-pool", "initialNodeCount": 2, "config": {"machineType": "e2-standard-8"}}
        addons = {"rayOperatorConfig": {"enabled": True, "rayClusterLoggingConfig": {"enabled": True}}}
        found.run(
            "POST", f"{PARENT}/clusters", {"cluster": {"name": "ray", "nodePools": [cpu], "addonsConfig": addons}}
        )
        slice_of_four = {
            "name": "v6e",
            "initialNodeCount": 4,
            "config": {"machineType": "ct6e-standard-4t"},
            "placementPolicy": {"type": "COMPACT", "tpuTopology": "4x4"},
        }
        found.run("POST", f"{CLUSTER}/nodePools", {"nodePool": slice_of_four})
        yield found
    finally:
        lifecycle.down(found.layout)


class Charts:
    """Releases of charts in the cluster, by the real engine."""

    def __init__(self, ray: Rehearsal, state: Path) -> None:
        self.ray, self.state = ray, state
        self._pulumi("stack", "init", "tests")

    def install(self, *charts: str) -> None:
        """Makes these the releases that are there."""
        self._pulumi("up", "--yes", "--skip-preview", "--stack", "tests", charts=charts)

    def _pulumi(self, *words: str, charts: tuple[str, ...] = ()) -> None:
        (home,) = [path.parent for path in self.ray.layout.clusters.glob("*/index")]
        extra = {
            "TEST_KUBECONFIG": str(home / "admin.kubeconfig"),
            "TEST_CHART_FOLDER": str(self.ray.layout.charts),
            "TEST_CHARTS": ",".join(charts),
            "PULUMI_BACKEND_URL": f"file://{self.state}",
        }
        command = ["pulumi", *words, "--non-interactive", "--cwd", str(Path(__file__).parent / "charts")]
        done = lifecycle.run_inside(
            self.ray.layout, command, extra=extra, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        assert done.returncode == 0, done.stdout


@pytest.fixture(scope="session")
def charts(ray: Rehearsal, tmp_path_factory: pytest.TempPathFactory) -> Charts:
    """Kueue with a queue, from its chart."""
    found = Charts(ray, tmp_path_factory.mktemp("stacks"))
    found.install("kueue")
    for path, body in queues.objects():
        until(path, lambda path=path, body=body: ray.offered(path, body))
    return found
