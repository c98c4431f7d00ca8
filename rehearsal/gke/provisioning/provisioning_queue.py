"""Serves the ProvisioningRequests of one cluster: finds their place, brings their nodes, and writes their conditions.

Conditions and details live in the request itself. What Kubernetes does not hold (how many nodes it takes, which fault was drawn for it) is
kept in the store until the request is gone, so that a server that was killed goes on where it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Protocol

from kubernetes import client

from rehearsal.gcp import capacity
from rehearsal.gcp.core import CloudState, Object
from rehearsal.gcp.core.faults import PROVISIONING_FAULTS
from rehearsal.gcp.nodes import shapes
from rehearsal.gke.autoscaler import pool_store, scale_up
from rehearsal.gke.autoscaler.scale_up import Growth
from rehearsal.gke.provisioning import provisioning, requests
from rehearsal.gke.provisioning.provisioning import Observation, Step
from rehearsal.kubernetes.kubeapi import KubeApi

_KIND = "provisioning-requests"


class Look(Protocol):
    """What is needed of a look at a cluster (autoscaler.Look)."""

    cluster: str
    now: float
    pools: dict[str, Object]

    def ready(self) -> set[str]: ...


def serve(world: CloudState, api: KubeApi, look: Look, missing: dict[str, float]) -> set[str]:
    """Takes every request one step further, oldest first. Returns the resize requests whose nodes nothing may take away. `missing` says
    since when the pools of which requests (by uid) are gone."""
    everything = api.list(f"{requests.PATH}/provisioningrequests")
    listed = [r for r in everything if r["spec"]["provisioningClassName"] == requests.CLASS]
    _forget(world, look.cluster, {r["metadata"]["uid"] for r in listed})
    promised = _promised(world, look, listed)
    for request in sorted(listed, key=lambda r: (r["metadata"]["creationTimestamp"], r["metadata"]["name"])):
        if requests.state(request) in ("", "Pending"):
            _enqueue(world, api, look, request, promised)
        else:
            _advance(world, api, look, request, missing)
    _abandon(world, look, {requests.resize_request_of(r) for r in listed})
    return {requests.resize_request_of(r) for r in listed if requests.state(r) in ("Accepted", "Provisioned")}


def forget(world: CloudState, clusters: Iterable[str]) -> None:
    """Drops what is kept of the requests of clusters that are gone."""
    kept = tuple(f"{name}/uid/" for name in clusters)
    for name in world.store.names(_KIND):
        if not name.startswith(kept):
            world.store.delete(_KIND, name)


def _forget(world: CloudState, cluster: str, uids: set[str]) -> None:
    for name in world.store.names(_KIND, f"{cluster}/uid/"):
        if name.rsplit("/", 1)[-1] not in uids:
            world.store.delete(_KIND, name)


def _record(world: CloudState, look: Look, request: Object) -> Object:
    return world.store.get(_KIND, _key(look, request)) or {"nodes": 0, "fault": {}}


def _key(look: Look, request: Object) -> str:
    return f"{look.cluster}/uid/{request['metadata']['uid']}"


# -- into the queue ---------------------------------------------------------------------------------------------------


def _promised(world: CloudState, look: Look, listed: list[Object]) -> Counter[str]:
    """Nodes that queued requests wait for, by full name of pool: GKE counts them as if they were there."""
    there = {m.request for pool in look.pools.values() for m in shapes.named(pool).values()}
    found: Counter[str] = Counter()
    for request in listed:
        if requests.state(request) == "Accepted" and requests.resize_request_of(request) not in there:
            pool = f"{look.cluster}/nodePools/{request['status']['provisioningClassDetails']['NodePoolName']}"
            found[pool] += int(_record(world, look, request)["nodes"])
    return found


def _enqueue(world: CloudState, api: KubeApi, look: Look, request: Object, promised: Counter[str]) -> None:
    if not requests.state(request):
        _write(api, request, [requests.initial()], {})
        return
    name = requests.resize_request_of(request)
    if any(m.request == name for pool in look.pools.values() for m in shapes.named(pool).values()):
        return  # of a request of the same name that is gone: its nodes go first
    namespace = request["metadata"]["namespace"]
    template = api.get(f"/api/v1/namespaces/{namespace}/podtemplates/{requests.template_name(request)}")
    if template is None:
        return
    pod = {"metadata": {**template["template"].get("metadata", {}), "namespace": namespace}, **_spec(template)}
    outcome = provisioning.choose(request, pod, list(look.pools.values()), promised)
    fault: Object = {}
    if isinstance(outcome, Growth):
        fault = _fault(world, look, request, outcome)
        promised[outcome.pool["_name"]] += outcome.count
    observation = Observation(now=look.now, seconds=partial(capacity.seconds, world), fault=fault)
    step, told = provisioning.enqueue(request, outcome, observation)
    _write(api, request, list(step.conditions), told)


def _spec(template: Object) -> Object:
    return {"spec": template["template"]["spec"]}


def _fault(world: CloudState, look: Look, request: Object, outcome: Growth) -> Object:
    """The fault that is switched on for this pool's next request, used up by it."""
    record = world.store.get(_KIND, _key(look, request))
    if record is None:
        drawn = (world.fault(kind, "", outcome.pool["name"]) for kind in PROVISIONING_FAULTS)
        record = {"nodes": outcome.count, "fault": next((fault for fault in drawn if fault is not None), {})}
        world.store.put(_KIND, _key(look, request), record)
    found: Object = record["fault"]
    return found


