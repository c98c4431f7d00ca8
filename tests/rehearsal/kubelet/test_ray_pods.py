"""Pods of Ray: the installation that they run in, what they are told of their slice, and how many jobs run at a time."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from rehearsal.control_plane import images
from rehearsal.control_plane.images import PODS, default_table
from rehearsal.host import python_home
from rehearsal.host.layout import Layout
from rehearsal.kubelet.pods.memory_budget import MemoryBudget
from rehearsal.kubernetes import image_table
from settings.catalogue.versions import RAY_IMAGE, RAY_REQUIREMENTS

pytestmark = pytest.mark.unit

LAYOUT = Layout.default()
WHERE = "import sys, sysconfig; print(sys.prefix, sys.base_prefix, sysconfig.get_path('purelib'))"


def pod(uid: str, workload: str | None = None, **labels: str) -> dict[str, Any]:
    annotations = {"kueue.x-k8s.io/workload": workload} if workload is not None else {}
    return {"metadata": {"uid": uid, "namespace": "default", "labels": labels, "annotations": annotations}}


def test_an_installation_is_no_virtual_environment_and_has_no_packages_of_the_machine(tmp_path: Path) -> None:
    """Ray copies a virtual environment for each job that states requirements."""
    home = tmp_path / "python"
    python = python_home.make(home)
    done = subprocess.run([python, "-S", "-c", WHERE], capture_output=True, text=True, check=True)
    prefix, base, packages = done.stdout.split()
    assert prefix == base == str(home)
    assert packages.startswith(f"{home}/")
    missing = subprocess.run([python, "-c", "import yaml"], capture_output=True, text=True, check=False)
    assert "No module named 'yaml'" in missing.stderr


def test_rays_image_has_what_jobs_ask_for_so_that_nothing_is_fetched() -> None:
    pinned = (LAYOUT.checkout / "tools" / "images" / "ray.txt").read_text()
    release = RAY_IMAGE.partition(":")[2].partition("-")[0]
    for requirement in (f"ray=={release}", *RAY_REQUIREMENTS):
        assert f"\n{requirement.replace('[tpu]', '')} \\\n" in f"\n{pinned}".replace("[default,train]", "")


@pytest.mark.parametrize(("cores", "jobs"), [(1, 1), (2, 1), (4, 2), (9, 4)])
def test_of_rays_jobs_one_runs_for_two_cores(monkeypatch: pytest.MonkeyPatch, cores: int, jobs: int) -> None:
    monkeypatch.setenv(PODS, "real")
    monkeypatch.setattr(images, "_cores", lambda: cores)
    rows = image_table.parse(default_table(LAYOUT))
    found = image_table.image_for(RAY_IMAGE, rows)
    assert found is not None
    assert found.jobs == jobs
    training = image_table.image_for("python:3.12", rows)
    assert training is not None
    assert training.jobs is None


def test_the_next_job_of_a_kind_waits_until_one_has_ended_and_others_do_not() -> None:
    room = MemoryBudget(100.0)
    head, worker, submitter = pod("1", "first"), pod("2", "first"), pod("3", "first")
    assert room.take(head, 10, "ray", 1)
    assert not room.take(pod("4", "second"), 10, "ray", 1)
    assert room.take(pod("5", "other"), 10, "python", None)
    assert room.take(worker, 10, "ray", 1)
    assert room.take(submitter, 10, "ray", 1), "the submitter is of a job of its own, and of the same workload"
    for uid in "123":
        room.leave(uid)
    assert room.take(pod("4", "second"), 10, "ray", 1)


def test_jobs_outside_of_kueue_are_known_by_their_labels() -> None:
    room = MemoryBudget(100.0)
    assert room.take(pod("1", **{"ray.io/cluster": "a"}), 10, "ray", 1)
    assert room.take(pod("2", **{"ray.io/cluster": "a"}), 10, "ray", 1)
    assert not room.take(pod("3", **{"ray.io/cluster": "b"}), 10, "ray", 1)
