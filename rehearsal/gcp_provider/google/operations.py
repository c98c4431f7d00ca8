"""Waiting for what Google works on by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rehearsal.gcp_provider.errors import OperationError
from rehearsal.gcp_provider.google.rest import Patience, Rest, pauses

Operation = dict[str, Any]


def await_container(rest: Rest, operation: Operation, parent: str, activity: str, patience: Patience) -> None:
    """An operation of GKE, polled by its name below `projects/P/locations/L`."""
    done = _polled(
        rest, "container", operation, f"{parent}/operations/{operation['name']}", _is_done, activity, patience
    )
    reason = done.get("error", {}).get("message") or done.get("statusMessage")
    if reason:
        raise OperationError(f"Error waiting for {activity}: {reason}")


def await_compute(rest: Rest, operation: Operation, project: str, activity: str, patience: Patience) -> None:
    """An operation of Compute Engine: global, of a region or of a zone, as it says itself."""
    scope = "global"
    for key in ("region", "zone"):
        if operation.get(key):
            scope = f"{key}s/{operation[key].rsplit('/', 1)[-1]}"
    path = f"projects/{project}/{scope}/operations/{operation.get('name', '')}"
    done = _polled(rest, "compute", operation, path, _is_done, activity, patience)
    errors = done.get("error", {}).get("errors", [])
    if errors:
        text = "".join(f"{entry.get('message', '')}\n\n" for entry in errors)
        raise OperationError(f"Error waiting for {activity}: {text}")


def await_service(rest: Rest, operation: Operation, activity: str, patience: Patience) -> None:
    """A long-running operation of Service Usage. An answer that is no operation is done."""
    name = str(operation.get("name", ""))
    if name.startswith("operations/"):
        operation = _polled(rest, "serviceusage", operation, name, _is_marked_done, activity, patience)
    if operation.get("error"):
        error = operation["error"]
        raise OperationError(
            f"Error waiting for {activity}: Error code {error.get('code')}, message: {error.get('message')}"
        )


def _is_done(operation: Operation) -> bool:
    return operation.get("status") == "DONE"


def _is_marked_done(operation: Operation) -> bool:
    return bool(operation.get("done"))


def _polled(
    rest: Rest,
    api: str,
    operation: Operation,
    path: str,
    ended: Callable[[Operation], bool],
    activity: str,
    patience: Patience,
) -> Operation:
    """An operation, once it has ended. Raises OperationError when its time is over before."""
    for pause in pauses():
        if ended(operation):
            return operation
        if patience.over:
            raise OperationError(
                f"Error waiting for {activity}: timeout while waiting for state to become 'DONE' "
                f"(last state: '{operation.get('status', 'RUNNING')}', timeout: {patience.seconds:.0f}s)"
            )
        patience.wait(pause)
        operation = rest.call(api, "GET", path, patience=patience)
    raise AssertionError("pauses never end")
