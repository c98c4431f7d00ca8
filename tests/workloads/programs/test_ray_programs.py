"""Ray's programs: the line's loss falls, and what is asked of Ray comes from the slice's description, which workers check."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from settings.plan.ray_jobs import RayJobPlan
from tests.support.platforms import BOTH, plan_with
from workloads.programs.ray_programs import linear_regression
from workloads.programs.ray_programs.slices import Slices, WrongDevicesError, given
from workloads.rayjob.manifest import ray_files, ray_job, runtime_env

pytestmark = pytest.mark.unit


def slices() -> Slices:
    return given(yaml.safe_load(runtime_env(plan_with(**BOTH).of(RayJobPlan)[0]))["env_vars"])


def test_the_loss_falls_to_nothing() -> None:
    reports: list[dict[str, Any]] = []
    last = linear_regression.fit(50, reports.append)
    assert [report["epoch"] for report in reports] == [0, 10, 20, 30, 40, 49]
    losses = [report["loss"] for report in reports]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 1
    assert last == losses[-1] < 1e-3


def test_shapes_are_as_stated() -> None:
    inputs, targets = linear_regression.data()
    assert (inputs.shape, targets.shape) == ((1000, 10), (1000, 1))


def test_scaling_is_what_the_manifest_hands_over() -> None:
    assert slices().scaling() == {
        "num_workers": 4,
        "resources_per_worker": {"TPU": 4},
        "use_tpu": True,
        "topology": "4x4",
        "accelerator_type": "TPU-V6E",
    }


def test_a_missing_variable_is_named() -> None:
    with pytest.raises(KeyError, match="NUM_SLICES"):
        given({})


@pytest.mark.parametrize(("devices", "kind"), [(4, "tpu"), (16, "cpu"), (0, "tpu")])
def test_workers_that_do_not_have_all_chips_of_the_right_kind_say_so(devices: int, kind: str) -> None:
    with pytest.raises(WrongDevicesError, match=f"expected 16 devices of kind tpu, found {devices} of kind {kind}"):
        slices().check(devices, kind, "tpu")
    slices().check(16, "tpu", "tpu")


def test_programs_are_mounted_where_their_job_looks_for_them() -> None:
    job = ray_job(plan_with(**BOTH).of(RayJobPlan)[0])
    cluster = job["spec"]["rayClusterSpec"]
    assert yaml.safe_load(job["spec"]["runtimeEnvYAML"])["env_vars"]["PYTHONPATH"] == "/app"
    assert job["spec"]["entrypoint"] == "python -m ray_programs.linear_regression"
    for group in (cluster["headGroupSpec"], cluster["workerGroupSpecs"][0]):
        pod = group["template"]["spec"]
        assert pod["containers"][0]["volumeMounts"][0]["mountPath"] == "/app/ray_programs"
        assert pod["volumes"][0]["configMap"]["name"] == ray_files().config_map


@pytest.mark.parametrize(
    ("image", "release"), [("rayproject/ray:2.60.0-py311", "2.60.0"), ("europe-docker.pkg.dev/x/ours:2026-11", None)]
)
def test_kuberay_is_told_rays_release_where_the_image_names_it(image: str, release: str | None) -> None:
    """KubeRay asks a node of Ray 2.53 or newer for its health by HTTP, and of an unknown one by a shell in its container."""
    jobs = [{"name": "ray-1", "image": image}]
    job = ray_job(plan_with(**{**BOTH, "ray": {"operator": "addon", "jobs": jobs}}).of(RayJobPlan)[0])
    assert job["spec"]["rayClusterSpec"].get("rayVersion") == release


def test_an_elastic_job_gets_its_annotation_and_rays_autoscaler_and_others_do_not() -> None:
    plain, elastic = (
        ray_job(
            plan_with(**{**BOTH, "ray": {"operator": "addon", "jobs": [{"name": "ray-1", "elastic": on}]}}).of(
                RayJobPlan
            )[0]
        )
        for on in (False, True)
    )
    assert elastic["metadata"]["annotations"]["kueue.x-k8s.io/elastic-job"] == "true"
    assert elastic["spec"]["rayClusterSpec"]["enableInTreeAutoscaling"] is True
    assert "elastic" not in json.dumps(plain)
    assert "enableInTreeAutoscaling" not in plain["spec"]["rayClusterSpec"]


def test_a_job_that_trains_has_the_package_and_its_workers_the_bucket() -> None:
    jobs = [{"name": "ray-1", "program": "training", "training": {"config": "tiny", "steps": 7}}]
    values = {**BOTH, "checkpoints": {"bucket": "some-bucket"}, "ray": {"operator": "addon", "jobs": jobs}}
    spec = ray_job(plan_with(**values).of(RayJobPlan)[0])["spec"]
    flags = "--config tiny --steps 7 --checkpoint-dir /checkpoints/default/ray-1"
    assert spec["entrypoint"] == f"python -m ray_programs.training {flags}"
    head = spec["rayClusterSpec"]["headGroupSpec"]["template"]
    worker = spec["rayClusterSpec"]["workerGroupSpecs"][0]["template"]
    folders = ["/app/ray_programs", "/app/training"]
    assert [mount["mountPath"] for mount in head["spec"]["containers"][0]["volumeMounts"]] == folders
    assert [mount["mountPath"] for mount in worker["spec"]["containers"][0]["volumeMounts"]] == [
        *folders,
        "/checkpoints",
    ]
    for pod in (head["spec"], worker["spec"]):
        names = [volume["name"] for volume in pod["volumes"]]
        assert sorted(names) == sorted({mount["name"] for mount in pod["containers"][0]["volumeMounts"]})
    volume = worker["spec"]["volumes"][-1]["csi"]["volumeAttributes"]
    assert volume["bucketName"] == "some-bucket"
    assert "uid=1000,gid=100" in volume["mountOptions"]
    assert worker["metadata"]["annotations"] == {"gke-gcsfuse/volumes": "true"}
    assert worker["spec"]["serviceAccountName"] == "tpu-training"
