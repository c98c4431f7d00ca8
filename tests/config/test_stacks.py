"""Every committed stack file loads, plans, and agrees with the project's description of its keys."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import pytest
import yaml

from settings.load import plan_from
from settings.plan.jobs import JobSetPlan
from settings.plan.plan import Plan, QueuePlan
from settings.plan.ray_jobs import RayJobPlan
from settings.schema.stack import RetrySection, Settings

pytestmark = pytest.mark.config

ROOT = Path(__file__).resolve().parents[2]
STACKS = sorted(path for path in ROOT.glob("Pulumi.*.yaml"))


def project() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "Pulumi.yaml").read_text())
    return content


def values_of(path: Path) -> dict[str, Any]:
    """A stack's values over the project's defaults, as the engine hands them over."""
    defaults = {
        f"tpu-platform:{key}": entry["default"] for key, entry in project()["config"].items() if "default" in entry
    }
    return {**defaults, **yaml.safe_load(path.read_text())["config"]}


def plan_of(path: Path, folder: Path) -> Plan:
    return planned(values_of(path), folder)


def planned(values: dict[str, Any], folder: Path) -> Plan:
    return plan_from(
        {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}, folder
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the charts that the rehearsal's set-up puts into a checkout."""
    for chart in ("kueue", "jobset", "kuberay-operator"):
        folder = tmp_path / ".rehearsal" / "charts" / chart
        folder.mkdir(parents=True)
        (folder / "Chart.yaml").write_text(f"name: {chart}\n")
    return tmp_path


def test_the_committed_stacks_are_found() -> None:
    assert {"dev", "local", "prod", "staging"} <= {path.name.split(".")[1] for path in STACKS}


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_a_stack_plans(path: Path, checkout: Path) -> None:
    plan = plan_of(path, checkout)
    assert plan.chips and (plan.autopilot or plan.pools)


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_a_stack_uses_only_described_keys(path: Path) -> None:
    known = {f"tpu-platform:{key}" for key in project()["config"] if ":" not in key}
    stack = {key for key in yaml.safe_load(path.read_text())["config"] if key.startswith("tpu-platform:")}
    assert stack <= known


@pytest.mark.parametrize("path", STACKS, ids=lambda path: path.name)
def test_what_is_not_stated_in_a_stack_is_the_same_in_project_and_model(path: Path, checkout: Path) -> None:
    stated = yaml.safe_load(path.read_text())["config"]
    bare = {key: value if isinstance(value, str) else json.dumps(value) for key, value in stated.items()}
    assert plan_from(bare, checkout) == plan_of(path, checkout)


def test_the_project_describes_every_key_of_the_model_and_disables_default_providers() -> None:
    config = project()["config"]
    keys = {field.alias or name for name, field in Settings.model_fields.items()}
    assert {key for key in config if ":" not in key} == keys
    assert all(config[key]["description"] and config[key]["type"] for key in keys)
    assert config["pulumi:disable-default-providers"]["value"] == ["gcp", "kubernetes"]


def test_the_rehearsal_differs_from_dev_in_values_only(checkout: Path) -> None:
    """Its time between the tries of Plan B is shorter, as all times are; no two buckets have one name; and processors train the
    smallest model."""
    dev, local = plan_of(ROOT / "Pulumi.dev.yaml", checkout), plan_of(ROOT / "Pulumi.local.yaml", checkout)
    assert (dev.pools, dev.of(RayJobPlan)) == (local.pools, local.of(RayJobPlan))
    assert [with_tiny_model(job) for job in dev.of(JobSetPlan)] == [
        with_tiny_model(job) for job in local.of(JobSetPlan)
    ]
    assert {job.training.config for job in local.of(JobSetPlan) if job.training is not None} == {"tiny"}
    assert [plan.checkpoints and plan.checkpoints.bucket for plan in (dev, local)] == [
        f"{p.settings.project}-checkpoints" for p in (dev, local)
    ]
    assert [without_retries(queue) for queue in dev.queues] == [without_retries(queue) for queue in local.queues]
    assert local.settings.project == "rehearsal-project"
    assert not dev.settings.deletion_protection
    assert not local.settings.deletion_protection


def with_tiny_model(job: JobSetPlan) -> JobSetPlan:
    """A job with the smallest model, and no bucket."""
    assert job.training is not None
    return replace(job, training=replace(job.training, config="tiny", bucket=None))


def without_retries(queue: QueuePlan) -> QueuePlan:
    flavors = [
        replace(flavor, check=replace(flavor.check, retry=RetrySection())) if flavor.check is not None else flavor
        for flavor in queue.flavors
    ]
    return replace(queue, flavors=tuple(flavors))


def test_both_stacks_are_the_tutorials_platform(checkout: Path) -> None:
    plan = plan_of(ROOT / "Pulumi.dev.yaml", checkout)
    assert [(pool.name, pool.shape.hosts, pool.bounds, pool.capacity.kind) for pool in plan.pools] == [
        ("nodepool1", 2, None, "on-demand"),
        ("nodepool2", 2, None, "on-demand"),
        ("nodepool3", 2, None, "on-demand"),
        ("on-demand-pool", 4, (0, 4), "on-demand"),
        ("dws-pool", 4, (0, 4), "queued"),
    ]
    assert [(queue.local_queue, [f.name for f in queue.flavors]) for queue in plan.queues] == [
        ("multislice-queue", ["vlp-24"]),
        ("user-queue", ["default-cpu", "on-demand", "dws"]),
    ]
    assert [[f.chips for f in queue.flavors] for queue in plan.queues] == [[24], [0, 16, 16]]


