"""What was in Google's project before the stack: a network or a cluster that somebody else keeps. `make down` leaves it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal import lifecycle
from rehearsal.host.layout import Layout

Things = Mapping[str, list[Any]]
"""Names by kind, as the rehearsal lists what is there."""


def present(layout: Layout) -> dict[str, list[Any]]:
    """Everything that is there now."""
    found: dict[str, list[Any]] = lifecycle.google(layout, "GET", "/_rehearsal/leftovers")
    return found


def remember(layout: Layout) -> None:
    """Notes what is there. To be called before the first resource of a stack is made."""
    _note(layout).write_text(json.dumps(present(layout)))


def remembered(layout: Layout) -> dict[str, list[Any]]:
    """What was noted; nothing when no stack was made."""
    noted: dict[str, list[Any]] = json.loads(_note(layout).read_text()) if _note(layout).exists() else {}
    return noted


def _note(layout: Layout) -> Path:
    return layout.run / "given.json"


def beyond(things: Things, given: Things) -> dict[str, list[Any]]:
    """What is among `things` and was not given."""
    return {kind: [thing for thing in listed if thing not in given.get(kind, [])] for kind, listed in things.items()}
