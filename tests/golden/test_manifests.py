"""The rendered manifests as files beside this one: they are also what to read to see what the platform makes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from components.controller_values import jobset_values, kueue_values
from components.kubeconfig import kubeconfig
from components.queue_manifests import cluster_queue, local_queue, resource_flavor
from settings.plan import Plan, plan_from
from workloads.manifest import multislice_jobset

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
    flavors = [resource_flavor(flavor) for flavor in plan.queue.flavors]
    golden.check("queues", *flavors, cluster_queue(plan.queue), local_queue(plan.queue))


def test_controller_values(golden) -> None:
    golden.check("jobset-values", jobset_values())
    golden.check("kueue-values", kueue_values())


def test_kubeconfig(golden) -> None:
    golden.check("kubeconfig", kubeconfig("multislice-cluster", "172.16.0.2", "Q0E="))
