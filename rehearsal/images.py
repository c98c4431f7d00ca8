"""The image table: which container images run which local programs (`images.yaml` in the state folder).

An image that no row matches is played by kwok. A user's own table may replace the one written here: REHEARSAL_IMAGES.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import yaml

from rehearsal.layout import Layout

DEFAULT_DURATION = "8s"
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


def default_table(layout: Layout) -> dict[str, Any]:
    """The managers of Kueue, JobSet and KubeRay run for real; their images are named by their own projects' charts."""
    return {
        "images": [
            {
                "match": r"(^|/)kueue:",
                "program": str(layout.bin / "kueue"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
            {
                "match": r"(^|/)jobset:",
                "program": str(layout.bin / "jobset"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
            {
                "match": r"(^|/)kuberay/operator:",
                "program": str(layout.bin / "kuberay"),
                "entrypoint": ["/manager"],
                "rootfs": "static",
            },
        ],
        "simulated": {"duration": _duration()},
    }


def _duration() -> str:
    """How long a played job runs, as its user states it. Raises ValueError."""
    stated = os.environ.get("REHEARSAL_JOB_DURATION", DEFAULT_DURATION)
    try:
        duration_ms(stated)
    except ValueError as error:
        raise ValueError(f"REHEARSAL_JOB_DURATION is {error}") from error
    return stated


def write_table(layout: Layout) -> None:
    """Writes the table for this start of the rehearsal. Raises ValueError for a duration that is none."""
    named = os.environ.get("REHEARSAL_IMAGES")
    text = Path(named).read_text() if named else yaml.safe_dump(default_table(layout), sort_keys=False)
    if not layout.images.exists() or layout.images.read_text() != text:
        layout.images.write_text(text)


def read_table(layout: Layout) -> tuple[list[str], int]:
    """(patterns of images with a local program, milliseconds that a played job pod runs)."""
    table = yaml.safe_load(layout.images.read_text())
    return [row["match"] for row in table.get("images", [])], duration_ms(table["simulated"]["duration"])


def duration_ms(text: str) -> int:
    """Milliseconds of a duration such as `8s`, `1500ms` or `1m30s`. Raises ValueError."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text!r} (wanted for example 8s, 1500ms, 1m30s)")
    return int(sum(float(number) * _UNITS_MS[unit] for number, unit in parts))
