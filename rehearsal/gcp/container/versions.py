"""Versions that GKE offers here: one, that of the control plane which the rehearsal runs.

A request may name it in full, by a prefix (`1.36`), as `latest` or `-`, or by an older minor version that GKE still serves: an older
one is taken as the floor that it is in a release channel, and what runs is the offered version.
"""

from __future__ import annotations

import re

from rehearsal.gcp.core import CloudState, invalid

BUILD = "gke.1001000"
OLDEST_MINOR = 32
DEFAULT = "1.36.3"
CHANNELS = ("RAPID", "REGULAR", "STABLE", "EXTENDED")


def offered(world: CloudState) -> str:
    backend = world.settings.backend
    return f"{backend.version if backend else DEFAULT}-{BUILD}"


def resolve(world: CloudState, wanted: str) -> str:
    """The version that a request gets. Raises Google's refusal of one that is not offered."""
    have = offered(world)
    if wanted in ("", "-", "latest", have):
        return have
    match = re.fullmatch(r"1\.(\d+)(?:\.(\d+)(?:-gke\.(\d+))?)?", wanted)
    if match is None or not int(match.group(1)) >= OLDEST_MINOR or _key(wanted) > _key(have):
        raise invalid(f'Master version "{wanted}" is unsupported.')
    return have


def _key(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def at_least(version: str, floor: str) -> bool:
    return _key(version) >= _key(floor)
