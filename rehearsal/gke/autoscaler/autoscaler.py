"""GKE's cluster autoscaler: one look a second at each cluster that has autoscaled pools.

It decides with the pure functions of growth.py and provisioning.py and changes pools through changes.py; nodes.py makes the nodes. What it
remembers between looks (since when a node is idle, which pool is in backoff) is lost when it ends, as with the real one.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.gcp import capacity
from rehearsal.gcp.container.autopilot import is_autopilot
from rehearsal.gcp.core import CloudState, Object
from rehearsal.gcp.nodes import shapes
from rehearsal.gke.autopilot import autopilot
from rehearsal.gke.autoscaler import pool_store, scale_up, scheduling
from rehearsal.gke.autoscaler.scale_events import Events
from rehearsal.gke.autoscaler.scheduling import Bin
from rehearsal.gke.nodes import nodes
from rehearsal.gke.provisioning import provisioning_queue
from rehearsal.gke.provisioning.provisioning import LIVE
from rehearsal.kubernetes.kubeapi import KubeApi

LOOK_EVERY_S = 1.0
_MARK = "ToBeDeletedByClusterAutoscaler"


@dataclass
class Memory:
    """What is remembered of one cluster between looks."""

    api: KubeApi
    events: Events
    idle: dict[str, float] = field(default_factory=dict)
    rests_until: dict[str, float] = field(default_factory=dict)
    missing: dict[str, float] = field(default_factory=dict)
    going: set[str] = field(default_factory=set)


@dataclass
class Look:
    """One look at a cluster: its pools by full name, its Node objects by name, all pods, and the nodes with what is left of them."""

    cluster: str
    now: float
    pools: dict[str, Object]
    nodes: dict[str, Object]
    pods: list[Object]
    bins: list[Bin]

    def ready(self) -> set[str]:
        return {node.name for node in self.bins if not node.upcoming}


def keep(world: CloudState) -> None:
    """Looks until the server ends."""
    memories: dict[str, Memory] = {}
    while not world.over.wait(LOOK_EVERY_S):
        there = {cluster["_name"]: cluster for cluster in world.store.list("clusters")}
        provisioning_queue.forget(world, set(there))
        for name in set(memories) - set(there):
            del memories[name]
        for name, cluster in there.items():
            try:
                _visit(world, cluster, memories)
            except client.ApiException:
                continue  # something went between the list and the change; the next look sees what is there
            except (HTTPError, OSError):
                memories.pop(name, None)  # the control plane is away; the next look starts anew
            except Exception:  # noqa: BLE001 this loop must outlive any surprise
                traceback.print_exc()


def _visit(world: CloudState, cluster: Object, memories: dict[str, Memory]) -> None:
    name = cluster["_name"]
    pools = {pool["_name"]: pool for pool in world.store.list("pools", f"{name}/nodePools/")}
    touched = is_autopilot(cluster) or any(scale_up.is_scaled(pool) or "_members" in pool for pool in pools.values())
    if cluster.get("status") not in ("RUNNING", "RECONCILING") or "_kubeconfig" not in cluster or not touched:
        return
    if name not in memories:
        api = KubeApi(cluster["_kubeconfig"])
        memories[name] = Memory(api, Events(api))
    memory = memories[name]
    look = see(memory.api, name, pools)
    booked = provisioning_queue.serve(world, memory.api, look, memory.missing)
    _grow(world, memory, look, cluster)
    _register(world, look)
    _end(world, look)
    _shrink(world, memory, look, booked)
    _sweep(world, memory, look)
    autopilot.forget_empty(world, look.pools, look.nodes)


def see(api: KubeApi, cluster: str, pools: dict[str, Object]) -> Look:
    """Lists from the API server's cache (resourceVersion 0): what a look misses, the next one sees. A node that has not told yet what it
    has is one that is still to come, as for GKE's autoscaler: as it is, no pod would fit it."""
    there = {node["metadata"]["name"]: node for node in api.list("/api/v1/nodes", resourceVersion="0")}
    told = {name: node for name, node in there.items() if node.get("status", {}).get("allocatable")}
    pods = api.list("/api/v1/pods", resourceVersion="0")
    on: dict[str, list[Object]] = defaultdict(list)
    for pod in pods:
        if pod["spec"].get("nodeName") and pod["status"].get("phase") not in ("Succeeded", "Failed"):
            on[pod["spec"]["nodeName"]].append(pod)
    bins = [scheduling.of_node(node, on[name]) for name, node in told.items() if not node["spec"].get("unschedulable")]
    for pool in pools.values():
        bins += [
            scheduling.to_come(pool, member.zone, name)
            for name, member in shapes.named(pool).items()
            if name not in told
        ]
    return Look(cluster, time.time(), pools, there, pods, bins)


# -- more nodes -------------------------------------------------------------------------------------------------------


def _grow(world: CloudState, memory: Memory, look: Look, cluster: Object) -> None:
    waiting = scale_up.waiting(look.pods)
    if not waiting:
        return
    resting = {name for name, until in memory.rests_until.items() if until > look.now}
    able = [pool for pool in look.pools.values() if pool.get("status") in LIVE]
    take = _ledger(world)
    plan = scale_up.plan(waiting, look.bins, able, take, resting)
    _carry_out(world, memory, look, plan)
    if is_autopilot(cluster):
        more = autopilot.plan(world, cluster, plan.unhelped, look.bins, take, resting)
        for wanted in more.growths:
            autopilot.store(world, wanted.pool)
        _carry_out(world, memory, look, more)
        plan.unhelped = more.unhelped
    for pod, reasons in plan.unhelped:
        memory.events.not_triggered(pod, reasons)


