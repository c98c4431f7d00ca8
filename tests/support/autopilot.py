"""The first tutorial on Autopilot, for the tests of that mode."""

from __future__ import annotations

from typing import Any

from tests.support.platforms import TUTORIAL, changed

SLICE = {key: value for key, value in TUTORIAL["slices"][0].items() if key != "pools"}


def slices(**more: Any) -> list[dict[str, Any]]:
    merged = {**SLICE, "count": 3, **more}
    return [{key: value for key, value in merged.items() if value is not None}]


def autopilot(**changes: Any) -> dict[str, Any]:
    """The tutorial on Autopilot with some top-level keys replaced."""
    cluster = {"name": "multislice-cluster", "mode": "autopilot"}
    return changed(**{"cluster": cluster, "slices": slices(), **changes})


def cluster(**more: Any) -> dict[str, Any]:
    return {"name": "multislice-cluster", "mode": "autopilot", **more}
