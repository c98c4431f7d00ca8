"""Times as the Kubernetes API writes them."""

from __future__ import annotations

import datetime


def stamp(seconds: float | None = None) -> str:
    """A time as the API writes it."""
    moment = (
        datetime.datetime.now(datetime.UTC)
        if seconds is None
        else datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    )
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(text: str) -> float:
    """The reverse of `stamp`; fractions of a second are kept."""
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
