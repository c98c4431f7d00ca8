"""Programs that cannot be found, and buckets that are none or not there."""

from __future__ import annotations

from typing import Any

import pytest

from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from tests.support.platforms import BOTH, TUTORIAL, both, changed, plan_with, with_ray
from tests.support.problems import cluster, each, is_the_only_problem, jobs, problems_in

pytestmark = pytest.mark.unit

BUCKET = {"bucket": "some-project-checkpoints"}
IMAGE = "us-docker.pkg.dev/some-project/images/train:1.0.0"


def bucket(**checkpoints: Any) -> dict[str, Any]:
    return changed(checkpoints=checkpoints)


def training(**section: Any) -> dict[str, Any]:
    return changed(workloads=jobs(training=section))


def job(**keys: Any) -> dict[str, Any]:
    return changed(workloads=jobs(**keys), checkpoints=BUCKET)


def ray(**keys: Any) -> dict[str, Any]:
    return {**TUTORIAL, **both(ray=with_ray(0, **keys))}


CASES: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("bucket with capitals", bucket(bucket="My-Checkpoints"), "checkpoints.bucket", "3 to 63 characters", "write my-checkpoints"),
    ("bucket by its address", bucket(bucket="gs://my-checkpoints"), "checkpoints.bucket", "3 to 63 characters", "write gs-my-checkpoints"),
    ("bucket of two letters", bucket(bucket="ab"), "checkpoints.bucket", "3 to 63 characters", "like my-project-checkpoints"),
    ("bucket with a forbidden word", bucket(bucket="our-google-bucket"), "checkpoints.bucket", "without `google`", "like my-project"),
    ("bucket with what looks like a forbidden word", bucket(bucket="our-g00gle-bucket"), "checkpoints.bucket", "what looks like it", "like my-project"),
    ("two buckets", bucket(**BUCKET, existing="theirs"), "checkpoints.existing", "a stack has one bucket", "remove one of the two"),
    ("bucket without its name", bucket(deleteAfterDays=30), "checkpoints.bucket", "`existing` with the name", "add `bucket`"),
    ("lifetime of files of another's bucket", bucket(existing="theirs", deleteAfterDays=30), "checkpoints.deleteAfterDays", "the bucket's owner decides it", "remove the key"),
    ("files that can be had back in another's bucket", bucket(existing="theirs", softDeleteDays=0), "checkpoints.softDeleteDays", "the bucket's owner decides it", "remove the key"),
    ("files that live for no day", bucket(**BUCKET, deleteAfterDays=0), "checkpoints.deleteAfterDays", "from 1 to 36500", "write 1 or more"),
    ("deleted files for three days", bucket(**BUCKET, softDeleteDays=3), "checkpoints.softDeleteDays", "0, or 7 to 90", "write 0 or 7"),
    ("deleted files for a year", bucket(**BUCKET, softDeleteDays=365), "checkpoints.softDeleteDays", "from 0 to 90", "write 90 or less"),
    ("a bucket in a list", changed(checkpoints=["my-checkpoints"]), "checkpoints", "a map of keys", "write its keys below it"),
    ("checkpoints without a bucket", changed(workloads=jobs(checkpoints=True)), "workloads[0].checkpoints", "no bucket", "add `tpu-platform:checkpoints`"),
    ("checkpoints of a count", job(program="device-count", checkpoints=True), "workloads[0].checkpoints", "does not train", "program: training"),
    ("training of a count", job(program="device-count", training={"steps": 5}), "workloads[0].training", "does not train", "program: training"),
    ("program of nobody's", job(program="train"), "workloads[0].program", "one of training, device-count", "write training"),
    ("waiting after training", job(sleepSeconds=30), "workloads[0].sleepSeconds", "ends when it has trained", "training.steps"),
    ("configuration of nobody's", training(config="smal"), "workloads[0].training.config", "tiny, small", "write small"),
    ("no steps", training(steps=0), "workloads[0].training.steps", "from 1", "write 1 or more"),
    ("steps in quotes", training(steps="100"), "workloads[0].training.steps", "a whole number", "write 100, without quotes"),
    ("checkpoints at no step", training(checkpointEvery=0), "workloads[0].training.checkpointEvery", "from 1", "write 1 or more"),
    ("seed below zero", training(seed=-1), "workloads[0].training.seed", "from 0", "write 0 or more"),
    ("program in no image", training(code="image"), "workloads[0].training.image", "the image that contains the program", "add `image`"),
    ("program from a bucket", training(code="git", image=IMAGE), "workloads[0].training.code", "one of configmap, image", "write configmap"),
    ("image that moves", training(image="python:latest"), "workloads[0].training.image", "an exact tag", "like us-docker.pkg.dev"),
    ("image without a tag", training(image="registry.example:5000/train"), "workloads[0].training.image", "an exact tag", "like us-docker.pkg.dev"),
    ("image with a scheme", training(image="docker://a/b:1.0"), "workloads[0].training.image", "an exact tag", "write a/b:1.0"),
    ("image with several colons", training(image="a:::b//c:1.0"), "workloads[0].training.image", "single separators", "like us-docker.pkg.dev"),
    ("image with an empty part", training(image="us-docker.pkg.dev/a//x/:1.0"), "workloads[0].training.image", "single separators", "like us-docker.pkg.dev"),
    ("image with half a digest", training(image="train@sha256:0123"), "workloads[0].training.image", "with its digest", "like us-docker.pkg.dev"),
    ("checkpoints in the host's network on an old version", changed(cluster=cluster(version="1.32"), checkpoints=BUCKET, workloads=jobs(privileged=True)), "cluster.version", "host's network", "1.33.3"),
    ("a line that trains", ray(training={"steps": 5}), "ray.jobs[0].training", "does not train", "program: training"),
    ("a line with checkpoints", {**ray(checkpoints=True), "checkpoints": BUCKET}, "ray.jobs[0].checkpoints", "does not train", "program: training"),
    ("training for epochs", ray(program="training", epochs=50), "ray.jobs[0].epochs", "only linear-regression", "training.steps"),
    ("Ray's program of nobody's", ray(program="regression"), "ray.jobs[0].program", "one of linear-regression, training", "write linear-regression"),
    ("Ray's training in an unknown configuration", ray(program="training", training={"config": "larg"}), "ray.jobs[0].training.config", "tiny, small", "write tiny"),
    ("Ray's checkpoints without a bucket", ray(program="training", checkpoints=True), "ray.jobs[0].checkpoints", "no bucket", "add `tpu-platform:checkpoints`"),
    ("Ray's training from another image", ray(program="training", training={"image": IMAGE}), "ray.jobs[0].training.image", "a known key", "remove the key"),
]  # fmt: skip


