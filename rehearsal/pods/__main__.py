"""`python -m rehearsal.pods`: the kubelet's part for all nodes of one cluster."""

from __future__ import annotations

import argparse
import ipaddress
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.pods import netns
from rehearsal.pods.api import Api, Object
from rehearsal.pods.container import kill_leftovers
from rehearsal.pods.images import Table
from rehearsal.pods.server import serve
from rehearsal.pods.worker import Host, PodWorker

FIRST_ADDRESS, LAST_ADDRESS = 128, 254
"""Places in a node's range that local processes take; kwok hands out the lower half from 1 on (a node has at most 110 pods)."""


class Agent:
    """Gives each pod that is ours a worker, and takes it away again."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.api = Api(arguments.kubeconfig)
        self.table = Table(arguments.images)
        self.workers: dict[str, PodWorker] = {}
        self.nodes: dict[str, Object] = {}
        self._addresses: dict[str, str] = {}
        self._lock = threading.RLock()
        bridge = arguments.pods_bridge
        self.host = Host(
            self.api, self.table, arguments.state, (arguments.service_host, arguments.service_port), bridge, arguments.gateway,
            arguments.backoff_scale, self.pod_address, self.node_address, self.event,
        )  # fmt: skip

    # -- what workers ask ---------------------------------------------------------------------------------------------

    def node_address(self, name: str) -> str:
        node = self.nodes.get(name, {})
        return next(
            (a["address"] for a in node.get("status", {}).get("addresses", []) if a["type"] == "InternalIP"), ""
        )

    def pod_address(self, pod: Object) -> str:
        """A free address of the node's range, with the bridge's prefix length. Raises OSError while the node is unknown."""
        with self._lock:
            cidr = self.nodes.get(pod["spec"]["nodeName"], {}).get("spec", {}).get("podCIDR")
            if not cidr:
                raise OSError(f"node {pod['spec']['nodeName']} has no range of pod addresses yet")
            network, taken = ipaddress.ip_network(cidr), set(self._addresses.values())
            free = (str(network[n]) for n in range(FIRST_ADDRESS, LAST_ADDRESS) if str(network[n]) not in taken)
            address = next(free, None)
            if address is None:
                raise OSError(f"no address is left in {cidr}")
            self._addresses[pod["metadata"]["uid"]] = address
            return f"{address}/16"

    def event(self, pod: Object, kind: str, reason: str, message: str) -> None:
        meta, time_ = pod["metadata"], datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {
            "apiVersion": "v1", "kind": "Event", "metadata": {"generateName": f"{meta['name']}.", "namespace": meta["namespace"]},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"]},
            "type": kind, "reason": reason, "message": message, "count": 1, "firstTimestamp": time_, "lastTimestamp": time_,
            "source": {"component": "kubelet", "host": pod["spec"]["nodeName"]}, "reportingComponent": "kubelet",
        }  # fmt: skip

        def post() -> None:
            try:
                self.api.call("POST", f"/api/v1/namespaces/{meta['namespace']}/events", body)
            except (client.ApiException, HTTPError, OSError):
                return  # events are best effort, as everywhere in Kubernetes

        threading.Thread(target=post, daemon=True).start()

    # -- what the API server tells ------------------------------------------------------------------------------------

    def on_node(self, kind: str, node: Object) -> None:
        with self._lock:
            if kind == "SYNC":
                self.nodes = {item["metadata"]["name"]: item for item in node["items"]}
            elif kind == "DELETED":
                self.nodes.pop(node["metadata"]["name"], None)
                gone = [w for w in self.workers.values() if w.pod["spec"]["nodeName"] == node["metadata"]["name"]]
                for worker in gone:
                    worker.vanish()
            else:
                self.nodes[node["metadata"]["name"]] = node

    def on_pod(self, kind: str, pod: Object) -> None:
        with self._lock:
            if kind == "SYNC":
                there = {item["metadata"]["uid"] for item in pod["items"]}
                for uid in set(self.workers) - there:
                    self._forget(uid)
                for item in pod["items"]:
                    self._see(item)
            elif kind == "DELETED":
                self._forget(pod["metadata"]["uid"])
            else:
                self._see(pod)

    def _see(self, pod: Object) -> None:
        uid = pod["metadata"]["uid"]
        if uid in self.workers:
            self.workers[uid].update(pod)
            return
        over = pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if not pod["spec"].get("nodeName") or not self.table.ours(pod):
            return
        if over and not pod["metadata"].get("deletionTimestamp"):
            return
        worker = self.workers[uid] = PodWorker(pod, self.host)
        worker.update(pod)
        worker.start()

    def _forget(self, uid: str) -> None:
        worker = self.workers.pop(uid, None)
        if worker is not None:
            worker.vanish()
        self._addresses.pop(uid, None)

    def find(self, namespace: str, name: str) -> PodWorker | None:
        with self._lock:
            return next((w for w in self.workers.values() if (w.namespace, w.name) == (namespace, name)), None)

    def names(self) -> list[str]:
        with self._lock:
            return [f"{w.namespace}/{w.name}" for w in self.workers.values()]

    def run(self) -> None:
        over = threading.Event()
        threading.Thread(target=self.api.follow, args=("/api/v1/nodes", self.on_node, over), daemon=True).start()
        while not self.nodes and not over.wait(0.2):
            if self.api_is_empty():
                break
        self.api.follow("/api/v1/pods", self.on_pod, over)

    def api_is_empty(self) -> bool:
        try:
            return not self.api.call("GET", "/api/v1/nodes")["items"]
        except (client.ApiException, HTTPError, OSError):
            time.sleep(0.5)
            return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.pods", description=__doc__)
    for name in ("kubeconfig", "images", "state", "serving-cert", "serving-key", "client-ca"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    for name in ("pods-bridge", "gateway", "service-host"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--kubelet-port", type=int, required=True)
    parser.add_argument("--service-port", type=int, default=443)
    parser.add_argument(
        "--backoff-scale", type=float, default=0.1, help="pauses before restarts, against the kubelet's (default 0.1)"
    )
    arguments = parser.parse_args()
    kill_leftovers(arguments.state / "pids")
    netns.remove_all(arguments.pods_bridge)
    agent = Agent(arguments)
    server = serve(
        arguments.kubelet_port,
        arguments.serving_cert,
        arguments.serving_key,
        arguments.client_ca,
        agent.find,
        agent.names,
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    agent.run()


if __name__ == "__main__":
    main()
