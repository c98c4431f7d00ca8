"""Where the machines of a pool stand to each other: what GKE fills in of a placement policy, and what it finds out only at the end."""

from __future__ import annotations

from rehearsal.gcp.core import ApiError, CloudState, Object, invalid
from rehearsal.gcp.machines import MACHINES, region_of


def completed(world: CloudState, pool: Object, cluster: str) -> Object:
    """A pool with its placement as GKE stores it: a topology alone is a compact placement; a workload policy brings its topology."""
    stated = pool.get("placementPolicy")
    if not stated:
        return pool
    found = {key: value for key, value in stated.items() if value not in ("", "TYPE_UNSPECIFIED")}
    if found.get("policyName"):
        topology = _policy_topology(world, cluster, found["policyName"])
        if topology and found.setdefault("tpuTopology", topology) != topology:
            raise invalid(
                f'TPU topology "{found["tpuTopology"]}" does not match the topology "{topology}" of policy "{found["policyName"]}".'
            )
    elif found.get("tpuTopology") and _has_chips(pool) and not _needs_policy(pool):
        found.setdefault("type", "COMPACT")
    return {**pool, "placementPolicy": found}


def _policy_topology(world: CloudState, cluster: str, name: str) -> str:
    """The topology of a resource policy of the cluster's region; "" when it states none. Raises when there is no such policy."""
    _, project, _, location, *_ = cluster.split("/")
    path = f"projects/{project}/regions/{region_of(location)}/resourcePolicies/{name.rsplit('/', 1)[-1]}"
    policy = world.store.get("compute-resourcePolicies", path)
    if policy is None:
        raise invalid(f"The resource '{path}' was not found")
    return str(policy.get("workloadPolicy", {}).get("acceleratorTopology", ""))


def _has_chips(pool: Object) -> bool:
    machine = MACHINES.get(pool["config"]["machineType"])
    return machine is not None and machine.chips > 0


def _needs_policy(pool: Object) -> bool:
    return bool(pool["config"]["machineType"].startswith("tpu7x-"))


def unsupported(pool: Object) -> ApiError | None:
    """GKE takes a tpu7x slice without a workload policy, and fails when it makes the machines (vllm-project/ci-infra #547)."""
    placement = pool.get("placementPolicy", {})
    if not _needs_policy(pool) or not placement.get("tpuTopology") or placement.get("policyName"):
        return None
    return invalid(
        f"Creation of a managed instance group with {pool['config']['machineType']} machine type with placement policy is not supported. "
        "Use workload policy instead."
    )
