"""What GKE refuses of a node pool, in its words as far as they are published.

Sources: `gcloud` and provider issue threads for the texts on TPU topologies, flex-start and queued provisioning; GKE's TPU pages
for which machine type makes which slices, and from which version.
"""

from __future__ import annotations

from typing import Any

from rehearsal.gcp.container.versions import at_least
from rehearsal.gcp.core import Object, invalid
from rehearsal.gcp.machines import MACHINES, Machine, hosts, offered, region_of, zones

FLOORS = {"ct6e": "1.31.2-gke.1115000", "tpu7x": "1.34.0-gke.2201000"}


def check_pool(pool: Object, cluster: Object) -> int:
    """Raises the first refusal; returns the nodes in each zone that the pool starts with."""
    config = pool.get("config", {})
    machine = MACHINES.get(config.get("machineType", "e2-medium"))
    if machine is None:
        raise invalid(
            f'Invalid machine type "{config["machineType"]}": the resource was not found in zone {pool["locations"][0]}.'
        )
    for zone in pool["locations"]:
        if zone not in zones(region_of(cluster["location"])):
            raise invalid(
                f'Invalid value for field "node_pool.locations": zone "{zone}" is not in location "{cluster["location"]}".'
            )
        if not offered(machine.name, zone):
            raise invalid(f'Machine type "{machine.name}" is not available in zone "{zone}".')
    _check_capacity(pool, config, machine)
    count = _check_topology(pool, machine, cluster) if machine.chips else _plain_count(pool)
    _check_autoscaling(pool, count)
    return count


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
    if floor and not at_least(pool.get("version", cluster["currentMasterVersion"]), floor):
        raise invalid(f'Machine type "{machine.name}" requires GKE version {floor} or later.')
    wanted = pool.get("placementPolicy", {}).get("tpuTopology", "")
    if not wanted:
        return int(pool.get("initialNodeCount", 0))
    count = hosts(machine, wanted)
    if count is None:
        raise invalid(f'Invalid TPU topology "{wanted}" for machine type "{machine.name}".')
    if len(pool["locations"]) != 1:
        raise invalid("Compact placement policy requires the node pool to be in exactly one zone.")
    stated = int(pool.get("initialNodeCount", 0))
    scaling = pool.get("autoscaling", {})
    if stated not in ((0, count) if scaling.get("enabled") else (count,)):
        raise invalid(
            f'Invalid initial node count {stated}: a node pool of machine type "{machine.name}" with TPU topology "{wanted}" must have exactly {count} nodes.'
        )
    most = scaling.get("maxNodeCount") or scaling.get("totalMaxNodeCount")
    if scaling.get("enabled") and int(most or 0) != count:
        raise invalid(
            f'Invalid maximum node count {most}: a node pool with TPU topology "{wanted}" scales between 0 and {count} nodes.'
        )
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
            f"Autoscaling limits must satisfy 0 <= min_node_count ({low}) <= max_node_count ({high}), and max_node_count must be at least 1."
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
    if (flex or queued or config.get("spot")) and affinity in ("SPECIFIC_RESERVATION", "ANY_RESERVATION"):
        raise invalid(
            "Reservation affinity must be NO_RESERVATION for flex start, queued provisioning and spot node pools."
        )
    if queued and int(scaling.get("minNodeCount") or scaling.get("totalMinNodeCount") or 0) != 0:
        raise invalid("Queued provisioning node pools require the minimum node count to be 0.")
    if (
        affinity == "SPECIFIC_RESERVATION"
        and config["reservationAffinity"].get("key") != "compute.googleapis.com/reservation-name"
    ):
        raise invalid(
            'Reservation affinity of type SPECIFIC_RESERVATION requires the key "compute.googleapis.com/reservation-name".'
        )
