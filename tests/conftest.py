"""For all tests: pods of Python images are played by kwok, unless a test is about real ones and says so itself."""

from __future__ import annotations

import os

from rehearsal.images import PODS

os.environ[PODS] = "simulated"