def test_the_autopilot_stack_is_tutorial_a_without_pools(checkout: Path) -> None:
    plan, dev = plan_of(ROOT / "Pulumi.autopilot.yaml", checkout), plan_of(ROOT / "Pulumi.dev.yaml", checkout)
    assert (plan.pools, plan.chips) == ((), 24)
    assert tuple(replace(job, share=None) for job in plan.of(JobSetPlan)) == dev.of(JobSetPlan)
    assert all(job.share is not None for job in plan.of(JobSetPlan))
    ((flavor,),) = (queue.flavors for queue in plan.queues)
    assert (flavor.chips, flavor.pools) == (24, ())
    assert dict(flavor.labels) == {
        "cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice",
        "cloud.google.com/gke-tpu-topology": "2x4",
        "topology.kubernetes.io/zone": "us-west4-a",
    }


# -- staging and production -------------------------------------------------------------------------------------------

GUARDED = ("prod", "staging")


@pytest.mark.parametrize("name", GUARDED)
def test_a_guarded_stack_is_private_protected_and_says_whose_bill_it_is(name: str, checkout: Path) -> None:
    settings = plan_of(ROOT / f"Pulumi.{name}.yaml", checkout).settings
    assert settings.deletion_protection
    assert settings.cluster.private_endpoint
    assert settings.cluster.authorized_networks
    assert {"environment", "team", "cost-center"} <= set(settings.labels)
    assert settings.labels["environment"] == name


@pytest.mark.parametrize("name", GUARDED)
def test_a_guarded_stack_tries_its_reservation_then_queues_and_takes_spot_machines_last(
    name: str, checkout: Path
) -> None:
    plan = plan_of(ROOT / f"Pulumi.{name}.yaml", checkout)
    kinds = {section.flavor: section.capacity for section in plan.settings.slices}
    tried = [[kinds[flavor.name] for flavor in queue.flavors if flavor.name in kinds] for queue in plan.queues]
    reserved = [order for order in tried if "reservation" in order]
    assert reserved
    assert all(order[:2] == ["reservation", "queued"] and set(order[2:]) == {"spot"} for order in reserved)
    assert len(plan.pools) > 2


def test_a_job_of_production_is_the_same_job_on_every_plan_and_generation(checkout: Path) -> None:
    plan = plan_of(ROOT / "Pulumi.prod.yaml", checkout)
    for queue in (queue for queue in plan.queues if queue.team is not None):
        shapes = [flavor.shape for flavor in queue.flavors if flavor.shape is not None]
        assert len({(shape.hosts, shape.machine.chips, shape.machine.devices_per_chip) for shape in shapes}) == 1
        assert {shape.machine.generation for shape in shapes} == {"v6e", "v5p"}


@pytest.mark.parametrize("flavor", ["reserved", "dws", "spare", "v5p"])
def test_a_ray_job_of_production_runs_on_the_plan_and_generation_that_it_lists(flavor: str, checkout: Path) -> None:
    values = values_of(ROOT / "Pulumi.prod.yaml")
    values["tpu-platform:teams"][0]["cpu"] = {}
    values["tpu-platform:ray"]["jobs"] = [{"name": "a-job", "team": "research", "flavors": [flavor]}]
    (job,) = planned(values, checkout).of(RayJobPlan)
    (section,) = (each for each in values["tpu-platform:slices"] if each["flavor"] == flavor)
    assert (job.queue, job.flavors, job.shape.topology) == ("research", (flavor,), section["topology"])
    assert job.queued == (section["capacity"] == "queued")


def test_the_teams_of_production_own_all_its_chips_of_every_plan_between_them(checkout: Path) -> None:
    plan = plan_of(ROOT / "Pulumi.prod.yaml", checkout)
    assert len(plan.settings.teams) >= 2
    for flavor in ("reserved", "dws", "spare", "v5p"):
        there = sum(p.shape.chips for p, s in zip(plan.pools, flavors_of(plan), strict=True) if s == flavor)
        assert sum(team.flavors[flavor].chips for team in plan.settings.teams) == there


def flavors_of(plan: Plan) -> list[str]:
    return [section.flavor for section in plan.settings.slices for _ in section.pools]


@pytest.mark.parametrize("name", GUARDED)
def test_a_guarded_stack_keeps_its_secrets_by_a_key_of_its_own(name: str) -> None:
    content = yaml.safe_load((ROOT / f"Pulumi.{name}.yaml").read_text())
    project = content["config"]["tpu-platform:project"]
    assert content["secretsprovider"].startswith(f"gcpkms://projects/{project}/")
    assert content["secretsprovider"].endswith(f"/cryptoKeys/{name}")
    assert "encryptionsalt" not in content


def test_the_networks_of_guarded_stacks_can_be_peered(checkout: Path) -> None:
    networks = [plan_of(ROOT / f"Pulumi.{name}.yaml", checkout).settings for name in GUARDED]
    ranges = [
        IPv4Network(cidr)
        for settings in networks
        for cidr in (
            settings.network.nodes_cidr,
            settings.network.pods_cidr,
            settings.network.services_cidr,
            settings.network.control_plane_cidr,
        )
    ]
    outside = {IPv4Network(cidr) for settings in networks for cidr in settings.cluster.authorized_networks}
    for one, other in itertools.combinations([*ranges, *outside], 2):
        assert not one.overlaps(other)
