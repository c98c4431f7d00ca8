"""What a bucket may be called, and where it may be (cloud.google.com/storage/docs/buckets#naming, .../docs/locations)."""

from __future__ import annotations

import re

from rehearsal.gcp.core import ApiError
from rehearsal.gcp.machines import REGIONS

MULTI_REGIONS = ("US", "EU", "ASIA")
_PART = re.compile(r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?")
_ADDRESS = re.compile(r"\d+\.\d+\.\d+\.\d+")


def refuse_name(name: str) -> None:
    """Raises what Google says to a name that no bucket can have."""
    parts = name.split(".")
    long_enough = 3 <= len(name) <= (222 if len(parts) > 1 else 63)
    formed = all(len(part) <= 63 and _PART.fullmatch(part) for part in parts) and not _ADDRESS.fullmatch(name)
    if not long_enough or not formed or name.startswith("goog") or "google" in name:
        raise ApiError(400, f"Invalid bucket name: '{name}'", reason="invalid")


def location_of(stated: str) -> tuple[str, str]:
    """(location, its type) as Google writes them. Raises ApiError for one that is none."""
    location = stated.upper() if stated else "US"
    if location in MULTI_REGIONS:
        return location, "multi-region"
    if location.lower() in REGIONS:
        return location, "region"
    raise ApiError(400, "The specified location constraint is not valid.", reason="invalid")
