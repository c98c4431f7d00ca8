"""What GKE refuses of a node pool, in its words as far as they are published.

Sources of the texts: AI-Hypercomputer/xpk #825 (single-host topology), vllm-project/ci-infra #545 (size of a slice),
keras-team/kinetic #305 (machine type), and what users of flex-start quote; where none is published, a text says in plain words what is
wrong. GKE's TPU pages say which machine type makes which slices, and from which version.
"""

from __future__ import annotations

import re
from typing import Any

from rehearsal.gcp.container.versions import at_least
from rehearsal.gcp.core import ApiError, Object, invalid
from rehearsal.gcp.machines import MACHINES, Machine, hosts, offered, region_of, zones
from rehearsal.gke import shapes

LONGEST_RUN_S = 7 * 24 * 3600
FLOORS = {"ct6e": "1.31.2-gke.1115000", "tpu7x": "1.34.0-gke.2201000"}


def check_pool(pool: Object, cluster: Object) -> int:
    """Raises the first refusal; returns the nodes in each zone that the pool starts with."""
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
    _check_capacity(pool, config, machine)
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
    most = int(scaling.get("maxNodeCount", 0))
    if scaling.get("enabled") and most != count:
        raise invalid(f'Maximum node count {most} is not a valid size of TPU pod slice with topology "{wanted}"')
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


def _check_capacity(pool: Object, config: Object, machine: Machine) -> None:
    """Flex-start, queued provisioning, spot and reservations exclude each other in the ways that GKE's API says."""
    flex, queued = bool(config.get("flexStart")), bool(pool.get("queuedProvisioning", {}).get("enabled"))
    scaling: Any = pool.get("autoscaling", {})
    affinity = config.get("reservationAffinity", {}).get("consumeReservationType", "UNSPECIFIED")
    if queued and machine.chips and not flex:
        raise invalid("Queued_provisioning doesn't support TPUs.")
    if flex and not scaling.get("enabled"):
        raise invalid("Flex start node pools require autoscaling enabled.")
    if flex and int(pool.get("initialNodeCount", 0)) != 0:
        raise invalid("Flex start node pools require initial node count to be set to 0.")
    if (flex or queued) and (config.get("spot") or config.get("preemptible")):
        raise invalid("Flex start and queued provisioning node pools cannot use spot or preemptible VMs.")
    if flex and affinity in ("SPECIFIC_RESERVATION", "ANY_RESERVATION"):
        raise invalid("Flex start node pools don't support reservations.")
    if (queued or config.get("spot")) and affinity in ("SPECIFIC_RESERVATION", "ANY_RESERVATION"):
        raise invalid("Reservation affinity must be NO_RESERVATION for queued provisioning and spot node pools.")
    _check_duration(config)
    if queued and int(scaling.get("minNodeCount") or scaling.get("totalMinNodeCount") or 0) != 0:
        raise invalid("Queued provisioning node pools require the minimum node count to be 0.")
    if (
        affinity == "SPECIFIC_RESERVATION"
        and config["reservationAffinity"].get("key") != "compute.googleapis.com/reservation-name"
    ):
        raise invalid(
            'Reservation affinity of type SPECIFIC_RESERVATION requires the key "compute.googleapis.com/reservation-name".'
        )


def _check_duration(config: Object) -> None:
    """At most seven days (how-to/provisioningrequest)."""
    text = config.get("maxRunDuration")
    if text is None:
        return
    match = re.fullmatch(r"(\d+)(?:\.\d+)?s", str(text))
    if match is None or not 0 < int(match.group(1)) <= LONGEST_RUN_S:
        raise invalid(
            f'Invalid value for field "node_pool.config.max_run_duration": "{text}". Must be at most {LONGEST_RUN_S}s.'
        )
