"""What the APIs share: calls, errors, state, time."""

from rehearsal.gcp.core.call import Call, Handler
from rehearsal.gcp.core.errors import ApiError, already_exists, failed_precondition, invalid, not_found
from rehearsal.gcp.core.store import Object, Store
from rehearsal.gcp.core.world import Settings, World, now, number, public, stamp

__all__ = [
    "ApiError", "Call", "Handler", "Object", "Settings", "Store", "World", "already_exists", "failed_precondition", "invalid",
    "not_found", "now", "number", "public", "stamp",
]  # fmt: skip
