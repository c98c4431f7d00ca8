"""All pods of one cluster that run for real: who has a worker, and who is told of what."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import signal
import threading
import time
from collections.abc import Sequence
from typing import Any

from rehearsal.kubelet.containers.process import marked
from rehearsal.kubelet.network import namespace
from rehearsal.kubelet.pods.context import Context
from rehearsal.kubelet.pods.worker import Worker
from rehearsal.kubelet.volumes import volume_payload, volumes
from rehearsal.kubernetes import image_table
from rehearsal.kubernetes.client import ApiError, Client
from rehearsal.kubernetes.reflector import Reflector

Object = dict[str, Any]
LEFTOVERS_TIMEOUT_S, STOP_GRACE_S = 10.0, 3.0
SOURCES = {"ConfigMap": "configmaps", "Secret": "secrets"}


class Watches:
    """The local copies of what the agent needs to know."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.pods = Reflector(client, "/api/v1/pods")
        self.nodes = Reflector(client, "/api/v1/nodes")
        self.sources = {kind: Reflector(client, f"/api/v1/{plural}") for kind, plural in SOURCES.items()}

    def find(self, kind: str, namespace: str, name: str) -> Object | None:
        """A ConfigMap or Secret; one that the watch has not brought yet is asked for."""
        found = self.sources[kind].get(namespace, name)
        if found is not None or not name:
            return found
        try:
            return self.client.get(f"/api/v1/namespaces/{namespace}/{SOURCES[kind]}/{name}")
        except ApiError:
            return None

    def node(self, name: str) -> Object | None:
        return self.nodes.get("", name)

    def pod_addresses(self) -> set[str]:
        return {pod["status"]["podIP"] for pod in self.pods.all() if (pod.get("status") or {}).get("podIP")}


class Agent:
    """`workers` are by pod uid. A worker that is done stays until its pod is gone from the API server."""

    def __init__(self, context: Context, watches: Watches) -> None:
        self.context, self.watches = context, watches
        self.workers: dict[str, Worker] = {}
        self.lock = threading.RLock()

    def start(self) -> None:
        """Ends what an earlier life left behind, then takes the pods up."""
        end_leftovers(self.context)
        self.context.events.start()
        for kind, source in self.watches.sources.items():
            source.changed = functools.partial(self._source_changed, kind)
            source.start()
        self.watches.nodes.changed = self._node_changed
        self.watches.nodes.start()
        for watch in (*self.watches.sources.values(), self.watches.nodes):
            watch.synced.wait()
        self.watches.pods.changed = self._pod_changed
        self.watches.pods.start()
        self.watches.pods.synced.wait()
        self._forget_strangers()

    def stop(self) -> None:
        """Ends all processes, gently at first; the pods are taken up again at the next start, as after a node's restart."""
        self.context.stopping.set()
        with self.lock:
            processes = [
                process for worker in self.workers.values() for process in list(worker.runs.processes.values())
            ]
        for process in processes:
            process.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_GRACE_S
        while time.monotonic() < deadline and not all(process.over for process in processes):
            time.sleep(0.05)
        end_leftovers(self.context)

    def ours(self, pod: Object) -> bool:
        return image_table.runs_here(pod, self.context.table)

    def _forget_strangers(self) -> None:
        """Removes the folders and interfaces of pods that went away while the agent did not run."""
        uids = {pod["metadata"]["uid"] for pod in self.watches.pods.all()}
        with self.lock:
            uids |= set(self.workers)
        for folder in self.context.pods.iterdir():
            uid = folder.name.rsplit("_", 1)[-1]
            if uid not in uids:
                namespace.disconnect(uid)
                volumes.release(folder / "volumes")
                shutil.rmtree(folder, ignore_errors=True)
        for name in namespace.stray_interfaces(self.context.bridge, uids):
            namespace.remove_interface(name)

    # -- changes ------------------------------------------------------------------------------------------------------

    def _pod_changed(self, old: Object | None, new: Object | None) -> None:
        if old is not None and (new is None or new["metadata"]["uid"] != old["metadata"]["uid"]):
            self._gone(old["metadata"]["uid"])
        if new is not None:
            self._take(new)

    def _gone(self, uid: str) -> None:
        with self.lock:
            worker = self.workers.get(uid)
            if worker is not None and worker.done:
                del self.workers[uid]
            elif worker is not None:
                worker.forget(at_once=False)

    def _take(self, pod: Object) -> None:
        """Gives the pod a worker, or its worker the news."""
        node = pod["spec"].get("nodeName")
        if not node or not self.ours(pod):
            return
        with self.lock:
            worker = self.workers.get(pod["metadata"]["uid"])
            if worker is not None:
                worker.update(pod)
            elif self.watches.node(node) is not None:
                worker = Worker(self.context, pod, self._ended)
                self.workers[worker.uid] = worker
                worker.start()

    def _ended(self, worker: Worker) -> None:
        """A worker is done. If only its node had gone and has come back, the pod starts anew."""
        with self.lock:
            metadata = worker.pod["metadata"]
            present = self.watches.pods.get(metadata["namespace"], metadata["name"])
            same = present is not None and present["metadata"]["uid"] == worker.uid
            if worker.removed or not same:
                self.workers.pop(worker.uid, None)
            if worker.removed and same and present is not None:
                self._take(present)

    def _node_changed(self, old: Object | None, new: Object | None) -> None:
        name = (new or old or {})["metadata"]["name"]
        with self.lock:
            if new is None:
                for worker in self.workers.values():
                    if worker.network.node == name:
                        worker.forget(at_once=True)
            elif old is None or old["spec"].get("podCIDR") != new["spec"].get("podCIDR"):
                for pod in self.watches.pods.all():
                    if pod["spec"].get("nodeName") == name:
                        self._take(pod)

    def _source_changed(self, kind: str, old: Object | None, new: Object | None) -> None:
        metadata = (new or old or {})["metadata"]
        with self.lock:
            workers = [w for w in self.workers.values() if w.pod["metadata"]["namespace"] == metadata["namespace"]]
        for worker in workers:
            if (kind, metadata["name"]) in volume_payload.references(worker.pod):
                worker.wake()


def end_leftovers(context: Context) -> None:
    """Kills every process that this agent, or an earlier life of it, has started; what they had started dies with them."""
    deadline = time.monotonic() + LEFTOVERS_TIMEOUT_S
    while (found := marked(context.state)) and time.monotonic() < deadline:
        _kill(found)
        time.sleep(0.05)


def _kill(pids: Sequence[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
