"""What is wrong from the start: one line on stderr, a code that says what, within a stated time."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.local_job import Job

pytestmark = pytest.mark.training

SHORT_S = 5
STEPS = ("--config", "tiny", "--steps", "1")


def test_a_wrong_device_count_is_refused_by_every_process(tmp_path) -> None:
    with Job(tmp_path, *STEPS, slices=1, hosts=2, chips=2, CHIPS_PER_HOST="4") as job:
        ended = job.ended()
    words = "error: 4 devices are here, 8 are expected: NUM_SLICES x HOSTS_PER_SLICE x CHIPS_PER_HOST"
    assert [(each.code, each.errors) for each in ended] == [(6, [words])] * 2
    assert all("Global device count: 4" in each.out.splitlines() for each in ended)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1, "error: the coordinator {} was not reached within 5 s: "),
        (0, "error: not all 2 processes met at {} within 5 s; "),
    ],
)
def test_a_process_that_is_left_alone_says_so_in_time(tmp_path, number, words) -> None:
    job = Job(tmp_path, *STEPS, "--initialization-seconds", str(SHORT_S))
    began = time.monotonic()
    with job.start([number]):
        (ended,) = job.ended()
    assert ended.code == 5
    assert len(ended.errors) == 1
    assert ended.errors[0].startswith(words.format(job.coordinator))
    assert "Traceback" not in ended.err
    assert (
        SHORT_S / 2 < time.monotonic() - began < SHORT_S + 60
    )  # the client gives up a little before the time it was given


def test_a_folder_that_cannot_be_written_is_named_before_anything_is_trained(tmp_path) -> None:
    (tmp_path / "file").write_text("not a folder")
    folder = tmp_path / "file" / "checkpoints"
    with Job(tmp_path, *STEPS, "--checkpoint-dir", str(folder), hosts=1) as job:
        (ended,) = job.ended()
    assert (ended.code, ended.errors) == (
        7,
        [f"error: the checkpoint folder {folder} cannot be written: Not a directory"],
    )
    assert ended.out == ""


def test_a_folder_that_is_lost_while_it_trains_is_an_end(tmp_path) -> None:
    folder = tmp_path / "checkpoints"
    flags = ("--config", "tiny", "--steps", "1000000", "--checkpoint-every", "20", "--checkpoint-dir", str(folder))
    with Job(tmp_path, *flags, hosts=1) as job:
        job.until_step(5)
        folder.rename(tmp_path / "elsewhere")
        folder.write_text("in the way")
        (ended,) = job.ended()
    assert ended.code == 10
    assert ended.err.splitlines() == ended.errors
    assert len(ended.errors) == 1
    assert ended.errors[0].startswith(f"error: a checkpoint in {folder} could not be written: ")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A file system that the first checkpoint fits into and the second does not."""
    path = tmp_path / "small"
    path.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mounting, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a file system is for root")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_a_full_disk_is_one_line_and_passes(tmp_path, small) -> None:
    flags = ("--config", "tiny", "--steps", "40", "--checkpoint-dir", str(small / "checkpoints"))
    with Job(tmp_path, *flags, hosts=1) as job:
        (ended,) = job.ended()
    assert ended.code == 10
    (line,) = ended.err.splitlines()
    assert line.startswith(f"error: a checkpoint in {small / 'checkpoints'} could not be written: ")
    assert "No space left on device" in line
    assert (small / "checkpoints" / "0" / "commit_success.txt").exists()


def test_ctrl_c_is_one_line(tmp_path) -> None:
    with Job(tmp_path, "--config", "tiny", "--steps", "1000000", hosts=1) as job:
        job.until_step(1)
        job.signal(0, signal.SIGINT)
        (ended,) = job.ended()
    assert ended.code == 130
    assert ended.err == "error: interrupted; the next start goes on from the last checkpoint, if there is one\n"


def test_steps_that_were_lowered_below_the_checkpoint_are_done(tmp_path) -> None:
    flags = ("--config", "tiny", "--checkpoint-dir", str(tmp_path / "checkpoints"))
    for steps, trained in ((12, 12), (5, 0)):
        with Job(tmp_path / str(steps), *flags, "--steps", str(steps), hosts=1) as job:
            (ended,) = job.ended()
        assert (ended.code, len(ended.steps)) == (0, trained), ended.err
        assert ended.out.splitlines()[-1] == "Training Complete!"


def test_chips_that_jax_does_not_find_are_no_success(tmp_path) -> None:
    with Job(tmp_path, *STEPS, hosts=1, chips=1, JAX_PLATFORMS="tpu,cpu") as job:
        (ended,) = job.ended()
    assert ended.code == 9
    assert len(ended.errors) == 1
    assert ended.steps == []


def test_a_wrong_jax_is_named_before_it_is_imported(tmp_path) -> None:
    other = tmp_path / "jax-0.4.1.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: jax\nVersion: 0.4.1\n")
    with Job(tmp_path / "job", *STEPS, hosts=1, PYTHONPATH=str(tmp_path)) as job:
        (ended,) = job.ended()
    assert (ended.code, ended.err) == (3, "error: jax 0.10.2 is needed, here it is 0.4.1\n")


def test_a_variable_that_is_missing_is_named(tmp_path) -> None:
    with Job(tmp_path, *STEPS, hosts=1, HOST_INDEX="1") as job:
        (ended,) = job.ended()
    assert (ended.code, ended.err) == (4, "error: HOST_INDEX is 1, but there are 1: 0 to 0\n")
