"""Runs to their end, through every interruption: what is trained is what would have been trained without."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from bench.local_job import HEARTBEAT_S, Ended, Job
from tests.workloads.programs.training_runs.conftest import EVERY, STEPS, TRAINED

pytestmark = pytest.mark.training

OTHER_MESH_TOLERANCE = 1e-3
"""Relative, of the last loss: on another mesh sums have another order, and 200 steps of Adam carry the rounding on."""
REPLACED = "--heartbeat-seconds", str(HEARTBEAT_S)


def numbers(ended: Ended) -> list[int]:
    return [line["step"] for line in ended.steps]


def saved(folder: Path) -> list[int]:
    """Steps of the valid checkpoints, oldest first."""
    return sorted(int(path.parent.name) for path in folder.glob("*/commit_success.txt"))


def test_all_devices_are_counted_and_the_loss_falls(undisturbed) -> None:
    assert [ended.code for ended in undisturbed] == [0, 0]
    for ended in undisturbed:
        assert ended.out.splitlines().count("Global device count: 4") == 1
        assert ended.out.splitlines()[-1] == "Training Complete!"
    first, second = undisturbed
    assert numbers(first) == list(range(1, STEPS + 1))
    assert second.steps == []
    losses = [line["loss"] for line in first.steps]
    assert losses[-1] < losses[0] / 2
    for line in first.steps:
        assert set(line) == {"step", "loss", "step_seconds", "tokens_per_second_per_chip", "goodput"}
        assert 0 < line["goodput"] < 1


def test_a_killed_process_ends_the_others_and_nothing_is_lost_or_done_twice(undisturbed, tmp_path) -> None:
    folder = tmp_path / "checkpoints"
    flags = (*TRAINED, *REPLACED, "--checkpoint-dir", str(folder))
    with Job(tmp_path / "first", *flags, slices=2, hosts=1) as job:
        job.until_step(2 * EVERY + 5)
        job.signal(1, signal.SIGKILL)
        killed = job.ended(HEARTBEAT_S + 30)
    assert killed[1].code == -signal.SIGKILL
    assert killed[0].code in (8, -signal.SIGABRT)
    assert numbers(killed[0])[-1] < STEPS
    kept = saved(folder)[-1]
    assert kept >= EVERY

    with Job(tmp_path / "second", *flags, slices=2, hosts=1) as job:
        again = job.ended()
    assert [ended.code for ended in again] == [0, 0]
    assert numbers(again[0]) == list(range(kept + 1, STEPS + 1))
    # Same devices, same order of sums: every loss is the same number, also of the steps done before.
    assert losses(again[0]) == losses(undisturbed[0])[kept:]
    assert losses(killed[0]) == losses(undisturbed[0])[: len(losses(killed[0]))]
    assert again[0].steps[0]["goodput"] < killed[0].steps[-1]["goodput"]

    damage(folder, saved(folder)[-1])
    with Job(tmp_path / "third", *flags, slices=2, hosts=1) as job:
        third = job.ended()
    assert [ended.code for ended in third] == [0, 0]
    assert len(third[0].errors) == 1
    assert (
        third[0]
        .errors[0]
        .startswith(f"checkpoint {STEPS} in {folder} is damaged and was deleted, going on from {STEPS - EVERY}: ")
    )
    assert third[1].errors == []
    assert losses(third[0]) == losses(undisturbed[0])[-EVERY:]
    assert saved(folder)[-1] == STEPS


def test_sigterm_at_one_process_saves_all_at_the_same_step_and_others_go_on(undisturbed, tmp_path) -> None:
    folder = tmp_path / "checkpoints"
    flags = (*TRAINED, "--checkpoint-dir", str(folder))
    with Job(tmp_path / "first", *flags, slices=2, hosts=1) as job:
        job.until_step(5)
        job.signal(1, signal.SIGTERM)
        stopped = job.ended()
    assert [ended.code for ended in stopped] == [143, 143]
    last = numbers(stopped[0])[-1]
    assert saved(folder)[-1] == last < STEPS
    assert {ended.out.splitlines()[-1] for ended in stopped} == {f"stopped by SIGTERM after step {last}, saved"}

    # The same steps on one host with four chips: another number of processes, and parameters split in four.
    with Job(tmp_path / "second", *flags, slices=1, hosts=1, chips=4) as job:
        (ended,) = job.ended()
    assert ended.code == 0
    assert numbers(ended) == list(range(last + 1, STEPS + 1))
    assert losses(ended)[-1] == pytest.approx(losses(undisturbed[0])[-1], rel=OTHER_MESH_TOLERANCE)


def test_a_process_that_hangs_ends_the_others_by_the_heartbeat(tmp_path) -> None:
    endless = ("--config", "tiny", "--steps", "1000000", *REPLACED)
    with Job(tmp_path, *endless, slices=1, hosts=2, chips=1) as job:
        job.until_step(1)
        job.signal(1, signal.SIGSTOP)
        code = job.processes[0].wait(HEARTBEAT_S + 60)
    assert code == -signal.SIGABRT


def test_one_process_alone_stops_by_sigterm_too(tmp_path) -> None:
    with Job(
        tmp_path, "--config", "tiny", "--steps", "1000000", slices=1, hosts=1, chips=1, COORDINATOR_ADDRESS=""
    ) as job:
        job.until_step(1)
        job.signal(0, signal.SIGTERM)
        (ended,) = job.ended()
    assert ended.code == 143
    assert ended.out.splitlines()[-1] == f"stopped by SIGTERM after step {numbers(ended)[-1]}"


def test_a_process_that_waits_for_the_others_ends_at_once_by_sigterm(tmp_path) -> None:
    with Job(tmp_path, "--config", "tiny").start([0]) as job:
        job.until_it_listens()
        job.signal(0, signal.SIGTERM)
        (ended,) = job.ended(within_s=30)
    assert ended.code == 143


def losses(ended: Ended) -> list[float]:
    return [line["loss"] for line in ended.steps]


def damage(folder: Path, step: int) -> None:
    """Cuts the files short that process 1 wrote its arrays to: process 0 does not read them."""
    files = [path for path in (folder / str(step) / "state" / "ocdbt.process_1" / "d").iterdir() if path.is_file()]
    assert files
    for path in files:
        os.truncate(path, path.stat().st_size // 2)
