"""What is wrong from the start: one line on stderr, a code that says what, within a stated time."""

from __future__ import annotations

import time

import pytest

from tests.training.job import Job

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
    assert ended.code == 7
    assert len(ended.errors) == 1
    assert ended.errors[0].startswith(f"error: a checkpoint in {folder} could not be written: ")


def test_chips_that_jax_does_not_find_are_no_success(tmp_path) -> None:
    with Job(tmp_path, *STEPS, hosts=1, chips=1, JAX_PLATFORMS="tpu,cpu") as job:
        (ended,) = job.ended()
    assert ended.code == 6
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
