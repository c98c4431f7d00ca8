"""The rendered manifests as files beside this one: they are also what to read to see what the platform makes."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from components.manifests.helm_values import jobset_values, kuberay_values, kueue_values
from components.manifests.kubeconfig import kubeconfig
from components.manifests.queues import (
    admission_check,
    cluster_queue,
    local_queue,
    priority_class,
    provisioning_config,
    resource_flavor,
    workload_priority_class,
)
from components.manifests.teams import (
    chip_quota,
    job_policy,
    member_rules,
    namespace,
    pod_policy,
    policy_binding,
    subjects,
)
from settings.catalogue.labels import ACCELERATOR_LABEL, TOPOLOGY_LABEL
from settings.load import plan_from
from settings.plan.jobs import IndexedJobPlan, JobSetPlan
from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from workloads.job.manifest import headless_service, indexed_job
from workloads.jobset.manifest import multislice_jobset
from workloads.program_files import ProgramFiles
from workloads.rayjob.manifest import ray_job

pytestmark = pytest.mark.golden

ROOT = Path(__file__).resolve().parents[2]


def committed(stack: str) -> Plan:
    values = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())["config"]
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return plan_from(config, ROOT)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return committed("dev")


@pytest.fixture(autouse=True)
def code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that never changes: the ConfigMap's name has a digest of it."""
    monkeypatch.setattr("workloads.training_pod.training_files", lambda: ProgramFiles("training", {"__main__.py": ""}))
    monkeypatch.setattr(
        "workloads.rayjob.manifest.ray_files", lambda: ProgramFiles("ray_programs", {"__init__.py": ""})
    )


@pytest.fixture(scope="module")
def shared() -> Plan:
    """The stack for two teams, with priorities."""
    values = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    everybody, fall_through = values["tpu-platform:queues"]
    preemption = {
        "withinClusterQueue": "LowerPriority",
        "reclaimWithinCohort": "LowerPriority",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
    }
    sharing = {"cohort": "teams", "limits": {"vlp-24": {"borrow": 8, "lend": 0}}, "preemption": preemption}
    values["tpu-platform:queues"] = [{**everybody, **sharing}, fall_through]
    values["tpu-platform:kueue"] = {"fairSharing": False}
    values["tpu-platform:cluster"]["securityGroup"] = "gke-security-groups@example.com"
    values["tpu-platform:priorities"] = [
        {"name": "low-priority", "value": 100, "description": "Makes room for others."},
        {"name": "high-priority", "value": 1000, "pods": True},
    ]
    members = {"users": ["ann@example.com"], "groups": ["research@example.com"]}
    values["tpu-platform:teams"] = [
        {
            "name": "research",
            "members": members,
            "cpu": {},
            "flavors": {"vlp-24": {"chips": 8, "borrow": 8, "lend": 8}},
        },
        {"name": "vision", "namespace": "pictures", "flavors": {"vlp-24": {"chips": 8}}, "weight": 2},
    ]
    job = {"name": "a-job", "slices": 1, "flavor": "vlp-24", "team": "research"}
    values["tpu-platform:workloads"] = [
        {**job, "name": "low", "priority": "low-priority"},
        {**job, "name": "high", "priority": "high-priority"},
    ]
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    return plan_from(config, ROOT)


@pytest.mark.parametrize("slices", [1, 2, 3])
def test_jobsets_of_the_tutorial(plan: Plan, golden, slices: int) -> None:
    job = next(job for job in plan.of(JobSetPlan) if job.slices == slices)
    golden.check(job.name, multislice_jobset(job))


def test_jobset_of_several_generations(plan: Plan, golden) -> None:
    """What its flavors share is a node selector; a term each says in what they differ."""
    shapes = [("tpu-v5-lite-podslice", "4x4"), ("tpu-v6e-slice", "4x4")]
    labels = tuple(((ACCELERATOR_LABEL, accelerator), (TOPOLOGY_LABEL, topology)) for accelerator, topology in shapes)
    golden.check("multislice-two-generations", multislice_jobset(replace(plan.of(JobSetPlan)[0], labels=labels)))


