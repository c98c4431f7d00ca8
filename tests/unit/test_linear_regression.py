"""Ray's training script as a program: it learns, it reports, and its scaling comes from the slice's description."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from conftest import BOTH, plan_with

from workloads.ray_manifest import ray_job, runtime_env, script_name, training_script

pytestmark = pytest.mark.unit

PATH = Path(__file__).resolve().parents[2] / "workloads" / "train" / "linear_regression.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("linear_regression", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_loss_falls_to_nothing(program) -> None:
    reports: list[dict[str, Any]] = []
    last = program.fit(50, reports.append)
    assert [report["epoch"] for report in reports] == [0, 10, 20, 30, 40, 49]
    losses = [report["loss"] for report in reports]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 1
    assert last == losses[-1] < 1e-3


def test_shapes_are_as_stated(program) -> None:
    inputs, targets = program.data()
    assert (inputs.shape, targets.shape) == ((1000, 10), (1000, 1))


def test_scaling_is_what_the_manifest_hands_over(program) -> None:
    job = plan_with(**BOTH).ray_jobs[0]
    environment = yaml.safe_load(runtime_env(job))["env_vars"]
    assert program.scaling(environment) == {
        "num_workers": 4,
        "resources_per_worker": {"TPU": 4},
        "use_tpu": True,
        "topology": "4x4",
        "accelerator_type": "TPU-V6E",
    }


def test_a_missing_variable_is_named(program) -> None:
    with pytest.raises(KeyError, match="NUM_WORKERS"):
        program.scaling({})


def test_the_config_map_is_called_after_the_script_it_holds(monkeypatch) -> None:
    before = script_name()
    monkeypatch.setattr("workloads.ray_manifest.training_script", lambda: training_script() + "\n")
    assert script_name() != before
    assert len(before) <= 63


def test_an_elastic_job_gets_its_annotation_and_rays_autoscaler_and_others_do_not() -> None:
    plain, elastic = (
        ray_job(
            plan_with(**{**BOTH, "ray": {"operator": "addon", "jobs": [{"name": "ray-1", "elastic": on}]}}).ray_jobs[0]
        )
        for on in (False, True)
    )
    assert elastic["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] == "true"
    assert elastic["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] is True
    assert "elastic" not in json.dumps(plain)
    assert "enableInTreeAutoscaling" not in plain["spec"]["rayClusterSpec"]
