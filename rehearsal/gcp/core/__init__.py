"""What the APIs share: calls, errors, state, time."""

from rehearsal.gcp.core.call import PROJECT_PARAMETERS, Call, Handler, Query
from rehearsal.gcp.core.errors import ApiError, already_exists, failed_precondition, invalid, not_found
from rehearsal.gcp.core.pages import page
from rehearsal.gcp.core.service import Service
from rehearsal.gcp.core.state import CloudState, ServerSettings, now, number, public, stamp
from rehearsal.gcp.core.store import Object, Store

__all__ = [
    "PROJECT_PARAMETERS",
    "ApiError",
    "Call",
    "CloudState",
    "Handler",
    "Object",
    "Query",
    "ServerSettings",
    "Service",
    "Store",
    "already_exists",
    "failed_precondition",
    "invalid",
    "not_found",
    "now",
    "number",
    "page",
    "public",
    "stamp",
]  # fmt: skip
