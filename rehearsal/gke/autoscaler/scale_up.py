"""Which pools should grow for which pods, and which nodes are no longer needed. Pure functions.

How GKE decides: cloud.google.com/kubernetes-engine/docs/concepts/cluster-autoscaler; that the hosts of a TPU slice come and go together:
.../docs/concepts/tpus. The reasons are those that the autoscaler writes into its events.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rehearsal.gcp.core import Object
from rehearsal.gcp.machines import MACHINES, hosts
from rehearsal.gcp.nodes import pool_nodes
from rehearsal.gke.autoscaler import scheduling
from rehearsal.gke.autoscaler.scheduling import Bin

MAX_REACHED = "max node group size reached"
BACKOFF = "in backoff after failed scale-up"
CONSUMES = "autoscaling.x-k8s.io/consume-provisioning-request"
CONSUMES_OLD = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"
"""Annotations of pods that wait for a ProvisioningRequest: no other scale-up is made for them."""


@dataclass
class Growth:
    """`count` more nodes of a pool in a zone, the pods for which they come, and why they do not come if they do not."""

    pool: Object
    zone: str
    count: int
    pods: list[Object] = field(default_factory=list)
    why_not: str = ""


@dataclass
class Plan:
    """What to do for the pods that fit nowhere: growths, growths for which Google has no machines, and why the rest is not helped."""

    growths: list[Growth] = field(default_factory=list)
    short: list[Growth] = field(default_factory=list)
    unhelped: list[tuple[Object, Counter[str]]] = field(default_factory=list)


Take = Callable[[Object, str, int], str]
"""Takes machines for so many more nodes of a pool in a zone; why Google does not give them, or ""."""


def slice_hosts(pool: Object) -> int | None:
    """How many nodes of a pool come and go together; None when they come one by one."""
    topology = pool.get("placementPolicy", {}).get("tpuTopology")
    machine = MACHINES[pool["config"]["machineType"]]
    return hosts(machine, topology) if topology and machine.chips else None


def is_queued(pool: Object) -> bool:
    return bool(pool.get("queuedProvisioning", {}).get("enabled"))


def is_scaled(pool: Object) -> bool:
    return bool(pool.get("autoscaling", {}).get("enabled"))


def space(pool: Object, zone: str) -> int:
    """How many more nodes a pool may have in a zone by its autoscaling limits."""
    scaling = pool.get("autoscaling", {})
    total = int(scaling.get("totalMaxNodeCount") or 0)
    if total:
        return max(0, total - len(pool_nodes.of(pool)))
    return max(0, int(scaling.get("maxNodeCount") or 0) - pool_nodes.in_zone(pool, zone))


def unit(pool: Object, zone: str) -> int:
    """The nodes of the smallest growth: a whole slice, or one; 0 when the pool is as large as it may be."""
    whole = slice_hosts(pool)
    least = 1 if whole is None else whole
    return least if space(pool, zone) >= least else 0


def zones(pool: Object) -> list[str]:
    """The order in which zones are tried: BALANCED evens them out, ANY takes what there is."""
    if pool.get("autoscaling", {}).get("locationPolicy") == "ANY":
        return list(pool["locations"])
    return sorted(pool["locations"], key=lambda zone: (pool_nodes.in_zone(pool, zone), zone))


def waiting(pods: Iterable[Object]) -> list[Object]:
    """The pods that the scheduler found no node for, oldest first, without those that wait for a ProvisioningRequest."""
    found = [pod for pod in pods if _unschedulable(pod) and not _consumes(pod)]
    return sorted(found, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))


def _unschedulable(pod: Object) -> bool:
    if (
        pod["spec"].get("nodeName")
        or pod["metadata"].get("deletionTimestamp")
        or pod["status"].get("phase") != "Pending"
    ):
        return False
    conditions = pod["status"].get("conditions", [])
    return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in conditions)


def _consumes(pod: Object) -> bool:
    return any(key in (pod["metadata"].get("annotations") or {}) for key in (CONSUMES, CONSUMES_OLD))


def plan(pods: list[Object], bins: list[Bin], pools: list[Object], take: Take, resting: set[str]) -> Plan:
    """`bins` are all nodes, also those to come, and receive the pods; `resting` names pools in backoff and receives more."""
    found = Plan()
    by_name = {pool["_name"]: pool for pool in pools if is_scaled(pool)}
    for pod in pods:
        if scheduling.place(pod, bins) is None:
            help_pod(pod, bins, by_name, take, resting, found)
    return found


def help_pod(
    pod: Object, bins: list[Bin], pools: dict[str, Object], take: Take, resting: set[str], found: Plan
) -> None:
    """Grows the first of `pools`, by full name, that would take the pod, the cheapest machines first; else notes why none does."""
    reasons: Counter[str] = Counter()
    for pool in sorted(pools.values(), key=_cost):
        for zone in zones(pool):
            reason = _refusal(pool, zone, pod, bins, resting)
            if reason:
                reasons[reason] += 1
                continue
            growth = Growth(pool, zone, unit(pool, zone), [pod])
            growth.why_not = take(pool, zone, growth.count)
            if growth.why_not:
                found.short.append(growth)
                resting.add(pool["_name"])
                continue
            bins.extend(scheduling.to_come(pool, zone, f"to-come-{len(bins) + k}") for k in range(growth.count))
            scheduling.place(pod, bins)
            pools[pool["_name"]] = pool_nodes.grown(pool, zone, growth.count, pool_nodes.Member(0, zone))
            found.growths.append(growth)
            return
    found.unhelped.append((pod, reasons))


def _refusal(pool: Object, zone: str, pod: Object, bins: list[Bin], resting: set[str]) -> str:
    reason = scheduling.why_not(scheduling.to_come(pool, zone, "to-come"), pod, bins)
    if is_queued(pool) and not reason:
        return "node group is scaled up for ProvisioningRequests only"
    if reason:
        return reason
    if pool["_name"] in resting:
        return BACKOFF
    return "" if unit(pool, zone) else MAX_REACHED


def _cost(pool: Object) -> tuple[int, int, str]:
    machine = MACHINES[pool["config"]["machineType"]]
    return machine.chips * (slice_hosts(pool) or 1), machine.cpus, pool["name"]


# -- nodes that are no longer needed ----------------------------------------------------------------------------------


def is_idle(node: Bin) -> bool:
    """Whether nothing would be lost with a node: only pods of DaemonSets are on it, or none."""
    return all(_of_every_node(pod) for pod in node.pods)


def _of_every_node(pod: Object) -> bool:
    metadata = pod["metadata"]
    return "kubernetes.io/config.mirror" in (metadata.get("annotations") or {}) or any(
        owner["kind"] == "DaemonSet" for owner in metadata.get("ownerReferences") or []
    )


def unneeded(
    pool: Object, idle: dict[str, float], named: dict[str, pool_nodes.Member], now: float, idle_s: float
) -> set[str]:
    """The nodes to take away: idle for `idle_s`, all hosts of a slice or none, and never below the pool's minimum. `idle` says since when
    which nodes are idle; `named` are the pool's members by node name."""
    ripe = {name for name in named if name in idle and now - idle[name] >= idle_s}
    scaling = pool.get("autoscaling", {})
    if slice_hosts(pool) is not None:
        least = int(scaling.get("minNodeCount") or scaling.get("totalMinNodeCount") or 0)
        return ripe if len(ripe) == len(named) and least == 0 else set()
    gone: set[str] = set()
    total = int(scaling.get("totalMinNodeCount") or 0)
    for zone in pool["locations"]:
        here = sorted(name for name in ripe if named[name].zone == zone)
        spare = pool_nodes.in_zone(pool, zone) - int(scaling.get("minNodeCount") or 0)
        spare = min(spare, len(named) - len(gone) - total)
        gone |= set(here[: max(0, spare)])
    return gone
