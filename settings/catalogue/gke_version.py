"""GKE version numbers: `1.34`, `1.34.1` and `1.34.1-gke.1829001`, and which of them is at least which."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(1)\.([0-9]{1,2})(?:\.([0-9]{1,3})(?:-gke\.([0-9]{1,9}))?)?")
"""Kubernetes, and so GKE, has had no other first number than 1."""


def parse(version: str) -> tuple[int, ...] | None:
    """The numbers of a version, or None when it is not one. A shorter version is an alias for the newest below it."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return None
    return tuple(int(part) for part in match.groups() if part is not None)


def at_least(version: str, floor: str) -> bool:
    """Whether what GKE makes of `version` is not older than `floor`.

    Only the numbers that `version` states are compared: `1.34` stands for GKE's newest 1.34 patch, which has left
    every early patch of 1.34 behind.
    """
    have, need = parse(version), parse(floor)
    if have is None or need is None:
        raise ValueError(f"not a GKE version: {version!r} or {floor!r}")
    return have >= need[: len(have)]
