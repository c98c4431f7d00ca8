"""Keeps a cluster's Node objects as its pools say: registers, re-registers, relabels, drains and removes them."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from rehearsal.gcp.core import CloudState, Object
from rehearsal.gcp.nodes import shapes
from rehearsal.host.network import ClusterNetwork

KEEP_EVERY_S = 5.0
DRAIN_TIMEOUT_S = 60.0
RETRY_S = 30.0
POOL = "cloud.google.com/gke-nodepool"
MACHINE = "node.kubernetes.io/instance-type"

_lock = threading.RLock()
"""One change of nodes at a time: places in the address plan are handed out from what is there."""


def _cluster(world: CloudState, pool: Object) -> Object:
    return world.store.get("clusters", pool["_cluster"]) or {}


@contextmanager
def _api(cluster: Object) -> Iterator[client.CoreV1Api]:
    with config.new_client_from_config(cluster["_kubeconfig"]) as api:
        yield client.CoreV1Api(api)


def apply(world: CloudState, pool: Object) -> None:
    """Makes the nodes of a pool what the pool says, and waits for it. Without a backend there is nothing to do."""
    cluster = _cluster(world, pool)
    if world.settings.backend is None or "_kubeconfig" not in cluster:
        return
    wanted = _booted(pool)
    with _api(cluster) as core:
        present = {n.metadata.name: n for n in core.list_node(label_selector=f"{POOL}={pool['name']}").items}
        machine = pool["config"]["machineType"]
        other = {name for name, n in present.items() if n.metadata.labels.get(MACHINE) != machine}
        _drain_and_remove(core, sorted((set(present) - set(wanted)) | other))
        with _lock:
            for name, zone in wanted.items():
                if name not in present or name in other:
                    _register(core, cluster, pool, name, zone)
                else:
                    _relabel(core, pool, present[name], zone)
        _await_ready(core, set(wanted))


def _booted(pool: Object) -> dict[str, str]:
    """Zones by the names of the nodes that should be there by now."""
    now = time.time()
    return {name: member.zone for name, member in shapes.named(pool).items() if member.ready_at <= now}


def _register(core: client.CoreV1Api, cluster: Object, pool: Object, name: str, zone: str) -> None:
    network = ClusterNetwork(cluster["_index"])
    taken = {int(n.spec.pod_cidr.split(".")[2]) for n in core.list_node().items if n.spec.pod_cidr}
    place = next(n for n in range(1, 250) if n not in taken)
    made, status = shapes.node(pool, name, zone, place, network, pool["version"])
    core.create_node(made)
    core.patch_node_status(name, {"status": status})


def _relabel(core: client.CoreV1Api, pool: Object, node: Any, zone: str) -> None:
    """Labels and taints that the pool gained or lost; what others put on the node stays."""
    wanted, notes = shapes.labels(pool, node.metadata.name, zone), shapes.applied(pool)
    before = node.metadata.annotations or {}
    known = {pair.split("=")[0] for pair in before.get(shapes.LABELS_APPLIED, "").split(",") if pair}
    labels: Object = {**{key: None for key in known - set(wanted)}, **wanted}
    if all(before.get(key) == value for key, value in notes.items()) and wanted.items() <= node.metadata.labels.items():
        return
    ours = set(before.get(shapes.TAINTS_APPLIED, "").split(","))
    others = [
        {"key": t.key, "value": t.value or "", "effect": t.effect}
        for t in node.spec.taints or []
        if f"{t.key}={t.value or ''}:{t.effect}" not in ours
    ]
    body = {"metadata": {"labels": labels, "annotations": notes}, "spec": {"taints": [*others, *shapes.taints(pool)]}}
    core.patch_node(node.metadata.name, body, _content_type="application/merge-patch+json")


def _await_ready(core: client.CoreV1Api, names: set[str]) -> None:
    deadline = time.monotonic() + RETRY_S
    while time.monotonic() < deadline:
        ready = {
            n.metadata.name
            for n in core.list_node().items
            if any(c.type == "Ready" and c.status == "True" for c in n.status.conditions or [])
        }
        if names <= ready:
            return
        time.sleep(0.1)


def remove(world: CloudState, pool: Object) -> None:
    """Drains and removes a pool's nodes."""
    cluster = _cluster(world, pool)
    if world.settings.backend is None or "_kubeconfig" not in cluster:
        return
    with _api(cluster) as core:
        with _lock:  # a node that is being registered at this moment is seen; later ones see the pool's status
            there = core.list_node(label_selector=f"{POOL}={pool['name']}").items
        _drain_and_remove(core, [n.metadata.name for n in there])


def retire(world: CloudState, pool: Object, names: list[str]) -> None:
    """Takes away nodes that the pool no longer has: drained as Google does it before it stops a machine."""
    cluster = _cluster(world, pool)
    if "_kubeconfig" in cluster:
        with _api(cluster) as core:
            _drain_and_remove(core, names)


def _drain_and_remove(core: client.CoreV1Api, names: list[str]) -> None:
    """Cordons the nodes, deletes their pods with their own grace, and takes the nodes away when the pods are gone. Pods of DaemonSets go
    with their node: deleted before it, they would come back."""
    for name in names:
        _tolerating_absence(core.patch_node, name, {"spec": {"unschedulable": True}})
    for name in names:
        for pod in _drained(core, name):
            _tolerating_absence(core.delete_namespaced_pod, pod.metadata.name, pod.metadata.namespace)
    deadline = time.monotonic() + DRAIN_TIMEOUT_S
    while names and time.monotonic() < deadline:
        if not any(_drained(core, name) for name in names):
            break
        time.sleep(0.2)
    for name in names:
        _tolerating_absence(core.delete_node, name)


def _drained(core: client.CoreV1Api, node: str) -> list[Any]:
    pods = core.list_pod_for_all_namespaces(field_selector=f"spec.nodeName={node}").items
    return [p for p in pods if not any(o.kind == "DaemonSet" for o in p.metadata.owner_references or [])]


def _tolerating_absence(call: Any, *arguments: Any) -> None:
    try:
        call(*arguments)
    except client.ApiException as error:
        if error.status != 404:
            raise


def keep(world: CloudState) -> None:
    """Auto-repair: a node that is gone while its pool runs comes back. Runs until the server ends."""
    while not world.over.wait(KEEP_EVERY_S):
        for name in world.store.names("pools"):
            try:
                repair(world, name)
            except (client.ApiException, HTTPError, OSError):
                continue  # the control plane is away; the next round looks again
            except Exception:  # noqa: BLE001 this loop must outlive any surprise
                traceback.print_exc()


def repair(world: CloudState, name: str) -> None:
    """Registers the nodes that a pool should have by now and that are not there. It looks at the pool only under the lock under which
    nodes change, so that it never brings back what a resize took away."""
    with _lock:
        pool = world.store.get("pools", name) or {}
        cluster = _cluster(world, pool) if pool else {}
        if (pool.get("status"), cluster.get("status")) != ("RUNNING", "RUNNING") or "_kubeconfig" not in cluster:
            return
        with _api(cluster) as core:
            present = {n.metadata.name for n in core.list_node(label_selector=f"{POOL}={pool['name']}").items}
            for node, zone in _booted(pool).items():
                if node not in present:
                    _register(core, cluster, pool, node, zone)
