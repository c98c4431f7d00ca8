"""The rule that a queue gives out no more chips than its pools have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from policies.cluster import CLUSTER, POOL
from policies.model import Context, Finding, Resource
from policies.values import UNKNOWN, at, items, unknown
from settings.catalogue.accelerators import MACHINE_TYPES, MachineType
from settings.catalogue.labels import ACCELERATOR_LABEL, NODEPOOL_LABEL, TOPOLOGY_LABEL, TPU_RESOURCE

KUEUE = "kubernetes:kueue.x-k8s.io/"
POLICY = "gcp:compute/resourcePolicy:ResourcePolicy"


@dataclass(frozen=True)
class Pool:
    """The nodes of one TPU pool: the labels that GKE gives them, and their chips when the pool is at its largest."""

    labels: Mapping[str, Any]
    chips: int | None
    """None: not known yet."""


def quota_within_capacity(resources: Sequence[Resource], _: Context) -> Iterator[Finding]:
    """Jobs admitted beyond it wait for nodes that never come, and hold quota meanwhile.

    The nominal quotas of all queues that give out a flavor count together: what a queue lends is its own. On Autopilot, and
    where the pools are not of this stack, there is no capacity to compare with.
    """
    pools = tpu_pools(resources)
    if any(at(r.properties, "enableAutopilot") is True for r in resources if r.type == CLUSTER) or not pools:
        return
    flavors = {at(r.properties, "metadata", "name"): r for r in resources if _is(r, "ResourceFlavor")}
    for name, (queue, quotas) in _quotas(resources).items():
        flavor = flavors.get(name)
        if flavor is not None and quotas != [0]:
            yield from _compare(queue, name, quotas, [pool for pool in pools if _runs_on(flavor, pool)])


def _compare(queue: Resource, flavor: str, quotas: list[int | None], pools: list[Pool]) -> Iterator[Finding]:
    chips = [pool.chips for pool in pools]
    total, capacity = sum(q for q in quotas if q is not None), sum(c for c in chips if c is not None)
    remedy = f"lower the quota of flavor {flavor} to {capacity} chips, or add pools"
    if total > capacity and None not in chips:
        message = f"the queues give out {total} chips of flavor {flavor}; its pools ({len(pools)}) have {capacity}"
        yield Finding(queue, message, remedy)
    elif None in quotas or None in chips:
        yield Finding(queue, f"the chips or the quota of flavor {flavor} are not known yet", remedy, unknown=True)


def tpu_pools(resources: Iterable[Resource]) -> list[Pool]:
    """The pools of chips among the resources."""
    found = list(resources)
    machines = [
        (r, MACHINE_TYPES.get(str(at(r.properties, "nodeConfig", "machineType")))) for r in found if r.type == POOL
    ]
    return [
        Pool(_labels(pool.properties, machine, found), _chips(pool.properties, machine))
        for pool, machine in machines
        if machine is not None
    ]


def _chips(pool: Mapping[str, Any], machine: MachineType) -> int | None:
    """Counts of nodes are per zone, but for the total ones."""
    zones, scaling = at(pool, "nodeLocations"), at(pool, "autoscaling")
    per_zone = next(
        (
            count
            for count in (at(scaling, "maxNodeCount"), at(pool, "nodeCount"), at(pool, "initialNodeCount"))
            if count is not None and count != 0
        ),
        0,
    )
    total = at(scaling, "totalMaxNodeCount")
    if any(unknown(value) for value in (zones, scaling, per_zone, total)):
        return None
    nodes = total if total else per_zone * (len(zones) if zones else 1)
    return int(nodes) * machine.chips


def _labels(pool: Mapping[str, Any], machine: MachineType, resources: Iterable[Resource]) -> dict[str, Any]:
    """Those by which our flavors tell nodes apart. A name that the provider makes up is not known yet."""
    name, stated = at(pool, "name"), at(pool, "nodeConfig", "labels")
    return {
        **(stated if isinstance(stated, Mapping) else {}),
        NODEPOOL_LABEL: name if name is not None else UNKNOWN,
        ACCELERATOR_LABEL: machine.accelerator,
        TOPOLOGY_LABEL: _topology(pool, machine, resources),
    }


def _topology(pool: Mapping[str, Any], machine: MachineType, resources: Iterable[Resource]) -> Any:
    """Stated by the pool, or by the workload policy that it names (7x); a single host has that of its machine type."""
    topology, policy = at(pool, "placementPolicy", "tpuTopology"), at(pool, "placementPolicy", "policyName")
    if topology:
        return topology
    if policy:
        policies = [r.properties for r in resources if r.type == POLICY and at(r.properties, "name") == policy]
        return at(policies[0], "workloadPolicy", "acceleratorTopology") if policies else UNKNOWN
    return machine.single_host[0] if machine.single_host else UNKNOWN


def _runs_on(flavor: Resource, pool: Pool) -> bool:
    """Whether a pool's nodes carry all labels of a flavor; one that is not known yet may be right."""
    wanted = at(flavor.properties, "spec", "nodeLabels")
    if not isinstance(wanted, Mapping):
        return True
    return all(
        unknown(value) or pool.labels.get(key) == value or unknown(pool.labels.get(key))
        for key, value in wanted.items()
    )


def _is(resource: Resource, kind: str) -> bool:
    return resource.type.startswith(KUEUE) and resource.type.endswith(f":{kind}")


def _quotas(resources: Iterable[Resource]) -> dict[str, tuple[Resource, list[int | None]]]:
    """By flavor: the last queue that gives it out, and the nominal quotas of chips of all of them."""
    queues: dict[str, Resource] = {}
    amounts: defaultdict[str, list[int | None]] = defaultdict(list)
    for queue in resources:
        if not _is(queue, "ClusterQueue") and not _is(queue, "Cohort"):
            continue
        for group in items(at(queue.properties, "spec", "resourceGroups")):
            for flavor in items(at(group, "flavors")):
                for amount in items(at(flavor, "resources")):
                    if at(amount, "name") == TPU_RESOURCE:
                        queues[str(at(flavor, "name"))] = queue
                        amounts[str(at(flavor, "name"))].append(_number(at(amount, "nominalQuota")))
    return {name: (queue, amounts[name]) for name, queue in queues.items()}


def _number(quantity: Any) -> int | None:
    """Chips are whole numbers, which the engine hands over as text or as floating point. A quantity that is missing is
    nothing; None for one that is not known yet, or is in a form that nobody writes chips in (`1k`)."""
    if quantity is None:
        return 0
    try:
        return int(Decimal(str(quantity)))
    except InvalidOperation:
        return None
