"""What the APIs share: calls, errors, state, time."""

from rehearsal.gcp.core.call import PROJECT_PARAMETERS, Call, Handler, Query
from rehearsal.gcp.core.errors import ApiError, already_exists, failed_precondition, invalid, not_found
from rehearsal.gcp.core.pages import page
from rehearsal.gcp.core.store import Object, Store
from rehearsal.gcp.core.world import Settings, World, now, number, public, stamp

__all__ = [
    "PROJECT_PARAMETERS", "ApiError", "Call", "Handler", "Object", "Query", "Settings", "Store", "World", "already_exists",
    "failed_precondition", "invalid", "not_found", "now", "number", "page", "public", "stamp",
]  # fmt: skip
