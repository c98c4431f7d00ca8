"""For all tests: a marker by folder, and simulated pods for Python images unless a test is about real ones and asks for them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rehearsal.control_plane.images import PODS
from tests.support.platforms import both_tutorials, recorded, tutorial

__all__ = ["both_tutorials", "recorded", "tutorial"]

os.environ[PODS] = "simulated"

TESTS = Path(__file__).parent

TIERS = {
    "config": "config",
    "golden": "golden",
    "policies": "policies",
    "rehearsal/gcp": "services",
    "rehearsal/gcp_provider": "services",
    "rehearsal/gke": "services",
    "rehearsal/gcloud": "services",
    "rehearsal/kubelet": "services",
    "rehearsal/ray_operator": "services",
}
"""The tier of each folder; `unit` is that of all others. A test that needs more than its folder says so with a mark of its own."""


def tier(path: Path) -> str:
    """The marker of a test file."""
    folder = path.relative_to(TESTS).parent
    return next((TIERS[f.as_posix()] for f in (folder, *folder.parents) if f.as_posix() in TIERS), "unit")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(tier(item.path))
