"""The parts of the Compute Engine API on which clusters stand: networks and what belongs to them, zones and machine types."""

from rehearsal.gcp.compute.catalogue import HANDLERS as _CATALOGUE
from rehearsal.gcp.compute.groups import HANDLERS as _GROUPS
from rehearsal.gcp.compute.operations import HANDLERS as _OPERATIONS
from rehearsal.gcp.compute.resources import HANDLERS as _RESOURCES
from rehearsal.gcp.compute.resources import TASKS
from rehearsal.gcp.compute.routes import HANDLERS as _ROUTES
from rehearsal.gcp.core import Handler

HANDLERS: dict[str, Handler] = {**_CATALOGUE, **_GROUPS, **_OPERATIONS, **_RESOURCES, **_ROUTES}

__all__ = ["HANDLERS", "TASKS"]
