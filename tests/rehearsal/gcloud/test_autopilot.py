"""The tutorial's command for an Autopilot cluster, by Google's own gcloud."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytestmark = pytest.mark.rehearsal
PLACE = "--location=us-west4"
VERSION = "1.34"
"""The tutorial's 1.29.2-gke.1521000 is no longer offered, here as at Google."""


def create(server: Any, name: str, *words: str) -> Any:
    return server.gcloud("container", "clusters", "create-auto", name, f"--cluster-version={VERSION}", *words)


@pytest.fixture(scope="module")
def auto(server: Any) -> Any:
    done = create(server, "multislice-cluster-auto", PLACE, "--release-channel=rapid")
    assert done.returncode == 0, done.stderr
    return server


def test_an_autopilot_cluster_is_made_and_described(auto: Any) -> None:
    words = ("container", "clusters", "describe", "multislice-cluster-auto", PLACE, "--format=json")
    found = json.loads(auto.gcloud(*words).stdout)
    assert found["autopilot"]["enabled"] is True
    assert found["releaseChannel"] == {"channel": "RAPID"}
    assert found["autoscaling"]["enableNodeAutoprovisioning"] is True
    assert "nodePools" not in found


@pytest.mark.parametrize("words", [("list",), ("create", "mine", "--num-nodes=1"), ("delete", "default-pool")])
def test_its_pools_are_told_to_be_out_of_reach(auto: Any, words: tuple[str, ...]) -> None:
    done = auto.gcloud("container", "node-pools", *words, "--cluster=multislice-cluster-auto", PLACE)
    assert done.returncode != 0
    assert "code=400, message=Autopilot node pools cannot be accessed or modified." in done.stderr


def test_a_zonal_one_is_refused(server: Any) -> None:
    done = create(server, "zonal", "--location=us-west4-a")
    assert done.returncode != 0
    assert "Autopilot clusters must be regional clusters." in done.stderr
