"""Shared by the unit tests: a whole platform, recorded once."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from engine import Recording, record

from settings.plan import Plan, plan_from

TUTORIAL: dict[str, Any] = {
    "project": "some-project",
    "location": "us-west4",
    "deletionProtection": False,
    "cluster": {"name": "multislice-cluster"},
    "slices": [
        {
            "flavor": "vlp-24",
            "machineType": "ct5lp-hightpu-4t",
            "topology": "2x4",
            "zone": "us-west4-a",
            "pools": ["nodepool1", "nodepool2", "nodepool3"],
        }
    ],
    "workloads": [
        {"name": "multislice-3slice", "slices": 3},
        {"name": "multislice-2slice", "slices": 2, "after": ["multislice-3slice"]},
        {"name": "multislice-1slice", "slices": 1, "after": ["multislice-3slice"]},
    ],
}


def as_config(values: dict[str, Any]) -> dict[str, str]:
    """Pulumi's flat form of a stack file's values."""
    return {
        f"tpu-platform:{key}": value if isinstance(value, str) else json.dumps(value) for key, value in values.items()
    }


def changed(**changes: Any) -> dict[str, Any]:
    """The tutorial with some top-level keys replaced; None removes one."""
    merged = {**TUTORIAL, **changes}
    return {key: value for key, value in merged.items() if value is not None}


def plan_with(**changes: Any) -> Plan:
    return plan_from(as_config(changed(**changes)), Path.cwd())


def run_platform(plan: Plan) -> None:
    """What __main__ does after its checks."""
    from components import platform, providers

    google = providers.google_provider(plan.settings)
    base = platform.foundation(plan, google)
    cluster = platform.cluster_on(plan, base, google)
    pools = platform.slice_pools(plan, base, cluster, google)
    kubernetes = providers.kubernetes_provider(cluster)
    controllers = platform.controllers_on(plan, cluster, kubernetes)
    queues = platform.queues_over(plan, controllers, pools, kubernetes)
    platform.submit_jobs(plan, controllers, queues, kubernetes)


@pytest.fixture(scope="session")
def tutorial() -> Recording:
    return record(lambda: run_platform(plan_with()))


@pytest.fixture
def recorded() -> Callable[..., Recording]:
    return lambda **changes: record(lambda: run_platform(plan_with(**changes)))
