"""Records the resources that existed in the Google project before the stack, such as someone else's network or cluster. `make
down` leaves them alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal import lifecycle
from rehearsal.host.layout import Layout

Things = Mapping[str, list[Any]]
"""Names by kind, as the rehearsal lists its resources."""


def present(layout: Layout) -> dict[str, list[Any]]:
    """All resources that exist now."""
    found: dict[str, list[Any]] = lifecycle.google(layout, "GET", "/_rehearsal/leftovers")
    return found


def remember(layout: Layout) -> None:
    """Records the existing resources. Call it before the first resource of a stack is created."""
    _record(layout).write_text(json.dumps(present(layout)))


def remembered(layout: Layout) -> dict[str, list[Any]]:
    """The recorded resources; none if no stack was created."""
    noted: dict[str, list[Any]] = json.loads(_record(layout).read_text()) if _record(layout).exists() else {}
    return noted


def _record(layout: Layout) -> Path:
    return layout.run / "preexisting.json"


def beyond(things: Things, preexisting: Things) -> dict[str, list[Any]]:
    """The `things` that did not exist before."""
    return {
        kind: [thing for thing in listed if thing not in preexisting.get(kind, [])] for kind, listed in things.items()
    }
