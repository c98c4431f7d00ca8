"""Waiting for what Google works on by itself."""

from __future__ import annotations

from typing import Any

from rehearsal.gcp_provider.errors import OperationError
from rehearsal.gcp_provider.rest import Patience, Rest, pauses


def await_container(rest: Rest, operation: dict[str, Any], parent: str, activity: str, patience: Patience) -> None:
    """An operation of GKE, polled by its name below `projects/P/locations/L`."""
    for pause in pauses():
        if operation.get("status") == "DONE":
            break
        _check_time(patience, activity, operation)
        patience.wait(pause)
        operation = rest.call("container", "GET", f"{parent}/operations/{operation['name']}", patience=patience)
    reason = operation.get("error", {}).get("message") or operation.get("statusMessage")
    if reason:
        raise OperationError(f"Error waiting for {activity}: {reason}")


def await_compute(rest: Rest, operation: dict[str, Any], project: str, activity: str, patience: Patience) -> None:
    """An operation of Compute Engine: global, of a region or of a zone, as it says itself."""
    scope = "global"
    for key in ("region", "zone"):
        if operation.get(key):
            scope = f"{key}s/{operation[key].rsplit('/', 1)[-1]}"
    for pause in pauses():
        if operation.get("status") == "DONE":
            break
        _check_time(patience, activity, operation)
        patience.wait(pause)
        operation = rest.call(
            "compute", "GET", f"projects/{project}/{scope}/operations/{operation['name']}", patience=patience
        )
    errors = operation.get("error", {}).get("errors", [])
    if errors:
        raise OperationError(
            f"Error waiting for {activity}: " + "".join(f"{entry.get('message', '')}\n\n" for entry in errors)
        )


def await_service(rest: Rest, operation: dict[str, Any], activity: str, patience: Patience) -> None:
    """A long-running operation of Service Usage."""
    for pause in pauses():
        if operation.get("done") or not str(operation.get("name", "")).startswith("operations/"):
            break
        _check_time(patience, activity, operation)
        patience.wait(pause)
        operation = rest.call("serviceusage", "GET", operation["name"], patience=patience)
    if operation.get("error"):
        error = operation["error"]
        raise OperationError(
            f"Error waiting for {activity}: Error code {error.get('code')}, message: {error.get('message')}"
        )


def _check_time(patience: Patience, activity: str, operation: dict[str, Any]) -> None:
    if patience.over:
        raise OperationError(
            f"Error waiting for {activity}: timeout while waiting for state to become 'DONE' "
            f"(last state: '{operation.get('status', 'RUNNING')}', timeout: {patience.seconds:.0f}s)"
        )
