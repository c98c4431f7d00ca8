"""The program split over a mesh does what it does on one device. In a process of its own: it needs eight CPU devices.

Tolerances: numbers are float32 (24 bits, 6e-8), and splitting a sum changes its order. A loss is a sum of 160 terms, a
gradient of up to some thousand: errors of a few units in the last place, some tens for gradients relative to their
array's largest element. A wrong sum or a lost shard is off by a tenth or more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.training

CHECKOUT = Path(__file__).resolve().parents[3]
LOSS_TOLERANCE, GRADIENT_TOLERANCE = 2e-6, 2e-5
PATIENCE_S = 400


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(CHECKOUT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    }
    command = [sys.executable, str(CHECKOUT / "tests" / "support" / "sharded.py")]
    done = subprocess.run(command, env=environment, cwd=CHECKOUT, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("mesh", "shape", "parts"),
    [("tensor", [1, 2, 4], 8), ("slices", [2, 2, 2], 4), ("three", [3, 2, 1], 2)],
)
def test_loss_and_gradients_are_those_of_one_device(found, mesh, shape, parts) -> None:
    assert found[mesh]["shape"] == shape
    assert found[mesh]["spread"] == parts, "parameters are split within a slice, and whole in each"
    assert abs(found[mesh]["loss"]) < LOSS_TOLERANCE
    assert found[mesh]["gradients"] < GRADIENT_TOLERANCE


def test_steps_go_the_same_way(found) -> None:
    one, slices = found["one"]["losses"], found["slices"]["losses"]
    assert one[0] > one[-1]
    # Each step carries the one before's rounding on, and Adam divides by small numbers.
    assert slices == pytest.approx(one, rel=10 * LOSS_TOLERANCE)
