"""What GKE refuses of how a pool gets its machines: flex-start, queued provisioning, spot, reservations.

Published texts: what users of flex-start quote, hashicorp/terraform-provider-google #18341 (queued provisioning takes a reservation
affinity of none) and AI-Hypercomputer/xpk #900 (TPUs with both, of GKE before the version that the tutorial asks for). That a queued
pool starts with no node is GoogleCloudPlatform/k8s-config-connector #11085. The rules without a published text are those of GKE's
pages on flex-start and on ProvisioningRequests, in plain words.

Node auto-repair is no reason to refuse: the guides switch it off, but the tutorial's command for its flex-start pool leaves it on
(gcloud_bodies.json), so GKE takes it.
"""

from __future__ import annotations

import re

from rehearsal.gcp.container.versions import at_least
from rehearsal.gcp.core import Object, invalid
from rehearsal.gcp.machines import Machine

QUEUED_TPUS = "1.34"
"""The version from which TPUs come by flex-start with queued provisioning."""
LONGEST_RUN_S = 7 * 24 * 3600
TAKEN = ("SPECIFIC_RESERVATION", "ANY_RESERVATION")
BY_NAME = "compute.googleapis.com/reservation-name"


def check_start(pool: Object) -> None:
    """Flex-start and queued pools start with no node. Once they have some, they may be changed like any other."""
    if not int(pool.get("initialNodeCount", 0)):
        return
    if _flex(pool):
        raise invalid("Flex start node pools require initial node count to be set to 0.")
    if _queued(pool):
        raise invalid("Queued provisioning node pools require initial node count to be set to 0.")


def check(pool: Object, machine: Machine) -> None:
    """The first refusal of what a pool combines, at whatever size."""
    config = pool.get("config", {})
    if _queued(pool) and machine.chips:
        _check_queued_tpus(pool)
    _check_autoscaled(pool)
    spot = bool(config.get("spot") or config.get("preemptible"))
    if spot and (_flex(pool) or _queued(pool)):
        raise invalid("Flex start and queued provisioning node pools cannot use spot or preemptible VMs.")
    _check_reservation(pool, spot)
    _check_duration(config)


def _flex(pool: Object) -> bool:
    return bool(pool.get("config", {}).get("flexStart"))


def _queued(pool: Object) -> bool:
    return bool(pool.get("queuedProvisioning", {}).get("enabled"))


def _check_queued_tpus(pool: Object) -> None:
    if not _flex(pool):
        raise invalid("Queued_provisioning doesn't support TPUs.")
    if not at_least(pool["version"], QUEUED_TPUS):
        raise invalid("Flex start node pools don't support TPUs with queued provisioning.")


def _check_autoscaled(pool: Object) -> None:
    """The autoscaler is what asks for the machines, from none on."""
    scaling = pool.get("autoscaling", {})
    if not scaling.get("enabled"):
        if _flex(pool):
            raise invalid("Flex start node pools require autoscaling enabled.")
        if _queued(pool):
            raise invalid("Queued provisioning node pools require autoscaling enabled.")
    elif _queued(pool) and int(scaling.get("minNodeCount") or scaling.get("totalMinNodeCount") or 0) != 0:
        raise invalid("Queued provisioning node pools require the minimum node count to be 0.")


def _check_reservation(pool: Object, spot: bool) -> None:
    stated = pool.get("config", {}).get("reservationAffinity", {})
    kind = stated.get("consumeReservationType", "UNSPECIFIED")
    if _flex(pool) and kind in TAKEN:
        raise invalid("Flex start node pools don't support reservations.")
    if _queued(pool) and not _flex(pool) and kind != "NO_RESERVATION":
        raise invalid("Queued_provisioning requires reservation affinity to be set to none")
    if spot and kind in TAKEN:
        raise invalid("Reservation affinity must be NO_RESERVATION for spot node pools.")
    if kind == "SPECIFIC_RESERVATION" and stated.get("key") != BY_NAME:
        raise invalid(f'Reservation affinity of type SPECIFIC_RESERVATION requires the key "{BY_NAME}".')


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
