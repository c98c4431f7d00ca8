"""Pods of Python images: which are real, what they run, and what they get in place of TPU chips."""

from __future__ import annotations

import importlib.metadata
import re
from pathlib import Path

import pytest

from rehearsal.control_plane import images
from rehearsal.control_plane.images import PODS, default_table, pods_are_real
from rehearsal.host import python_images
from rehearsal.host.layout import Layout
from rehearsal.kubelet.containers import tpu
from rehearsal.kubernetes import image_table
from settings.catalogue.versions import JOBSET_IMAGE, JOBSET_VERSION
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit
LAYOUT = Layout.default()


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[image_table.Image]:
    monkeypatch.setenv(PODS, "real")
    return image_table.parse(default_table(LAYOUT))


def test_official_python_images_run_in_the_training_environment(rows: list[image_table.Image]) -> None:
    for image in ("python:3.12.12-slim-bookworm", "docker.io/library/python:3.11"):
        found = image_table.image_for(image, rows)
        assert found is not None
        assert found.environment["PATH"].split(":")[0].endswith("/training/bin")
        assert image_table.argv(found, [], []) == ["python3"]
        assert image_table.argv(found, [], ["bash", "-c", "x"]) == ["bash", "-c", "x"]
        assert found.memory > 0
    for image in ("cpython:3.12", "python:2.7", "python"):
        assert image_table.image_for(image, rows) is None


def test_simulated_pods_have_no_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PODS, "simulated")
    rows = image_table.parse(default_table(LAYOUT))
    assert image_table.image_for("python:3.12.12", rows) is None
    assert image_table.image_for(f"{JOBSET_IMAGE}:v{JOBSET_VERSION}", rows) is not None


@pytest.mark.parametrize(("memory", "real"), [(images.LEAST_REAL_MIB, True), (images.LEAST_REAL_MIB - 1, False)])
def test_without_a_word_the_machines_memory_decides(monkeypatch: pytest.MonkeyPatch, memory: int, real: bool) -> None:
    monkeypatch.delenv(PODS)
    monkeypatch.setattr(images, "_memory_mib", lambda: memory)
    assert pods_are_real() is real


def test_another_word_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PODS, "both")
    with pytest.raises(ValueError, match="REHEARSAL_PODS is 'both': wanted real or simulated"):
        pods_are_real()


def test_chips_are_devices_of_the_processor() -> None:
    container = pods.container(resources={"limits": {"google.com/tpu": "4"}})
    found = tpu.variables(container, {tpu.ACCELERATOR: "tpu-v5p-slice"})
    assert found["XLA_FLAGS"] == "--xla_force_host_platform_device_count=4"
    assert found["JAX_PLATFORMS"] == "cpu"
    two_each = tpu.variables(container, {tpu.ACCELERATOR: "tpu7x"})
    assert two_each["XLA_FLAGS"] == "--xla_force_host_platform_device_count=8"
    assert tpu.variables(pods.container(), {}) == {}
    assert tpu.variables(pods.container(resources={"limits": {"google.com/tpu": 0}}), {}) == {}


def test_the_wanted_libtpu_is_there_by_name(tmp_path: Path) -> None:
    jax = tmp_path / "jax-9.9.dist-info"
    jax.mkdir()
    wanted = 'Requires-Dist: libtpu==0.0.42.*; extra == "tpu"'
    (jax / "METADATA").write_text(f"Metadata-Version: 2.1\nName: jax\nVersion: 9.9\n{wanted}\n")
    python_images.play_libtpu(tmp_path)
    found = next(iter(importlib.metadata.distributions(name="libtpu", path=[str(tmp_path)])))
    assert (found.version, found.metadata["Name"]) == ("0.0.42", "libtpu")


@pytest.mark.parametrize("image", python_images.PYTHON_IMAGES, ids=lambda image: image.name)
def test_environments_are_pinned_with_hashes(image: python_images.PythonImage) -> None:
    text = python_images.requirements(LAYOUT, image).read_text()
    pinned = re.findall(r"^[a-z0-9_.-]+==\S+ \\$", text, re.MULTILINE)
    assert pinned
    assert len(pinned) == len(re.findall(r"^[a-z]", text, re.MULTILINE))
    assert text.count("--hash=sha256:") >= len(pinned)
