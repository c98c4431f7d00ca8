"""The autoscaler's events about pods and nodes, in its own words (cluster-autoscaler's FAQ; GKE's visibility events).

Events are what `kubectl describe pod` shows of why a pod waits. One that says nothing new is not written again.
"""

from __future__ import annotations

import contextlib
import uuid
from collections import Counter
from collections.abc import Iterable

from kubernetes import client

from rehearsal.gcp.core import Object
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gke.autoscaler.scale_up import Growth
from rehearsal.kubernetes.kubeapi import KubeApi
from rehearsal.kubernetes.time import stamp

_REPORTER = "cluster-autoscaler"
_MOST_REMEMBERED = 2000


class Events:
    """Writes events to one cluster."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._said: set[tuple[str, str, str]] = set()

    def triggered(self, growth: Growth) -> None:
        """Pods for which a pool grows. `growth.pool` is the pool as it was before."""
        before = pool_nodes.in_zone(growth.pool, growth.zone)
        scaling = growth.pool.get("autoscaling", {})
        most = int(scaling.get("maxNodeCount") or scaling.get("totalMaxNodeCount") or 0)
        group = next(url for url in growth.pool["instanceGroupUrls"] if f"/zones/{growth.zone}/" in url)
        group = group.replace("/instanceGroupManagers/", "/instanceGroups/")
        text = f"pod triggered scale-up: [{{{group} {before}->{before + growth.count} (max: {most})}}]"
        self._about_pods(growth.pods, "Normal", "TriggeredScaleUp", text)

    def failed(self, growth: Growth) -> None:
        text = (
            f"Node scale up in zones {growth.zone} associated with this pod failed: {growth.why_not}. "
            "Pod is at risk of not being scheduled."
        )
        self._about_pods(growth.pods, "Warning", "FailedScaleUp", text)

    def not_triggered(self, pod: Object, reasons: Counter[str]) -> None:
        listed = ", ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
        self._about_pods([pod], "Normal", "NotTriggerScaleUp", f"pod didn't trigger scale-up: {listed}")

    def scaled_down(self, node: Object) -> None:
        about = {"apiVersion": "v1", "kind": "Node", "name": node["metadata"]["name"], "uid": node["metadata"]["uid"]}
        self._write("default", about, "Normal", "ScaleDown", "marked the node as toBeDeleted/unschedulable")

    def _about_pods(self, pods: Iterable[Object], kind: str, reason: str, message: str) -> None:
        for pod in pods:
            metadata = pod["metadata"]
            about = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
            self._write(metadata["namespace"], {**about, "namespace": metadata["namespace"]}, kind, reason, message)

    def _write(self, namespace: str, about: Object, kind: str, reason: str, message: str) -> None:
        said = (about["uid"], reason, message)
        if said in self._said:
            return
        if len(self._said) >= _MOST_REMEMBERED:
            self._said.clear()
        self._said.add(said)
        now = stamp()
        event = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{about['name']}.{uuid.uuid4().hex[:16]}", "namespace": namespace},
            "involvedObject": about,
            "type": kind,
            "reason": reason,
            "message": message[:1000],
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "reportingComponent": _REPORTER,
            "source": {"component": _REPORTER},
        }
        with contextlib.suppress(client.ApiException):  # an event is a courtesy; its namespace may be going
            self._api.call("POST", f"/api/v1/namespaces/{namespace}/events", event)