def test_privileged_jobset(plan: Plan, golden) -> None:
    golden.check("multislice-privileged", multislice_jobset(replace(plan.of(JobSetPlan)[0], privileged=True)))


def test_jobset_that_counts_devices(plan: Plan, golden) -> None:
    golden.check("multislice-device-count", multislice_jobset(replace(plan.of(JobSetPlan)[0], training=None)))


def test_jobset_with_the_program_in_its_image(plan: Plan, golden) -> None:
    training = replace(
        plan.of(JobSetPlan)[0].training,
        config="mine",
        steps=1000,
        checkpoint_every=50,
        seed=7,
        image="us-docker.pkg.dev/my-project-id/images/train:1.0.0",
        code_in_image=True,
    )
    golden.check("multislice-image", multislice_jobset(replace(plan.of(JobSetPlan)[0], training=training)))


def test_jobset_on_autopilot(golden) -> None:
    (job, *_) = committed("autopilot").of(JobSetPlan)
    golden.check("multislice-autopilot", multislice_jobset(job))


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


def test_queues_that_share(shared: Plan, golden) -> None:
    for queue in shared.queues:
        if queue.cohort is not None:
            golden.check(f"sharing-{queue.cluster_queue}", cluster_queue(queue), local_queue(queue))


def test_indexed_job(plan: Plan, golden) -> None:
    job = plan.of(JobSetPlan)[-1]
    assert job.slices == 1
    shared = {each.name: getattr(job, each.name) for each in fields(job)}
    indexed = IndexedJobPlan(**shared)
    golden.check("job-indexed", indexed_job(indexed), headless_service(indexed))


def test_priorities(shared: Plan, golden) -> None:
    low, high = shared.settings.priorities
    golden.check("priorities", *map(workload_priority_class, (low, high)), priority_class(high))
    for job in shared.of(JobSetPlan):
        golden.check(f"priority-{job.name}", multislice_jobset(job))


def test_teams(shared: Plan, golden) -> None:
    team = shared.teams[0]
    rights = {"rules": member_rules(), "subjects": subjects(team)}
    golden.check("team", namespace(team), rights, {"hard": chip_quota(team)})
    golden.check("fence", pod_policy(), job_policy(), policy_binding("tpu-pods-of-teams"))


def test_ray_jobs_of_the_tutorial(plan: Plan, golden) -> None:
    for job in plan.of(RayJobPlan):
        golden.check(job.name, ray_job(job))


def test_ray_job_that_lists_flavors(plan: Plan, golden) -> None:
    """The shape is a node selector, where GKE's webhook for its workers reads it; a term each says in what the flavors differ."""
    queue = next(queue for queue in plan.queues if queue.local_queue == plan.of(RayJobPlan)[0].queue)
    labels = tuple(flavor.labels for flavor in queue.flavors if flavor.shape is not None)
    golden.check("rayjob-flavors", ray_job(replace(plan.of(RayJobPlan)[0], labels=labels)))


def test_elastic_ray_job(plan: Plan, golden) -> None:
    golden.check("rayjob-elastic", ray_job(replace(plan.of(RayJobPlan)[0], elastic=True, max_slices=2)))


def test_controller_values(plan: Plan, golden) -> None:
    golden.check("jobset-values", jobset_values())
    golden.check("kuberay-values", kuberay_values(kubernetes_proxy=False))
    golden.check("kueue-values", kueue_values(plan.settings.kueue, ray=True))
    golden.check("kueue-values-fair-sharing", kueue_values(plan.settings.kueue, ray=True, fair_sharing=True))
    golden.check("kueue-values-autopilot", kueue_values(plan.settings.kueue, ray=True, autopilot=True))


def test_kubeconfig(golden) -> None:
    golden.check("kubeconfig", kubeconfig("multislice-cluster", "172.16.0.2", "Q0E="))
