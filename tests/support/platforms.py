"""Shared by the unit tests: a whole platform, recorded once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from settings.load import plan_from
from settings.plan.plan import Plan
from tests.support.recording import Recording, record

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


BOTH: dict[str, Any] = {
    "location": "us-central1",
    "cluster": {"name": "tpu-cluster", "defaultPool": {"machineType": "e2-standard-8", "nodes": 1}},
    "slices": [
        {**TUTORIAL["slices"][0], "zone": "us-central1-a"},
        {
            "flavor": "on-demand",
            "machineType": "ct6e-standard-4t",
            "topology": "4x4",
            "zone": "us-central1-b",
            "pools": ["on-demand-pool"],
            "autoscaling": {"min": 0},
        },
        {
            "flavor": "dws",
            "machineType": "ct6e-standard-4t",
            "topology": "4x4",
            "zone": "us-central1-b",
            "pools": ["dws-pool"],
            "capacity": "queued",
        },
    ],
    "queues": [
        {"clusterQueue": "a-queue", "localQueue": "multislice-queue", "flavors": ["vlp-24"]},
        {"clusterQueue": "b-queue", "localQueue": "user-queue", "flavors": ["on-demand", "dws"], "cpu": {}},
    ],
    "workloads": [{**job, "flavor": "vlp-24"} for job in TUTORIAL["workloads"]],
    "ray": {"operator": "addon", "jobs": [{"name": "ray-1"}, {"name": "ray-2", "after": ["ray-1"]}]},
}
"""Both tutorials in one cluster: what changes against the first."""


AUTOPILOT: dict[str, Any] = {
    "cluster": {"name": "multislice-cluster", "mode": "autopilot"},
    "slices": [{**{k: v for k, v in TUTORIAL["slices"][0].items() if k != "pools"}, "count": 3}],
    "queues": [{"clusterQueue": "a-queue", "flavors": ["vlp-24"]}],
}
"""The first tutorial on Autopilot: what changes against the first."""


def both(**changes: Any) -> dict[str, Any]:
    """`BOTH` with some top-level keys replaced."""
    return {**BOTH, **changes}


def with_slice(index: int, **changes: Any) -> list[dict[str, Any]]:
    """The slices of `BOTH`, one of them changed; None removes a key."""
    slices = [dict(section) for section in BOTH["slices"]]
    merged = {**slices[index], **changes}
    slices[index] = {key: value for key, value in merged.items() if value is not None}
    return slices


def with_ray(index: int = 0, **changes: Any) -> dict[str, Any]:
    """The Ray jobs of `BOTH`, one of them changed."""
    jobs = [dict(job) for job in BOTH["ray"]["jobs"]]
    jobs[index].update(changes)
    return {"operator": "addon", "jobs": jobs}


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
    from components import providers
    from stack import platform

    google = providers.google_provider(plan.settings)
    base = platform.create_foundation(plan, google)
    cluster = platform.create_cluster(plan, base, google)
    pools = platform.create_slice_pools(plan, base, cluster, google)
    platform.create_monitoring(plan, base, cluster, google)
    kubernetes = providers.kubernetes_provider(cluster)
    controllers = platform.create_controllers(plan, cluster, kubernetes)
    queues = platform.create_queues(plan, controllers, pools, kubernetes)
    checkpoints = platform.create_checkpoints(plan, base, cluster, google)
    platform.submit_jobs(plan, cluster, controllers, queues, checkpoints, kubernetes)


@pytest.fixture(scope="session")
def tutorial() -> Recording:
    return record(lambda: run_platform(plan_with()))


@pytest.fixture(scope="session")
def both_tutorials() -> Recording:
    return record(lambda: run_platform(plan_with(**BOTH)))


@pytest.fixture
def recorded() -> Callable[..., Recording]:
    return lambda **changes: record(lambda: run_platform(plan_with(**changes)))
