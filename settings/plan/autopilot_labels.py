"""What a pod selects on Autopilot beside the shape of its slice: where the slice stands, and what capacity it is made of.

Source: "Deploy TPU workloads on GKE Autopilot" (Spot, specific reservations and flex-start are what it names). Kueue puts a
flavor's labels on the node selector of the pods that it admits, so the flavor is where they are stated.
"""

from __future__ import annotations

from settings.catalogue.capacity import CAPACITIES
from settings.schema.field_types import seconds
from settings.schema.stack import SliceSection

ZONE_LABEL = "topology.kubernetes.io/zone"
SPOT_LABEL = "cloud.google.com/gke-spot"
FLEX_START_LABEL = "cloud.google.com/gke-flex-start"
LONGEST_RUN_LABEL = "cloud.google.com/gke-max-run-duration-seconds"
RESERVATION_LABEL = "cloud.google.com/reservation-name"
AFFINITY_LABEL = "cloud.google.com/reservation-affinity"


def autopilot_labels(section: SliceSection) -> dict[str, str]:
    """The zone is stated since Autopilot would take any of the region's: the slices of a job belong into one."""
    capacity, found = CAPACITIES[section.capacity], {ZONE_LABEL: section.zone}
    if capacity.spot:
        found[SPOT_LABEL] = "true"
    if capacity.flex_start:
        found[FLEX_START_LABEL] = "true"
    if section.max_run_duration is not None:
        found[LONGEST_RUN_LABEL] = str(seconds(section.max_run_duration))
    if section.reservation is not None:
        found |= {RESERVATION_LABEL: section.reservation, AFFINITY_LABEL: "specific"}
    return found
