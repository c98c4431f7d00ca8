"""Plays Ray in one cluster: follows its pods, and lets time pass for the jobs of its heads."""

from __future__ import annotations

import subprocess
import threading
import traceback
from datetime import UTC, datetime
from pathlib import Path

from rehearsal.gke.ray.simulator import submitters, view
from rehearsal.gke.ray.simulator.heads import Head
from rehearsal.host.layout import Layout
from rehearsal.kubernetes import image_table
from rehearsal.kubernetes.client import ApiError, Client
from rehearsal.kubernetes.image_table import read_table
from rehearsal.kubernetes.reflector import Reflector

TICK_S = 0.3
"""How often time passes when nothing happens to a pod."""
MERGE = "application/merge-patch+json"


class Player:
    """`state` is where the jobs of each head are kept."""

    def __init__(self, client: Client, layout: Layout, state: Path) -> None:
        self.client, self.layout, self.state = client, layout, state
        self.images = image_table.load(layout.images)
        self.wake, self.over = threading.Event(), False
        self.pods = Reflector(client, "/api/v1/pods", self._changed)
        self.heads: dict[str, Head] = {}

    def end(self) -> None:
        self.over = True
        self.wake.set()

    def _played(self, pod: view.Object) -> bool:
        """Whether a pod is one of Ray's that no local program runs."""
        ray = view.cluster(pod)[1] != "" or submitters.submits(pod)
        return ray and not image_table.runs_here(pod, self.images)

    def _changed(self, old: view.Object | None, new: view.Object | None) -> None:
        pod = new if new is not None else old
        if pod is not None and self._played(pod):
            self.wake.set()

    def run(self) -> None:
        """Plays until `end`. The jobs of heads that still run are taken up by the next life."""
        self.pods.start()
        self.pods.synced.wait()
        while not self.over:
            self.wake.wait(TICK_S)
            self.wake.clear()
            try:
                self._tick([pod for pod in self.pods.all() if self._played(pod)])
            except (ApiError, OSError, subprocess.CalledProcessError):
                traceback.print_exc()  # the next round looks again
        for head in self.heads.values():
            head.stop(forget=False)

    def _tick(self, pods: list[view.Object]) -> None:
        running = {p["metadata"]["uid"]: p for p in pods if view.is_head(p) and view.started(p)}
        for uid in self.heads.keys() - running.keys():
            self.heads.pop(uid).stop(forget=True)
        for uid in running.keys() - self.heads.keys():
            head = Head(running[uid], self.state)
            head.start()
            self.heads[uid] = head
        for pod in running.values():
            if view.unready(pod):
                self._patch(pod, view.made_ready(pod, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")))
        for pod in pods:
            if view.runs(pod):
                self._submit(pod)
        for uid, head in self.heads.items():
            if any(not job.over for job in head.jobs.all()):
                self._advance(head, running[uid], pods)

    def _advance(self, head: Head, pod: view.Object, pods: list[view.Object]) -> None:
        namespace, name = head.cluster
        found = self.client.get(f"/apis/ray.io/v1/namespaces/{namespace}/rayclusters/{name}")
        if found is not None:
            duration = read_table(self.layout)[1]
            head.jobs.advance(view.workers(pods, head.cluster), view.wanted(found), duration, view.fails(pod))

    # -- submitters ---------------------------------------------------------------------------------------------------

    def _submit(self, pod: view.Object) -> None:
        """Does what the command of a submitter does; a pod without one is left alone."""
        wanted = submitters.submission(pod)
        if wanted is None or not submitters.running(pod, wanted.container):
            return
        own = self.heads.get(pod["metadata"]["uid"])
        head = own if wanted.service is None else self._head_behind(*wanted.service)
        job = head.jobs.get(wanted.submission_id) if head else None
        if head is None:
            over = submitters.seconds(pod) > submitters.NO_HEAD_S
        elif job is None:
            over = False
            head.jobs.submit(wanted.request)
        else:
            over = job.over
        if over:
            self._patch(pod, submitters.ended(pod, wanted.container, wanted.exit_code(job)))

    def _head_behind(self, namespace: str, name: str) -> Head | None:
        """The head that a Service leads to."""
        service = self.client.get(f"/api/v1/namespaces/{namespace}/services/{name}")
        chosen = ((service or {}).get("spec", {}).get("selector") or {}).get("ray.io/cluster")
        return next((head for head in self.heads.values() if head.cluster == (namespace, chosen)), None)

    def _patch(self, pod: view.Object, status: view.Object) -> None:
        metadata = pod["metadata"]
        path = f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}/status"
        self.client.request("PATCH", path, {"metadata": {"uid": metadata["uid"]}, "status": status}, content_type=MERGE)