def _carry_out(world: CloudState, memory: Memory, look: Look, plan: scale_up.Plan) -> None:
    for wanted in plan.growths:
        if pool_store.grow(world, wanted):
            memory.events.triggered(wanted)
    for short in plan.short:
        memory.events.triggered(short)
        memory.events.failed(short)
        memory.rests_until[short.pool["_name"]] = look.now + capacity.seconds(world, "backoff_s")


def _ledger(world: CloudState) -> scale_up.Take:
    """Takes machines in thought: growths of one plan share what the capacity table has. A fault of the pool is used up."""
    taken: Counter[tuple[str, str, str]] = Counter()

    def take(pool: Object, zone: str, count: int) -> str:
        if world.fault("quota", "", pool["name"]):
            return "GCE quota exceeded"
        key = (zone, capacity.family(pool), capacity.kind(pool))
        wanted = taken[key] + count * capacity.chips(pool)
        if world.fault("stockout", "", pool["name"]) or not capacity.room(world, pool, zone).takes(wanted):
            return "GCE out of resources"
        taken[key] = wanted
        return ""

    return take


def _register(world: CloudState, look: Look) -> None:
    """Nodes that have booted by now appear."""
    for name, pool in look.pools.items():
        booted = (node for node, member in shapes.named(pool).items() if member.ready_at <= look.now)
        if "_members" in pool and any(node not in look.nodes for node in booted):
            nodes.repair(world, name)


# -- fewer nodes ------------------------------------------------------------------------------------------------------


def _end(world: CloudState, look: Look) -> None:
    """Google takes away the nodes whose longest run is over, whatever runs on them."""
    for name, pool in look.pools.items():
        over = {
            (m.zone, m.n) for m in shapes.named(pool).values() if m.ends_at is not None and m.ends_at <= look.now
        }  # fmt: skip
        if over:
            pool_store.take(world, name, over)


def _sweep(world: CloudState, memory: Memory, look: Look) -> None:
    """Drains and deletes the nodes that their pools no longer name, in the background; also those that an earlier life left."""
    for name in look.pools:
        pool = world.store.get("pools", name)  # as it is now: the nodes were listed after the look's pools
        if pool is None or "_members" not in pool or pool.get("status") not in LIVE:
            continue
        named = shapes.named(pool)
        here = {n for n, node in look.nodes.items() if node["metadata"]["labels"].get(nodes.POOL) == pool["name"]}
        gone = here - set(named) - memory.going
        if gone:
            memory.going |= gone
            threading.Thread(target=_retire, args=(world, memory, pool, sorted(gone)), daemon=True).start()


def _retire(world: CloudState, memory: Memory, pool: Object, gone: list[str]) -> None:
    try:
        nodes.retire(world, pool, gone)
    except (client.ApiException, HTTPError, OSError):
        return  # the next look sees the nodes again, if there is still a cluster
    finally:
        memory.going -= set(gone)


def _shrink(world: CloudState, memory: Memory, look: Look, booked: set[str]) -> None:
    """Takes idle nodes from their pools; those of the resize requests in `booked` stay."""
    idle = {node.name for node in look.bins if not node.upcoming and scale_up.is_idle(node)}
    memory.idle = {name: memory.idle.get(name, look.now) for name in idle}
    for name, pool in look.pools.items():
        if not scale_up.is_scaled(pool) or pool.get("status") not in LIVE:
            continue
        named = shapes.named(pool)
        free = {
            node: since for node, since in memory.idle.items() if node in named and named[node].request not in booked
        }
        gone = scale_up.unneeded(pool, free, named, look.now, capacity.seconds(world, "idle_s"))
        if not gone or not _marked(memory.api, gone):
            continue
        if pool_store.take(world, name, {(named[node].zone, named[node].n) for node in gone}) is None:
            _unmark(memory.api, gone)
            continue
        for node in gone:
            memory.events.scaled_down(look.nodes[node])


def _marked(api: KubeApi, names: set[str]) -> bool:
    """Keeps new pods off nodes that are to go; False, and all as before, when a pod was faster."""
    mark = {"key": _MARK, "value": str(int(time.time())), "effect": "NoSchedule"}
    for name in names:
        api.call("PATCH", f"/api/v1/nodes/{name}", {"spec": {"taints": [mark]}}, patch="strategic-merge")
    taken = [pod for name in names for pod in api.list("/api/v1/pods", fieldSelector=f"spec.nodeName={name}")]
    running = [pod for pod in taken if pod["status"].get("phase") not in ("Succeeded", "Failed")]
    if scale_up.is_idle(Bin("", "", {}, [], {}, running)):
        return True
    _unmark(api, names)
    return False


def _unmark(api: KubeApi, names: set[str]) -> None:
    undo = {"spec": {"taints": [{"key": _MARK, "effect": "NoSchedule", "$patch": "delete"}]}}
    for name in names:
        api.call("PATCH", f"/api/v1/nodes/{name}", undo, patch="strategic-merge")
