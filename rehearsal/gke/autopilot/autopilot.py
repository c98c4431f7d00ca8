"""The pools that an Autopilot cluster makes by itself for pods that fit nowhere, and takes away when their last node has gone.

What a pod may ask for by its node selector (accelerator, topology, Spot, a specific reservation, flex-start): GKE's page on TPU workloads
in Autopilot (docs/how-to/tpus-autopilot). Autopilot is node auto-provisioning without limits (docs/concepts/node-auto-provisioning), so
its pools are called as those of auto-provisioning (`nap-1acv0bno`); a slice of several hosts is a pool of its own there as everywhere.
Names repeat when a pool has gone, so that a pool that could not be made rests under its name.

Not simulated: Autopilot's changes of what pods ask for, its moving of pods to fewer nodes, and how it keeps other pods off Spot nodes.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator

from rehearsal.gcp.container import pools
from rehearsal.gcp.container.names import BASE
from rehearsal.gcp.core import ApiError, CloudState, Object
from rehearsal.gcp.machines import TPUS, Machine, hosts, offered, region_of, zones
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gke.autoscaler import scale_up, scheduling
from rehearsal.gke.autoscaler.scale_up import Plan, Take
from rehearsal.gke.autoscaler.scheduling import Bin

TPU = "google.com/tpu"
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
ZONE = "topology.kubernetes.io/zone"
SPOT = "cloud.google.com/gke-spot"
FLEX_START = "cloud.google.com/gke-flex-start"
LONGEST_RUN = "cloud.google.com/gke-max-run-duration-seconds"
RESERVATION = "cloud.google.com/reservation-name"
AFFINITY = "cloud.google.com/reservation-affinity"

_SIZES = (2, 4, 8, 16, 32)
"""vCPUs of the machines for pods without chips."""
_MOST_NODES = 1000
"""Of an auto-provisioned pool (concepts/node-auto-provisioning)."""
_LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


def plan(
    world: CloudState, cluster: Object, unhelped: list[tuple[Object, Counter[str]]], bins: list[Bin], take: Take, resting: set[str]
) -> Plan:  # fmt: skip
    """Pools to make for pods that no pool there can help, each with its first nodes. `bins` are all nodes, also those to come, and receive
    the pods; the pools of the growths are not stored yet."""
    found = Plan()
    made: dict[str, Object] = {}
    for pod, reasons in unhelped:
        if scheduling.place(pod, bins) is not None:
            continue
        drafted: dict[str, Object] = {}
        attempt = _attempt(pod, bins, made, take, resting)
        if not attempt.growths:
            found.short += attempt.short
            reasons += attempt.unhelped[0][1]
            drafted = {pool["_name"]: pool for pool in _drafts(world, cluster, pod, set(made))}
            attempt = _attempt(pod, bins, drafted, take, resting)
        found.short += attempt.short
        if attempt.growths:
            found.growths += attempt.growths
            made |= {g.pool["_name"]: (made | drafted)[g.pool["_name"]] for g in attempt.growths}
        else:
            reasons += attempt.unhelped[0][1]
            found.unhelped.append((pod, reasons))
    return found


def _attempt(pod: Object, bins: list[Bin], pools: dict[str, Object], take: Take, resting: set[str]) -> Plan:
    """The plan that helps one pod by growing `pools`."""
    plan = Plan()
    scale_up.help_pod(pod, bins, pools, take, resting, plan)
    return plan


def store(world: CloudState, pool: Object) -> None:
    """Writes down a pool that a plan made, without its nodes."""
    if world.store.get("pools", pool["_name"]) is None:
        world.store.put("pools", pool["_name"], {**pool, "_members": [], "_size": 0})


def forget_empty(world: CloudState, there: dict[str, Object], nodes: dict[str, Object]) -> None:
    """Deletes Autopilot's pools that have no node left, neither wanted nor there. `there` and `nodes` are what a look saw."""
    named = {node["metadata"]["labels"].get("cloud.google.com/gke-nodepool") for node in nodes.values()}
    for name, seen in there.items():
        if not seen.get("_autopilot") or seen["name"] in named:
            continue
        with world.store.lock:
            pool = world.store.get("pools", name)
            if pool is not None and not pool_nodes.of(pool):
                world.store.delete("pools", name)


