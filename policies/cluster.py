"""Rules over the cluster and its node pools."""

from __future__ import annotations

from collections.abc import Iterator

from policies.model import Context, Finding, Resource
from policies.values import at, items, unknown
from settings.catalogue.accelerators import MACHINE_TYPES
from settings.schema.field_types import is_zone

CLUSTER = "gcp:container/cluster:Cluster"
POOL = "gcp:container/nodePool:NodePool"
EVERYBODY = frozenset({"0.0.0.0/0", "::/0"})


def control_plane_guarded(resource: Resource, _: Context) -> Iterator[Finding]:
    """Nobody but stated networks can talk to the control plane; IAM alone is one stolen token away from it.

    Authorised networks without a block let nobody in from outside (GKE's documentation), which is guarded as well.
    """
    if resource.type != CLUSTER:
        return
    private = at(resource.properties, "privateClusterConfig", "enablePrivateEndpoint")
    networks = at(resource.properties, "masterAuthorizedNetworksConfig")
    if private is True:
        return
    remedy = (
        "state cluster.authorizedNetworks in the stack file: the ranges of those who operate it and of the CI runners"
    )
    blocks = [at(block, "cidrBlock") for block in items(at(networks, "cidrBlocks"))]
    open_to = [block for block in blocks if block in EVERYBODY]
    if networks is None and not unknown(private):
        yield Finding(resource, "its control plane answers everybody: no authorised networks", remedy)
    elif open_to:
        yield Finding(resource, f"its control plane answers everybody: authorised network {open_to[0]}", remedy)
    elif unknown(private) or unknown(at(networks, "cidrBlocks")) or any(unknown(block) for block in blocks):
        yield Finding(resource, "who may reach its control plane is not known yet", remedy, unknown=True)


def deletion_protected(resource: Resource, _: Context) -> Iterator[Finding]:
    """Stated, not left to the provider's default: what is not written can be changed by an upgrade."""
    if resource.type != CLUSTER:
        return
    protection = at(resource.properties, "deletionProtection")
    remedy = "set deletionProtection: true in the stack file"
    if unknown(protection):
        yield Finding(resource, "whether it is protected from deletion is not known yet", remedy, unknown=True)
    elif protection is not True:
        said = "not stated" if protection is None else "off"
        yield Finding(resource, f"its deletion protection is {said}", remedy)


def labelled_for_cost(resource: Resource, context: Context) -> Iterator[Finding]:
    """Google's bill is told apart by the labels of the cluster."""
    if resource.type != CLUSTER:
        return
    labels = at(resource.properties, "resourceLabels")
    values = {label: at(labels, label) for label in context.labels}
    missing = [label for label, value in values.items() if not value]
    if missing:
        yield Finding(resource, f"it has no label {', '.join(missing)}", "add it under labels in the stack file")
    elif any(unknown(value) for value in values.values()):
        yield Finding(resource, "its labels are not known yet", "state them", unknown=True)


def pool_in_one_zone(resource: Resource, _: Context) -> Iterator[Finding]:
    """The hosts of a slice are one machine: in several zones GKE makes a slice in each, or none."""
    machine = at(resource.properties, "nodeConfig", "machineType")
    if resource.type != POOL or (machine not in MACHINE_TYPES and not unknown(machine)):
        return
    zones, location = at(resource.properties, "nodeLocations"), at(resource.properties, "location")
    remedy = "state one zone in nodeLocations"
    if unknown(machine) or unknown(zones) or (zones is None and unknown(location)):
        yield Finding(resource, "its zones are not known yet", remedy, unknown=True)
    elif zones is None and not is_zone(str(location)):
        yield Finding(resource, f"a TPU pool in no stated zone of {location}: GKE takes several", remedy)
    elif zones is not None and len(zones) != 1:
        yield Finding(resource, f"a TPU pool in {len(zones)} zones ({', '.join(map(str, zones))})", remedy)
