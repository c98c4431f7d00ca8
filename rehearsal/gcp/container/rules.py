"""What GKE refuses of a node pool, in its words as far as they are published.

Sources of the texts: AI-Hypercomputer/xpk #825 (single-host topology), vllm-project/ci-infra #545 (size of a slice),
keras-team/kinetic #305 (machine type); where none is published, a text says in plain words what is wrong. GKE's TPU pages say which
machine type makes which slices, and from which version.
"""

from __future__ import annotations

from rehearsal.gcp.container import provisioning
from rehearsal.gcp.container.versions import at_least
from rehearsal.gcp.core import ApiError, Object, invalid
from rehearsal.gcp.machines import MACHINES, Machine, hosts, offered, region_of, zones
from rehearsal.gcp.nodes import shapes

FLOORS = {"ct6e": "1.31.2-gke.1115000", "tpu7x": "1.34.0-gke.2201000"}


def check_pool(pool: Object, cluster: Object) -> int:
    """Of a pool that is to be made: raises the first refusal; returns the nodes in each zone that it starts with."""
    count = check_change(pool, cluster, None)
    provisioning.check_start(pool)
    return count


def check_change(pool: Object, cluster: Object, size: int | None) -> int:
    """Of a pool as it is to be, with so many nodes in each zone; None for those that it starts with. Raises the first refusal."""
    config = pool.get("config", {})
    machine = MACHINES.get(config.get("machineType", "e2-medium"))
    if machine is None:
        raise _no_machine(config["machineType"], pool["locations"][0])
    for zone in pool["locations"]:
        if zone not in zones(region_of(cluster["location"])):
            raise invalid(
                f'Invalid value for field "node_pool.locations": zone "{zone}" is not in location "{cluster["location"]}".'
            )
        if not offered(machine.name, zone):
            raise _no_machine(machine.name, zone)
    if size is not None:
        pool = {**pool, "initialNodeCount": size}
    provisioning.check(pool, machine)
    _check_placement(pool)
    _check_taints(pool)
    count = _check_topology(pool, machine, cluster) if machine.chips else _plain_count(pool)
    _check_autoscaling(pool, count)
    return count


def _check_taints(pool: Object) -> None:
    """A node has one taint of a key and effect, GKE's own among them; the same as GKE's is not a second one.

    The text is that of terraform-provider-google #7928, where it was said of `nvidia.com/gpu`.
    """
    for stated in pool["config"].get("taints", []):
        if not stated.get("key") or stated.get("effect") not in shapes.EFFECTS:
            raise invalid(
                "Each taint of a node pool must have a key, and NO_SCHEDULE, PREFER_NO_SCHEDULE or NO_EXECUTE as its effect."
            )
    seen = set()
    for taint in shapes.taints(pool):
        same = (taint["key"], taint["effect"])
        if same in seen:
            effect = next(name for name, of_nodes in shapes.EFFECTS.items() if of_nodes == taint["effect"])
            raise invalid(f"Found more than one taint with key {taint['key']} and effect {effect}.")
        seen.add(same)


def _no_machine(name: str, zone: str) -> ApiError:
    return invalid(f'Invalid machine type "{name}" in zone "{zone}": GCE_NOT_FOUND')


def _check_placement(pool: Object) -> None:
    """Compact placement keeps machines close together, which takes one zone and forbids upgrades that double the pool."""
    if pool.get("placementPolicy", {}).get("type") != "COMPACT":
        return
    if len(pool["locations"]) != 1:
        raise invalid("Compact placement policy requires the node pool to be in exactly one zone.")
    if pool.get("upgradeSettings", {}).get("strategy") == "BLUE_GREEN":
        raise invalid("Blue-green upgrades are not supported for node pools with a compact placement policy.")


def _plain_count(pool: Object) -> int:
    if pool.get("placementPolicy", {}).get("tpuTopology"):
        raise invalid(
            f'TPU topology "{pool["placementPolicy"]["tpuTopology"]}" cannot be used with a machine type that has no TPU.'
        )
    default = 0 if pool.get("autoscaling", {}).get("enabled") else None
    count = pool.get("initialNodeCount", default)
    if count is None:
        raise invalid("Node pool must have an initial node count or autoscaling enabled.")
    return int(count)


def _check_topology(pool: Object, machine: Machine, cluster: Object) -> int:
    floor = FLOORS.get(machine.family)
    if floor and not at_least(str(pool.get("version", cluster["currentMasterVersion"])), floor):
        raise invalid(f'Machine type "{machine.name}" requires GKE version {floor} or later.')
    wanted = pool.get("placementPolicy", {}).get("tpuTopology", "")
    if not wanted:
        return int(pool.get("initialNodeCount", 0))
    count = hosts(machine, wanted)
    if count is None:
        raise invalid(f'TPU topology "{wanted}" is not supported for machine type "{machine.name}".')
    if count == 1:
        raise invalid(
            "TPU topology can't be specified with single-host TPU slice pool; please remove the tpu_topology from the node pool "
            "creation request if the node pool is intented to run with single-host TPU slice nodes."
        )
    if len(pool["locations"]) != 1:
        raise invalid("Multi-host TPU slice node pools must be in exactly one zone.")
    return _slice_size(pool, wanted, count)


def _slice_size(pool: Object, wanted: str, count: int) -> int:
    """A slice is whole or not there. The limit that counts is the one per zone: `total` limits alone leave it at 0 (ci-infra #545)."""
    stated, scaling = int(pool.get("initialNodeCount", 0)), pool.get("autoscaling", {})
    sizes = (0, count) if scaling.get("enabled") else (count,)
    if stated not in sizes:
        raise invalid(f'Initial node count {stated} is not a valid size of TPU pod slice with topology "{wanted}"')
    if scaling.get("enabled"):
        least, most = int(scaling.get("minNodeCount", 0)), int(scaling.get("maxNodeCount", 0))
        if most != count:
            raise invalid(f'Maximum node count {most} is not a valid size of TPU pod slice with topology "{wanted}"')
        if least not in sizes:
            raise invalid(f'Minimum node count {least} is not a valid size of TPU pod slice with topology "{wanted}"')
    return stated


def _check_autoscaling(pool: Object, count: int) -> None:
    scaling = pool.get("autoscaling", {})
    if not scaling.get("enabled"):
        return
    per_zone = scaling.get("minNodeCount") or scaling.get("maxNodeCount")
    total = scaling.get("totalMinNodeCount") or scaling.get("totalMaxNodeCount")
    if per_zone and total:
        raise invalid("Cannot specify both per-zone and total node count limits in autoscaling.")
    low = int(scaling.get("minNodeCount") or scaling.get("totalMinNodeCount") or 0)
    high = int(scaling.get("maxNodeCount") or scaling.get("totalMaxNodeCount") or 0)
    if high < 1 or low > high:
        raise invalid(
            f"Autoscaling limits must satisfy 0 <= min_node_count ({low}) <= max_node_count ({high}), "
            "and max_node_count must be at least 1."
        )
    if count > high:
        raise invalid(f"Initial node count {count} is outside the autoscaling limits [{low}, {high}].")
