"""What a training job's pods stand on: their program, their account, their bucket, and what mounts it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pulumi
import pytest
from pulumi_gcp.container import ClusterAddonsConfigArgs, ClusterAddonsConfigGcsFuseCsiDriverConfigArgs

from components.checkpoints import must_be_of_project
from components.cluster import must_mount_buckets
from settings.catalogue.versions import TRAINING_CONFIGS, TRAINING_REQUIREMENTS
from settings.validation.problem import ConfigurationError
from stack.outputs import checkpoints_output, watch_commands
from tests.support.platforms import AUTOPILOT, TUTORIAL, changed, plan_with, run_platform
from tests.support.recording import Recording, record
from workloads.checkpoint_volume import checkpoint_volume
from workloads.jobset.manifest import multislice_jobset
from workloads.program_files import MOST_BYTES, program_files
from workloads.programs.training import failure
from workloads.programs.training.needs import PACKAGES
from workloads.programs.training.options import CONFIGS
from workloads.training_pod import training_files

pytestmark = pytest.mark.unit

BUCKET, MEMBER = "gcp:storage/bucket:Bucket", "gcp:storage/bucketIAMMember:BucketIAMMember"
CLUSTER, JOBSET = "gcp:container/cluster:Cluster", "kubernetes:jobset.x-k8s.io/v1alpha2:JobSet"
ACCOUNT, CONFIG_MAP = "kubernetes:core/v1:ServiceAccount", "kubernetes:core/v1:ConfigMap"
NAME = "some-project-checkpoints"
TEAM = {"name": "research", "flavors": {"vlp-24": {"chips": 8}}}
FLAVORS = [{"flavors": ["vlp-24"]}]


@pytest.fixture(scope="module")
def stack() -> Recording:
    """The tutorial with a bucket, and a team beside the queue of everybody."""
    jobs = [{**TUTORIAL["workloads"][2], "after": []}, {"name": "theirs", "slices": 1, "team": "research"}]
    changes = {
        "checkpoints": {"bucket": NAME, "deleteAfterDays": 30},
        "teams": [TEAM],
        "workloads": jobs,
        "queues": FLAVORS,
    }
    return record(lambda: run_platform(plan_with(**changes)))


def test_the_bucket_is_private_beside_the_cluster_and_goes_with_the_stack(stack) -> None:
    (bucket,) = stack.of_type(BUCKET)
    assert bucket.inputs["location"] == "US-WEST4"
    assert (bucket.inputs["publicAccessPrevention"], bucket.inputs["uniformBucketLevelAccess"]) == ("enforced", True)
    assert bucket.inputs["hierarchicalNamespace"] == {"enabled": True}
    assert bucket.inputs["softDeletePolicy"] == {"retentionDurationSeconds": 0}
    assert bucket.inputs["lifecycleRules"] == [{"action": {"type": "Delete"}, "condition": {"age": 30}}]
    assert (bucket.inputs["forceDestroy"], bucket.protect) == (True, False)


def test_a_protected_bucket_is_not_deleted_with_what_is_in_it() -> None:
    recording = record(lambda: run_platform(plan_with(checkpoints={"bucket": NAME}, deletionProtection=True)))
    (bucket,) = recording.of_type(BUCKET)
    assert (bucket.inputs["forceDestroy"], bucket.protect) == (False, True)


def test_each_namespace_has_an_account_that_may_use_the_bucket(stack) -> None:
    accounts = {resource.inputs["metadata"]["namespace"] for resource in stack.of_type(ACCOUNT)}
    assert accounts == {"default", "research"}
    pool = "projects/123456789012/locations/global/workloadIdentityPools/some-project.svc.id.goog"
    assert {resource.inputs["member"]: resource.inputs["role"] for resource in stack.of_type(MEMBER)} == {
        f"principal://iam.googleapis.com/{pool}/subject/ns/{namespace}/sa/tpu-training": "roles/storage.objectUser"
        for namespace in accounts
    }


def test_a_right_waits_for_the_pool_of_identities_and_a_job_for_its_right_account_and_program(stack) -> None:
    (cluster,) = stack.of_type(CLUSTER)
    assert all(stack.needs(member, cluster) for member in stack.of_type(MEMBER))
    jobs = stack.of_type(JOBSET)
    assert len(jobs) == 2
    for job in jobs:
        namespace = job.inputs["metadata"]["namespace"]
        files = [
            r
            for kind in (ACCOUNT, CONFIG_MAP)
            for r in stack.of_type(kind)
            if r.inputs["metadata"]["namespace"] == namespace
        ]
        rights = [member for member in stack.of_type(MEMBER) if f"/ns/{namespace}/" in member.inputs["member"]]
        assert (len(files), len(rights)) == (2, 1)
        for needed in (*files, *rights):
            assert stack.needs(job, needed), needed.name


def test_the_program_is_in_a_config_map_that_cannot_change(stack) -> None:
    maps = stack.of_type(CONFIG_MAP)
    assert len(maps) == 2
    for made in maps:
        assert made.inputs["immutable"] is True
        assert made.inputs["metadata"]["name"] == training_files().config_map
        assert "__main__.py" in made.inputs["data"]


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"checkpoints": {"bucket": NAME}}, {"enabled": True}),
        ({}, None),
        ({**AUTOPILOT, "checkpoints": {"bucket": NAME}}, None),
    ],
    ids=["a bucket", "none", "autopilot"],
)
def test_what_mounts_buckets_is_switched_on_where_it_is_needed(changes: dict[str, Any], wanted: Any) -> None:
    (cluster,) = record(lambda: run_platform(plan_with(**changes))).of_type(CLUSTER)
    assert cluster.inputs["addonsConfig"].get("gcsFuseCsiDriverConfig") == wanted


def test_somebody_else_s_bucket_is_read_and_only_opened_to_the_jobs() -> None:
    recording = record(lambda: run_platform(plan_with(checkpoints={"existing": "theirs"})))
    assert recording.read == ["theirs"]
    assert not recording.of_type(BUCKET)
    assert [member.inputs["bucket"] for member in recording.of_type(MEMBER)] == ["theirs"]


def test_without_a_bucket_there_is_neither_account_nor_right(tutorial) -> None:
    assert not [resource for kind in (BUCKET, MEMBER, ACCOUNT) for resource in tutorial.of_type(kind)]
    pod = multislice_jobset(plan_with().jobs[0])["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert "metadata" not in pod
    assert "serviceAccountName" not in pod["spec"]
    assert "--checkpoint-dir" not in pod["spec"]["containers"][0]["command"][2]


def test_a_process_that_ends_is_started_again_with_all_others_and_not_by_itself() -> None:
    for job in plan_with().jobs:
        pod = multislice_jobset(job)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
        assert pod["restartPolicy"] == "Never"


IN_IMAGE = {"config": "tiny", "image": "registry.example/train:1.0.0", "code": "image"}


@pytest.mark.parametrize("training", [{"config": "tiny"}, IN_IMAGE], ids=["our image", "a user's image"])
def test_a_training_that_no_restart_helps_fails_at_once_and_no_other(training: dict[str, Any]) -> None:
    plan = plan_with(workloads=[{"name": "train", "slices": 1, "training": training}])
    spec = multislice_jobset(plan.jobs[0])["spec"]
    (rule,) = spec["failurePolicy"]["rules"]
    assert (rule["action"], rule["onJobFailureReasons"]) == ("FailJobSet", ["PodFailurePolicy"])
    assert spec["failurePolicy"]["maxRestarts"] == 4
    job = spec["replicatedJobs"][0]["template"]["spec"]
    disruption, codes = job["podFailurePolicy"]["rules"]
    assert disruption == {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    assert job["backoffLimit"] == 0, "what is counted fails the Job, and JobSet starts all again"
    assert (codes["action"], codes["onExitCodes"]["operator"]) == ("FailJob", "In")
    assert codes["onExitCodes"]["containerName"] == job["template"]["spec"]["containers"][0]["name"]
    assert codes["onExitCodes"]["values"] == [2, 3, 4, 6, 7]


def test_a_program_whose_exit_codes_mean_something_else_is_always_started_again() -> None:
    spec = multislice_jobset(plan_with(workloads=[{"name": "count", "slices": 1, "program": "device-count"}]).jobs[0])[
        "spec"
    ]
    assert spec["failurePolicy"] == {"maxRestarts": 4}
    assert "podFailurePolicy" not in spec["replicatedJobs"][0]["template"]["spec"]


def test_the_table_of_exit_codes_is_that_of_the_documentation() -> None:
    table = re.findall(r"^    (\d+) +\S", failure.__doc__ or "", re.MULTILINE)
    page = (
        (Path(__file__).parents[2] / "docs" / "training.md")
        .read_text()
        .partition("## Exit codes")[2]
        .partition("##")[0]
    )
    rows = re.findall(r"^\| (\d+) \| (yes|no|) ?\|", page, re.MULTILINE)
    assert [code for code, _ in rows] == table
    assert {int(code) for code, again in rows if again == "no"} == set(failure.FOR_GOOD)
    stated = {value for value in vars(failure).values() if isinstance(value, int)}
    assert {int(code) for code in table} == stated | {134}


def test_a_job_of_one_host_has_nobody_to_meet() -> None:
    section = {**TUTORIAL["slices"][0], "topology": "2x2", "pools": ["a"]}
    plan = plan_with(slices=[section], workloads=[{"name": "alone", "slices": 1}])
    pod = multislice_jobset(plan.jobs[0])["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    names = {entry["name"] for entry in pod["containers"][0]["env"]}
    assert "COORDINATOR_ADDRESS" not in names
    assert {"NUM_SLICES", "HOSTS_PER_SLICE", "CHIPS_PER_HOST", "SLICE_INDEX", "HOST_INDEX"} <= names


def test_in_the_host_s_network_a_pod_shows_its_own_account() -> None:
    volume = checkpoint_volume("b", host_network=True, owner=(1000, 100))["csi"]["volumeAttributes"]
    assert volume["hostNetworkPodKSA"] == "true"
    assert volume["mountOptions"].endswith(",uid=1000,gid=100")


def addons(enabled: bool | None) -> ClusterAddonsConfigArgs:
    driver = ClusterAddonsConfigGcsFuseCsiDriverConfigArgs(enabled=enabled) if enabled is not None else None
    return ClusterAddonsConfigArgs(gcs_fuse_csi_driver_config=driver)


@pytest.mark.parametrize("enabled", [None, False])
def test_a_cluster_of_somebody_else_s_that_mounts_no_buckets_is_refused_at_once(enabled: bool | None) -> None:
    with pytest.raises(pulumi.RunError, match="--update-addons GcsFuseCsiDriver=ENABLED"):
        must_mount_buckets(addons(enabled), "theirs")
    must_mount_buckets(addons(True), "theirs")


def test_a_bucket_of_another_project_is_refused_at_once() -> None:
    with pytest.raises(pulumi.RunError, match="is in project other, and must be in mine"):
        must_be_of_project("theirs", "other", "mine")
    must_be_of_project("theirs", "mine", "mine")


def test_outputs_say_where_the_checkpoints_are() -> None:
    plan = plan_with(checkpoints={"bucket": NAME})
    assert checkpoints_output(plan)["multislice-3slice"] == f"gs://{NAME}/default/multislice-3slice"
    assert checkpoints_output(plan_with()) == {}
    assert f"gcloud storage ls gs://{NAME}/default/multislice-3slice/" in watch_commands(plan)


def test_what_the_stack_says_of_the_program_is_what_the_program_says_of_itself() -> None:
    assert set(TRAINING_CONFIGS) == set(CONFIGS)
    pins = {name: pin for name, _, pin in (line.replace("[tpu]", "").partition("==") for line in TRAINING_REQUIREMENTS)}
    assert pins == {name: PACKAGES[name] for name in pins}


def test_a_change_of_a_file_is_another_config_map(tmp_path: Path) -> None:
    (tmp_path / "__main__.py").write_text("print(1)\n")
    first = program_files(tmp_path)
    (tmp_path / "__main__.py").write_text("print(2)\n")
    assert program_files(tmp_path).config_map != first.config_map


def test_what_no_config_map_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="0 bytes"):
        program_files(tmp_path)
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("")
    with pytest.raises(ValueError, match="must be flat"):
        program_files(tmp_path)
    (tmp_path / "inner" / "a.py").unlink()
    (tmp_path / "big.py").write_text("#" * MOST_BYTES)
    with pytest.raises(ValueError, match="a ConfigMap holds"):
        program_files(tmp_path)


def test_the_tutorial_s_payload_is_still_there() -> None:
    job = {**TUTORIAL["workloads"][0], "program": "device-count", "sleepSeconds": 5}
    plan = plan_with(workloads=[job])
    container = multislice_jobset(plan.jobs[0])["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert "volumes" not in container
    told = {each["name"]: each.get("value") for each in container["containers"][0]["env"]}
    assert (told["NUM_SLICES"], told["HOSTS_PER_SLICE"], told["CHIPS_PER_HOST"]) == ("3", "2", "4")
    with pytest.raises(ConfigurationError):
        plan_with(**changed(workloads=[{**job, "training": {}}]))


def test_the_page_has_the_exit_codes_of_the_program() -> None:
    page = (Path(__file__).parents[2] / "docs" / "training.md").read_text()
    described = re.findall(r"^    (\d+) ", str(failure.__doc__), re.MULTILINE)
    assert re.findall(r"^\| (\d+) \| ", page, re.MULTILINE) == described
