"""Events about pods, as `kubectl describe pod` lists them: written in the background, repeated ones as a count."""

from __future__ import annotations

import queue
import threading
import uuid
from typing import Any

from rehearsal.kubernetes.client import ApiError, Client
from rehearsal.kubernetes.time import stamp

MOST_REMEMBERED = 2000


class Events(threading.Thread):
    """Writes events one after another, so that a slow API server never holds up a container."""

    def __init__(self, client: Client) -> None:
        super().__init__(name="events", daemon=True)
        self.client = client
        self.queue: queue.SimpleQueue[tuple[dict[str, Any], str, str, str, str | None]] = queue.SimpleQueue()
        self.known: dict[tuple[str, ...], tuple[str, int]] = {}

    def say(self, pod: dict[str, Any], kind: str, reason: str, message: str, container: str | None = None) -> None:
        """`kind` is Normal or Warning."""
        self.queue.put((pod, kind, reason, message, container))

    def run(self) -> None:
        while True:
            pod, kind, reason, message, container = self.queue.get()
            try:
                self._write(pod, kind, reason, message, container)
            except ApiError as error:
                if error.code not in (403, 404):  # the namespace is going or gone
                    print(f"event {reason} of {pod['metadata']['name']}: {error}", flush=True)

    def _write(self, pod: dict[str, Any], kind: str, reason: str, message: str, container: str | None) -> None:
        metadata, now = pod["metadata"], stamp()
        path = f"/api/v1/namespaces/{metadata['namespace']}/events"
        same = (metadata["uid"], reason, message, container or "")
        if same in self.known:
            name, count = self.known[same]
            try:
                patch = {"count": count + 1, "lastTimestamp": now}
                self.client.request("PATCH", f"{path}/{name}", patch, content_type="application/merge-patch+json")
                self.known[same] = (name, count + 1)
                return
            except ApiError as error:
                if error.code != 404:
                    raise
        name = f"{metadata['name']}.{uuid.uuid4().hex[:16]}"
        about = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "namespace": metadata["namespace"]}
        about |= {"uid": metadata["uid"]}
        if container is not None:
            about["fieldPath"] = f"spec.containers{{{container}}}"
        body: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": metadata["namespace"]},
        }
        body |= {"involvedObject": about, "type": kind, "reason": reason, "message": message[:1000], "count": 1}
        body |= {"firstTimestamp": now, "lastTimestamp": now, "reportingComponent": "kubelet"}
        body |= {"source": {"component": "kubelet", "host": pod["spec"].get("nodeName", "")}}
        self.client.request("POST", path, body)
        if len(self.known) >= MOST_REMEMBERED:
            self.known.clear()
        self.known[same] = (name, 1)
