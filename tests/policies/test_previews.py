"""The policies over what the real engine previews: of the committed stacks, and of ones that break the rules."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from operations.preview.preview import preview
from policies.check import VIOLATED, Report, report, resources_of
from policies.quota import tpu_pools
from rehearsal.host.toolchain import Toolchain
from tests.end_to_end.conftest import Checkout

pytestmark = [pytest.mark.policies, pytest.mark.rehearsal]

ROOT = Path(__file__).resolve().parents[2]
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
Preview = dict[str, Any]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    made = Checkout(tmp_path_factory.mktemp("checkout"))
    Toolchain(made.layout).ensure()
    return made


@pytest.fixture(scope="module")
def dev(checkout: Checkout) -> Preview:
    return preview(checkout.layout, "dev")


@pytest.fixture(scope="module")
def prod(checkout: Checkout) -> Preview:
    return preview(checkout.layout, "prod")


@pytest.fixture(scope="module")
def careless(checkout: Checkout) -> Iterator[Preview]:
    """The development stack under a name of production, with a job that takes its node's powers."""
    content = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())
    config = content["config"]
    config["tpu-platform:labels"] = {"owner": "nobody"}
    config["tpu-platform:workloads"][0]["privileged"] = True
    path = checkout.folder / "Pulumi.eu-prod.yaml"
    path.write_text(yaml.safe_dump(content))
    yield preview(checkout.layout, "eu-prod")
    path.unlink()


def states(shown: Preview, kind: str) -> list[dict[str, Any]]:
    """The inputs of all resources whose type ends in a kind, to be changed."""
    return [
        s["newState"]["inputs"] for s in shown["steps"] if s.get("newState", {}).get("type", "").endswith(f":{kind}")
    ]


def broken(found: Report) -> set[tuple[str, str]]:
    return {(violation.policy, violation.resource) for violation in found.violations}


def test_the_committed_stacks_comply(dev: Preview, prod: Preview) -> None:
    for environment, shown in (("dev", dev), ("prod", prod)):
        found = report(shown, environment)
        assert found.violations == ()
        assert found.undecided == ()
    assert {"control-plane-guarded", "deletion-protected"} <= set(report(prod, "prod").policies)
    assert not {"control-plane-guarded", "deletion-protected"} & set(report(dev, "dev").policies)


def test_the_policies_count_the_chips_that_the_program_counts(dev: Preview) -> None:
    pools = tpu_pools(resources_of(dev))
    assert sorted(pool.chips for pool in pools if pool.chips is not None) == [8, 8, 8, 16, 16]
    assert len(pools) == 5


def test_a_careless_stack_under_a_name_of_production(careless: Preview) -> None:
    found = report(careless, "eu-prod")
    assert {(v.policy, v.level, v.resource) for v in found.violations} == {
        ("control-plane-guarded", "mandatory", "cluster"),
        ("deletion-protected", "mandatory", "cluster"),
        ("labelled-for-cost", "advisory", "cluster"),
    }
    assert not found.holds


def test_the_same_job_undeclared_is_a_violation(careless: Preview) -> None:
    shown = copy.deepcopy(careless)
    shown["config"]["tpu-platform:workloads"] = "[]"
    assert ("not-privileged", "multislice-3slice-jobset") in broken(report(shown, "eu-prod"))


def no_queue(shown: Preview) -> None:
    del states(shown, "JobSet")[0]["metadata"]["labels"][QUEUE_LABEL]


def no_queue_of_ray(shown: Preview) -> None:
    states(shown, "RayJob")[0]["metadata"]["labels"] = {}


def too_much_quota(shown: Preview) -> None:
    groups = states(shown, "ClusterQueue")[0]["spec"]["resourceGroups"]
    groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = "1000"


def two_zones(shown: Preview) -> None:
    pool = next(pool for pool in states(shown, "NodePool") if pool["nodeConfig"]["machineType"].startswith("ct5lp"))
    pool["nodeLocations"].append("us-central1-b")


def open_to_everybody(shown: Preview) -> None:
    states(shown, "BucketIAMMember")[0]["member"] = "allUsers"


def moving_image(shown: Preview) -> None:
    head = states(shown, "RayJob")[0]["spec"]["rayClusterSpec"]["headGroupSpec"]
    head["template"]["spec"]["containers"][0]["image"] = "rayproject/ray:latest"


def moving_chart(shown: Preview) -> None:
    states(shown, "Release")[0].pop("version")


@pytest.mark.parametrize(
    ("change", "policy"),
    [
        (no_queue, "tpu-work-in-a-queue"),
        (no_queue_of_ray, "tpu-work-in-a-queue"),
        (too_much_quota, "quota-within-capacity"),
        (two_zones, "pool-in-one-zone"),
        (moving_image, "images-pinned"),
        (moving_chart, "images-pinned"),
        (open_to_everybody, "buckets-private"),
    ],
)
def test_what_the_program_never_writes_is_found_all_the_same(
    dev: Preview, change: Callable[[Preview], None], policy: str
) -> None:
    shown = copy.deepcopy(dev)
    change(shown)
    assert policy in {violation.policy for violation in report(shown, "dev").mandatory}


def test_who_may_use_a_bucket_that_does_not_keep_everybody_out_is_open_before_up(dev: Preview) -> None:
    """The member's project number comes with the bucket, so nothing of it is known in a preview."""
    shown = copy.deepcopy(dev)
    del states(shown, "Bucket")[0]["publicAccessPrevention"]
    found = report(shown, "dev")
    assert broken(found) == {("buckets-private", "checkpoints-bucket")}
    assert [(each.policy, each.resource) for each in found.undecided] == [("buckets-private", "checkpoints-default")]


def command(file: Path, environment: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "policies.check", str(file), "--env", environment]
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ)


def test_the_command_says_what_the_function_says(dev: Preview, careless: Preview, tmp_path: Path) -> None:
    file = tmp_path / "preview.json"
    file.write_text(json.dumps(dev))
    done = command(file, "dev")
    assert (done.returncode, done.stdout.splitlines()) == (0, report(dev, "dev").lines())
    file.write_text(json.dumps(careless))
    done = command(file, "eu-prod")
    assert done.returncode == VIOLATED
    assert done.stdout.splitlines() == "\n".join(report(careless, "eu-prod").lines()).splitlines()
