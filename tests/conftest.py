"""For all tests: pods of Python images are simulated by kwok, unless a test is about real ones and says so itself."""

from __future__ import annotations

import os

from rehearsal.control_plane.images import PODS
from tests.support.platforms import both_tutorials, recorded, tutorial

__all__ = ["both_tutorials", "recorded", "tutorial"]

os.environ[PODS] = "simulated"
