"""Errors in Google's shape (cloud.google.com/apis/design/errors), with the words that each API uses."""

from __future__ import annotations

from typing import Any

_REASONS = {
    400: "badRequest", 403: "forbidden", 404: "notFound", 409: "alreadyExists", 412: "conditionNotMet",
    429: "rateLimitExceeded", 501: "notImplemented", 503: "backendError",
}  # fmt: skip
_STATUSES = {
    400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 409: "ALREADY_EXISTS", 412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED", 501: "UNIMPLEMENTED", 503: "UNAVAILABLE",
}  # fmt: skip


class ApiError(Exception):
    """A refusal. `code` is the HTTP status; `status` and `reason` follow from it unless an API says otherwise."""

    def __init__(
        self,
        code: int,
        message: str,
        status: str | None = None,
        reason: str | None = None,
        details: list[Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.message = code, message
        self.status = status if status is not None else _STATUSES.get(code, "UNKNOWN")
        self.reason = reason if reason is not None else _REASONS.get(code, "unknown")
        self.details = details if details is not None else []

    def body(self) -> dict[str, Any]:
        error: dict[str, Any] = {
            "code": self.code,
            "message": self.message,
            "errors": [{"message": self.message, "domain": "global", "reason": self.reason}],
            "status": self.status,
        }
        if self.details:
            error["details"] = self.details
        return {"error": error}


def not_found(message: str) -> ApiError:
    return ApiError(404, message)


def already_exists(message: str) -> ApiError:
    return ApiError(409, message)


def invalid(message: str) -> ApiError:
    return ApiError(400, message)


def failed_precondition(message: str) -> ApiError:
    return ApiError(400, message, status="FAILED_PRECONDITION", reason="failedPrecondition")
