"""The rendered manifests as files beside this one: they are also what to read to see what the platform makes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from components.controller_values import jobset_values, kuberay_values, kueue_values
from components.kubeconfig import kubeconfig
from components.queue_manifests import (
    admission_check,
    cluster_queue,
    local_queue,
    provisioning_config,
    resource_flavor,
)
from settings.plan import Plan, plan_from
from workloads.manifest import multislice_jobset
from workloads.ray_manifest import ray_job

pytestmark = pytest.mark.golden

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def plan() -> Plan:
    values = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return plan_from(config, ROOT)


@pytest.mark.parametrize("slices", [1, 2, 3])
def test_jobsets_of_the_tutorial(plan: Plan, golden, slices: int) -> None:
    job = next(job for job in plan.jobs if job.slices == slices)
    golden.check(job.name, multislice_jobset(job))


def test_privileged_jobset(plan: Plan, golden) -> None:
    golden.check("multislice-privileged", multislice_jobset(replace(plan.jobs[0], privileged=True)))


def test_queues(plan: Plan, golden) -> None:
    for queue in plan.queues:
        checks = [flavor.check for flavor in queue.flavors if flavor.check is not None]
        golden.check(
            f"queue-{queue.local_queue}",
            *(resource_flavor(flavor) for flavor in queue.flavors),
            *(manifest(check) for check in checks for manifest in (provisioning_config, admission_check)),
            cluster_queue(queue),
            local_queue(queue),
        )


def test_ray_jobs_of_the_tutorial(plan: Plan, golden) -> None:
    for job in plan.ray_jobs:
        golden.check(job.name, ray_job(job))


def test_elastic_ray_job(plan: Plan, golden) -> None:
    golden.check("rayjob-elastic", ray_job(replace(plan.ray_jobs[0], elastic=True, max_slices=2)))


def test_controller_values(plan: Plan, golden) -> None:
    golden.check("jobset-values", jobset_values())
    golden.check("kuberay-values", kuberay_values(kubernetes_proxy=False))
    golden.check("kueue-values", kueue_values(plan.settings.kueue, ray=True))


def test_kubeconfig(golden) -> None:
    golden.check("kubeconfig", kubeconfig("multislice-cluster", "172.16.0.2", "Q0E="))