@each(CASES)
def test_one_mistake_is_one_fault(values, path, expected, fix) -> None:
    is_the_only_problem(values, path, expected, fix)


@pytest.mark.parametrize(
    "image",
    [
        IMAGE,
        "python:3.12.12-slim-bookworm",
        "registry.example:5000/team/train:2026.11",
        "train@sha256:" + "0" * 64,
        "train:1.0@sha256:" + "a" * 64,
        "train:latest-2026",
    ],
)
def test_pinned_images_are_taken(image: str) -> None:
    plan: Plan = plan_with(workloads=jobs(training={"image": image, "code": "image", "config": "mine"}))
    assert plan.jobs[0].training is not None
    assert plan.jobs[0].training.image == image


def test_a_configuration_that_only_an_image_knows_is_its_own_business() -> None:
    plan_with(workloads=jobs(training={"image": IMAGE, "code": "image", "config": "mine"}))
    assert [problem.path for problem in problems_in(training(image=IMAGE, config="mine"))] == [
        "workloads[0].training.config"
    ]


def test_checkpoints_are_where_there_is_a_bucket_unless_a_job_has_none() -> None:
    first, second = (jobs(name=name, **keys)[0] for name, keys in (("a", {}), ("b", {"checkpoints": False})))
    plan: Plan = plan_with(checkpoints=BUCKET, workloads=[first, second])
    assert [job.training.bucket for job in plan.jobs if job.training] == [BUCKET["bucket"], None]
    assert [job.training.bucket for job in plan_with(workloads=[first]).jobs if job.training] == [None]


def test_a_ray_job_trains_what_multislice_jobs_train() -> None:
    jobs_ = with_ray(0, program="training", training={"config": "tiny", "steps": 7})
    plan: Plan = plan_with(**{**BOTH, "ray": jobs_, "checkpoints": BUCKET})
    first, second = plan.of(RayJobPlan)
    assert first.training is not None
    assert (first.training.config, first.training.steps, first.training.bucket) == ("tiny", 7, BUCKET["bucket"])
    assert second.training is None