# -- in the queue, and after ------------------------------------------------------------------------------------------


def _advance(world: CloudState, api: KubeApi, look: Look, request: Object, missing: dict[str, float]) -> None:
    told = request["status"].get("provisioningClassDetails")
    if not told:
        return
    record = _record(world, look, request)
    pool = look.pools.get(f"{look.cluster}/nodePools/{told['NodePoolName']}")
    if pool is not None and (pool.get("status") == "STOPPING" or not scale_up.is_queued(pool)):
        pool = None
    uid = request["metadata"]["uid"]
    if pool is None:
        missing.setdefault(uid, look.now)
    else:
        missing.pop(uid, None)
    name, zone = requests.resize_request_of(request), told["SelectedZone"]
    named = shapes.named(pool) if pool is not None else {}
    observation = Observation(
        now=look.now,
        seconds=partial(capacity.seconds, world),
        pool=pool,
        members={node: member for node, member in named.items() if member.request == name},
        ready=look.ready(),
        room=capacity.room(world, pool, zone) if pool is not None else capacity.UNLIMITED,
        chips=capacity.chips(pool) * int(record["nodes"]) if pool is not None else 0,
        fault=record["fault"],
        missing_since=missing.get(uid, look.now),
    )
    _carry_out(world, api, request, provisioning.next_step(request, observation), observation, int(record["nodes"]))


def _carry_out(
    world: CloudState, api: KubeApi, request: Object, step: Step, observation: Observation, count: int
) -> None:
    name, zone = requests.resize_request_of(request), request["status"]["provisioningClassDetails"]["SelectedZone"]
    if step.grow and observation.pool is not None:
        run_s = requests.longest_run(request, capacity.TIMES["run_s"])
        pool_store.grow(world, Growth(observation.pool, zone, count), name, run_s)
    if step.drop and observation.pool is not None:
        pool_store.take(world, observation.pool["_name"], {(m.zone, m.n) for m in observation.members.values()})
    _write(api, request, list(step.conditions), {})


def _write(api: KubeApi, request: Object, conditions: list[Object], told: dict[str, str]) -> None:
    before = request.get("status", {}).get("conditions") or []
    after = requests.with_conditions(request, conditions)
    if after == before and not told:
        return
    status: Object = {"conditions": after, **({"provisioningClassDetails": told} if told else {})}
    metadata = request["metadata"]
    path = f"{requests.PATH}/namespaces/{metadata['namespace']}/provisioningrequests/{metadata['name']}/status"
    try:
        api.call("PATCH", path, {"metadata": {"uid": metadata["uid"]}, "status": status})
    except client.ApiException as error:
        if error.status not in (404, 409):  # deleted meanwhile, or made anew under its name
            raise
    request["status"] = {**request.get("status", {}), **status}


def _abandon(world: CloudState, look: Look, live: set[str]) -> None:
    """Nodes that still boot for a request that was deleted do not come."""
    for name, pool in look.pools.items():
        gone = {
            (member.zone, member.n)
            for member in shapes.named(pool).values()
            if member.request and member.request not in live and member.ready_at > look.now
        }
        if gone:
            pool_store.take(world, name, gone)
