"""A rehearsal of its own with one cluster, for tests of what GKE does inside clusters. Skipped where the programs are not built."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml
from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal import lifecycle
from rehearsal.errors import RehearsalError
from rehearsal.gke.provisioning import requests
from rehearsal.host.layout import Layout
from rehearsal.kubernetes.kubeapi import KubeApi
from tests.rehearsal.gke.builders import QUEUED, ZONE, pod, worker

PROJECT = "tests-project"
PLACE = f"/v1/projects/{PROJECT}/locations/{ZONE}"
PATIENCE_S = 30.0
SCALE = 0.002
"""Google's operations take a five-hundredth of their time: a cluster 0.6 s beside what its control plane takes."""
QUICK = {
    "idle_s": 0.8,
    "boot_s": 0.5,
    "backoff_s": 1.0,
    "queue_s": 0.2,
    "booking_s": 3.0,
    "retry_s": 1.0,
    "missing_s": 1.0,
}
"""Seconds of these tests."""


INITIAL = {"chips": [], "times": {name: value / SCALE for name, value in QUICK.items()}}
"""What Google has when the rehearsal starts."""


def until(what: str, holds: Callable[[], Any], seconds: float = PATIENCE_S) -> Any:
    """The first true answer. Fails when none comes in time."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            found = holds()
        except (client.ApiException, HTTPError, OSError, RehearsalError):
            found = None
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(0.1)


@dataclass
class World:
    """A running rehearsal: Google by its REST API, one cluster by its API server."""

    layout: Layout
    cluster: str
    clients: list[KubeApi] = field(default_factory=list)

    # -- Google -------------------------------------------------------------------------------------------------------

    def google(self, verb: str, path: str, body: Any = None) -> Any:
        return lifecycle.google(self.layout, verb, path, body)

    def run(self, verb: str, path: str, body: Any = None) -> Any:
        """Starts an operation and waits for its end; the operation."""
        return self.ended(self.google(verb, path, body))

    def ended(self, operation: Any) -> Any:
        link = f"{PLACE}/operations/{operation['name']}"

        def done() -> Any:
            found = self.google("GET", link)
            return found if found["status"] == "DONE" else None

        return until(link, done, 60)

    def add_pool(self, name: str, **stated: Any) -> Any:
        """Starts to create a pool; the operation."""
        body = {"nodePool": {"name": name, **stated}}
        return self.google("POST", f"{PLACE}/clusters/{self.cluster}/nodePools", body)

    def capacity(self, *rows: Any, **times: float) -> None:
        """Rows of chips, and times other than QUICK's, in seconds of these tests."""
        scaled = {name: value / SCALE for name, value in {**QUICK, **times}.items()}
        self.google("PUT", "/_rehearsal/capacity", {"chips": list(rows), "times": scaled})

    def size(self, pool: str) -> int:
        """The target size of a pool's instance group, as clients of Compute read it."""
        shown = self.google("GET", f"{PLACE}/clusters/{self.cluster}/nodePools/{pool}")
        path = shown["instanceGroupUrls"][0].split("googleapis.com")[1]
        return int(self.google("GET", path)["targetSize"])

    # -- Kubernetes ---------------------------------------------------------------------------------------------------

    @property
    def kube(self) -> KubeApi:
        if not self.clients:
            self.clients.append(KubeApi(lifecycle.write_kubeconfig(self.layout, self.cluster)))
        return self.clients[0]

    def nodes(self, pool: str) -> list[Any]:
        """A pool's Node objects that are Ready."""
        found = self.kube.list("/api/v1/nodes", labelSelector=f"cloud.google.com/gke-nodepool={pool}")
        return [
            n for n in found if any(c["type"] == "Ready" and c["status"] == "True" for c in n["status"]["conditions"])
        ]

    def submit(self, made: Any) -> None:
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": {k: made["metadata"][k] for k in ("name", "namespace")}}
        body["metadata"] |= {k: v for k, v in made["metadata"].items() if k in ("labels", "annotations")}
        body["spec"] = {**made["spec"], "terminationGracePeriodSeconds": 0}
        body["spec"]["containers"] = [{**c, "image": "played"} for c in body["spec"]["containers"]]
        for container in body["spec"]["containers"]:
            chips = container["resources"]["requests"].get("google.com/tpu")
            if chips:
                container["resources"]["limits"] = {"google.com/tpu": chips}
        self.kube.call("POST", "/api/v1/namespaces/default/pods", body)

    def running(self, *names: str) -> bool:
        pods = {p["metadata"]["name"]: p["status"]["phase"] for p in self.kube.list("/api/v1/namespaces/default/pods")}
        return all(pods.get(name) == "Running" for name in names)

    def remove(self, *names: str) -> None:
        for name in names:
            self.kube.call("DELETE", f"/api/v1/namespaces/default/pods/{name}")

    def events(self, pod_name: str) -> dict[str, str]:
        """The messages of each reason about a pod, line by line."""
        found: dict[str, str] = {}
        path = "/api/v1/namespaces/default/events"
        for event in self.kube.list(path, fieldSelector=f"involvedObject.name={pod_name}"):
            found[event["reason"]] = f"{found.get(event['reason'], '')}{event['message']}\n"
        return found

    def pools(self) -> list[Any]:
        """The pools as Google's side keeps them."""
        kept = self.google("GET", "/_rehearsal/state")["pools"]
        return [pool for name, pool in kept.items() if f"/clusters/{self.cluster}/" in name]

    def idle(self) -> bool:
        """Whether nothing is there that the autoscaler has brought."""
        scaled = [pool for pool in self.pools() if "_members" in pool]
        return not any(pool["_members"] or self.nodes(pool["name"]) for pool in scaled)

    def clear(self) -> None:
        """Takes away what a test has left, also one that failed: the next one finds an idle cluster and all capacity."""
        self.google("PUT", "/_rehearsal/capacity", INITIAL)
        self.google("DELETE", "/_rehearsal/faults")
        if not self.pools():
            return  # the test has deleted the cluster
        for request in self.kube.list(f"{requests.PATH}/namespaces/default/provisioningrequests"):
            self.withdraw(request["metadata"]["name"])
        for plural in ("pods", "podtemplates"):
            self.kube.call("DELETE", f"/api/v1/namespaces/default/{plural}")
        until("the cluster is idle", self.idle)

    # -- ProvisioningRequests -----------------------------------------------------------------------------------------

    def ask(self, name: str, *counts: int, kind: str = requests.CLASS, **parameters: str) -> None:
        """A ProvisioningRequest for so many workers of a 4x4 slice in each pod set."""
        templates = []
        for n, _ in enumerate(counts):
            templates.append(f"{name}-template-{n}")
            spec = {**worker("w", tolerations=[QUEUED])["spec"], "restartPolicy": "Never"}
            spec["containers"] = [{"name": "main", "image": "played", "resources": {"limits": {"google.com/tpu": "4"}}}]
            made = {"metadata": {"name": templates[-1]}, "template": {"spec": spec}}
            self.kube.call("POST", "/api/v1/namespaces/default/podtemplates", made)
        sets = [{"count": c, "podTemplateRef": {"name": t}} for c, t in zip(counts, templates, strict=True)]
        body = {"apiVersion": "autoscaling.x-k8s.io/v1", "kind": "ProvisioningRequest", "metadata": {"name": name}}
        body["spec"] = {"provisioningClassName": kind, "podSets": sets, "parameters": parameters}
        self.kube.call("POST", f"{requests.PATH}/namespaces/default/provisioningrequests", body)

    def asked(self, name: str) -> Any:
        return self.kube.get(f"{requests.PATH}/namespaces/default/provisioningrequests/{name}")

    def withdraw(self, name: str) -> None:
        self.kube.call("DELETE", f"{requests.PATH}/namespaces/default/provisioningrequests/{name}")

    def state(self, name: str) -> str:
        return requests.state(self.asked(name))

    def users(self, name: str) -> list[str]:
        """Four pods as Kueue makes them once the request is provisioned; their names."""
        chosen = {"autoscaling.gke.io/provisioning-request": requests.resize_request("default", name)}
        names = [f"{name}-w-{n}" for n in range(4)]
        for each in names:
            notes = {"autoscaling.x-k8s.io/consume-provisioning-request": name}
            notes["autoscaling.x-k8s.io/provisioning-class-name"] = requests.CLASS
            self.submit(pod(each, tpu=4, annotations=notes, nodeSelector=chosen, tolerations=[QUEUED]))
        return names


