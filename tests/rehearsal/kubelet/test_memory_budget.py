"""Who may run when the machine's memory is short."""

from __future__ import annotations

from typing import Any

import pytest

from rehearsal.kubelet.pods import memory_budget
from rehearsal.kubelet.pods.memory_budget import MemoryBudget
from rehearsal.kubernetes import image_table
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit


def member(uid: str, job: str) -> dict[str, Any]:
    labels = {"jobset.sigs.k8s.io/jobset-uid": job}
    return {"metadata": {"uid": uid, "namespace": "ns", "labels": labels}, "spec": {}}


def test_the_next_job_waits_and_the_one_that_has_begun_goes_on() -> None:
    subject = MemoryBudget(10)
    assert subject.take(member("a0", "a"), 6)
    assert not subject.take(member("b0", "b"), 6)
    assert subject.take(member("a1", "a"), 6)
    subject.leave("a0")
    assert not subject.take(member("b0", "b"), 6)
    subject.leave("a1")
    assert subject.take(member("b0", "b"), 6)
    assert subject.take(member("b0", "b"), 6)


def test_a_job_larger_than_the_machine_is_tried_alone_and_managers_always_run() -> None:
    subject = MemoryBudget(1)
    assert subject.take(member("manager", "kueue"), 0)
    assert subject.take(member("a0", "a"), 6)
    assert subject.take(member("other manager", "jobset"), 0)


def test_a_pod_without_a_job_is_on_its_own() -> None:
    assert memory_budget.group(pods.pod()) == "ns/u-1"


def test_the_kernels_figure() -> None:
    assert memory_budget.available("MemTotal:  9 kB\nMemAvailable:    2048 kB\n") == 2 * 2**20
    assert memory_budget.available() > 0


def test_a_pod_takes_what_its_images_are_said_to() -> None:
    row = {"match": "tool:", "entrypoint": [], "cmd": ["sh"], "rootfs": "host", "memory": "1Mi"}
    rows = image_table.parse({"images": [row, {"match": "other:", "program": "/x", "entrypoint": ["/x"]}]})
    other = {"name": "o", "image": "other:1"}
    assert image_table.memory(pods.pod(pods.container(), pods.container("d"), other), rows) == 2 * 2**20
