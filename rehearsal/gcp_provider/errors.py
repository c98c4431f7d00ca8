"""Google's errors, in the words of its Go client, which is what users of the real provider read and search for."""

from __future__ import annotations

import json
from typing import Any


class GoogleError(Exception):
    """An answer with an HTTP status that is an error."""

    def __init__(self, code: int, body: str) -> None:
        self.code = code
        error = _error_of(body)
        self.message = str(error.get("message", ""))
        self.status = str(error.get("status", ""))
        self.reasons = [str(entry.get("reason", "")) for entry in error.get("errors", [])]
        super().__init__(_text(code, error, body))

    @property
    def is_missing(self) -> bool:
        return self.code == 404

    @property
    def is_busy(self) -> bool:
        """Another operation on the same cluster: passes by itself (IsFailedPreconditionError)."""
        return self.code in (400, 409) and (
            self.status == "FAILED_PRECONDITION" or "failedPrecondition" in self.reasons
        )

    @property
    def is_transient(self) -> bool:
        return self.code in (429, 500, 502, 503, 504)


class OperationError(Exception):
    """An operation that Google took on and that failed."""


class ProviderError(Exception):
    """What the provider itself refuses."""


class InitError(Exception):
    """The resource exists, but not as it should: it goes into the state, marked."""

    def __init__(self, resource_id: str, outputs: dict[str, Any], reason: str) -> None:
        super().__init__(reason)
        self.resource_id = resource_id
        self.outputs = outputs
        self.reason = reason


class Cancelled(Exception):
    """The engine asked all that waits to stop."""


def _error_of(body: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    error = found.get("error") if isinstance(found, dict) else None
    return error if isinstance(error, dict) else {}


def _text(code: int, error: dict[str, Any], body: str) -> str:
    """`googleapi: Error 409: Already exists: projects/..., alreadyExists`."""
    message, entries = str(error.get("message", "")), error.get("errors", [])
    if not message and not entries:
        return f"googleapi: got HTTP response code {code} with body: {body}"
    text = f"googleapi: Error {code}: {message}"
    if error.get("details"):
        text += f"\nDetails:\n{json.dumps(error['details'], indent=2)}\n"
    if not entries:
        return text.strip()
    if len(entries) == 1 and entries[0].get("message") == message:
        return f"{text}, {entries[0].get('reason', '')}"
    lines = [f"Reason: {entry.get('reason', '')}, Message: {entry.get('message', '')}\n" for entry in entries]
    return text + "\nMore details:\n" + "".join(lines)


def one_error(text: str) -> str:
    """As Terraform's SDK prints what a resource returns."""
    return f"1 error occurred:\n\t* {text}\n\n"