def slice_pool(**more: Any) -> dict[str, Any]:
    """A v6e slice of four hosts that grows from nothing."""
    scaling = {"enabled": True, "minNodeCount": 0, "maxNodeCount": 4}
    config = {"machineType": "ct6e-standard-4t", **more.pop("config", {})}
    placement = {"type": "COMPACT", "tpuTopology": "4x4"}
    return {"initialNodeCount": 0, "autoscaling": scaling, "placementPolicy": placement, "config": config, **more}


def queued_pool() -> dict[str, Any]:
    management = {"autoRepair": False, "autoUpgrade": True}
    return slice_pool(config={"flexStart": True}, queuedProvisioning={"enabled": True}, management=management)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    if not (Layout.default().bin / "kube-apiserver").exists():
        pytest.skip("the rehearsal's programs are not built")
    layout = Layout(tmp_path_factory.mktemp("gke") / ".rehearsal")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REHEARSAL_TIME_SCALE", str(SCALE))
        table = layout.root.parent / "capacity.yaml"
        table.write_text(yaml.safe_dump(INITIAL))
        patch.setenv("REHEARSAL_CAPACITY", str(table))
        lifecycle.up(layout, say=lambda text: None)
    made = World(layout, "demo")
    try:
        apis = {"serviceIds": ["container.googleapis.com", "compute.googleapis.com", "iam.googleapis.com"]}
        done = made.google("POST", f"/v1/projects/{PROJECT}/services:batchEnable", apis)
        until("the APIs", lambda: made.google("GET", f"/v1/{done['name']}").get("done"))
        made.run("POST", f"{PLACE}/clusters", {"cluster": {"name": "demo", "initialNodeCount": 1}})
        scaling = {"enabled": True, "minNodeCount": 0, "maxNodeCount": 2}
        cpu = {"initialNodeCount": 0, "autoscaling": scaling, "config": {"machineType": "e2-standard-4"}}
        pools = {"cpu": cpu, "slice": slice_pool(), "dws": queued_pool()}
        for operation in [made.add_pool(name, **stated) for name, stated in pools.items()]:
            assert "error" not in made.ended(operation)
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        until("pods may be created", lambda: made.kube.get(account))
        yield made
    finally:
        lifecycle.down(layout)


@pytest.fixture
def world(demo: World) -> Iterator[World]:
    yield demo
    demo.clear()