# -- which pools would do ---------------------------------------------------------------------------------------------


def _drafts(world: CloudState, cluster: Object, pod: Object, taken: set[str]) -> Iterator[Object]:
    """Every pool that Autopilot could make for a pod, without nodes; those that GKE would refuse are left out."""
    selector = pod["spec"].get("nodeSelector") or {}
    for stated, zone in _wanted(cluster, pod, selector):
        stated = {**stated, "locations": [zone], "config": {**_config(cluster, selector), **stated["config"]}}
        name = _name(world, cluster, stated, taken)
        full = f"{cluster['_name']}/nodePools/{name}"
        try:
            pool = pools.prepare(world, {"name": name, **stated}, cluster, full, f"{BASE}/v1/{full}")
        except ApiError:
            continue
        yield {**pool, "status": "RUNNING", "_autopilot": True}


def _wanted(cluster: Object, pod: Object, selector: dict[str, str]) -> Iterator[tuple[Object, str]]:
    """(what is stated of a pool, its zone) for a pod with chips or without."""
    chips = int(scheduling.requests(pod["spec"]).get(TPU, 0))
    if chips:
        for machine in TPUS.values():
            if machine.accelerator == selector.get(ACCELERATOR) and machine.chips == chips:
                yield from (
                    (pool, zone) for pool in _slice(machine, selector) for zone in _zones(cluster, machine, selector)
                )
        return
    for size in _SIZES:
        plain = {"config": {"machineType": f"e2-standard-{size}"}, "autoscaling": _up_to(_MOST_NODES)}
        yield plain, selector.get(ZONE, cluster["locations"][0])


def _slice(machine: Machine, selector: dict[str, str]) -> Iterator[Object]:
    topology = selector.get(TOPOLOGY, "")
    count = hosts(machine, topology)
    config = {"machineType": machine.name}
    if count == 1:
        yield {"config": config, "autoscaling": _up_to(_MOST_NODES)}
    elif count is not None:
        yield {"config": config, "autoscaling": _up_to(count), "placementPolicy": {"tpuTopology": topology}}


def _zones(cluster: Object, machine: Machine, selector: dict[str, str]) -> list[str]:
    there = [zone for zone in zones(region_of(cluster["location"])) if offered(machine.name, zone)]
    return [zone for zone in there if selector.get(ZONE, zone) == zone]


def _up_to(most: int) -> Object:
    return {"enabled": True, "minNodeCount": 0, "maxNodeCount": most, "autoprovisioned": True}


def _config(cluster: Object, selector: dict[str, str]) -> Object:
    """What all nodes of an Autopilot cluster have, and what a pod's selector asks for: the account and the tags are the cluster's."""
    nodes = cluster["autoscaling"]["autoprovisioningNodePoolDefaults"]
    found: Object = {"serviceAccount": nodes["serviceAccount"], "oauthScopes": nodes["oauthScopes"]}
    tags = cluster.get("nodePoolAutoConfig", {}).get("networkTags", {}).get("tags", [])
    if tags:
        found["tags"] = tags
    if selector.get(SPOT) == "true":
        found["spot"] = True
    if selector.get(FLEX_START) == "true":
        found["flexStart"] = True
    if LONGEST_RUN in selector:
        found["maxRunDuration"] = f"{selector[LONGEST_RUN]}s"
    if RESERVATION in selector:
        found["reservationAffinity"] = {
            "consumeReservationType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": [selector[RESERVATION]],
        }
        found["labels"] = {RESERVATION: selector[RESERVATION], AFFINITY: "specific"}
    return found


def _name(world: CloudState, cluster: Object, stated: Object, taken: set[str]) -> str:
    """The first name for such a pool that no pool of the cluster has."""
    for n in range(_MOST_NODES):
        value = int(hashlib.sha256(f"{cluster['_name']} {sorted(stated.items())} {n}".encode()).hexdigest(), 16)
        name = "nap-" + "".join(_LETTERS[value // len(_LETTERS) ** k % len(_LETTERS)] for k in range(8))
        full = f"{cluster['_name']}/nodePools/{name}"
        if full not in taken and world.store.get("pools", full) is None:
            return name
    raise AssertionError("an Autopilot cluster has more pools of one kind than a cluster can have nodes")
