"""The parts of the Compute Engine API on which clusters stand: networks and what belongs to them, zones and machine types."""

from rehearsal.gcp.compute import catalogue, groups, operations, resources, routes
from rehearsal.gcp.compute.kinds import KINDS
from rehearsal.gcp.core import Service

SERVICE = Service(
    name="compute",
    versions=("v1", "beta"),
    handlers={
        **catalogue.HANDLERS,
        **groups.HANDLERS,
        **operations.HANDLERS,
        **resources.HANDLERS,
        **routes.HANDLERS,
    },
    custom_endpoints={"COMPUTE": "compute/beta/"},
    gcloud_path="compute/v1/",
    must_be_enabled=True,
    tasks=resources.TASKS,
    resources={kind.plural: kind.store for kind in KINDS},
)
