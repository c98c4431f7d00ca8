"""The checkpoint folder: what is saved comes back, what is harmed is noticed, and nothing is thrown away in silence."""

from __future__ import annotations

import dataclasses
import errno
import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from workloads.programs.training import checkpoints
from workloads.programs.training.checkpoints import Checkpoints
from workloads.programs.training.failure import CHECKPOINTS, FOR_GOOD, STORAGE, Failure
from workloads.programs.training.mesh import mesh_of
from workloads.programs.training.options import CONFIGS
from workloads.programs.training.progress import Record
from workloads.programs.training.training_step import State, fresh, layout

pytestmark = [
    pytest.mark.unit,
    # orbax reads the arrays side by side, and leaves the other readings as they are when one has failed.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TINY = CONFIGS["tiny"]
SAVED = (0, 10, 20)
RECORD = Record(first_start=1_800_000_000.5, useful_seconds=12.25)


def mesh() -> jax.sharding.Mesh:
    return mesh_of(jax.devices()[:1], 1, 1)


def state_of(step: int) -> State:
    """A state that differs from step to step."""
    return jax.tree.map(lambda leaf: leaf + np.asarray(step, leaf.dtype), fresh(TINY, mesh(), 0))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Written once: a save takes half a second."""
    path = tmp_path_factory.mktemp("saved") / "checkpoints"
    checkpoints = Checkpoints(path, TINY, seed=0)
    for step in SAVED:
        checkpoints.save(step, state_of(step), RECORD)
    checkpoints.finish()
    return path


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return shutil.copytree(saved, tmp_path / "checkpoints")


def newest(folder: Path) -> checkpoints.Found | None:
    return Checkpoints(folder, TINY, seed=0).newest(layout(TINY, mesh()))


def largest(folder: Path) -> Path:
    """The file that has most of the arrays."""
    return max((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)


def cut_short(checkpoint: Path) -> None:
    path = largest(checkpoint)
    os.truncate(path, path.stat().st_size // 2)


def flip_a_bit(checkpoint: Path) -> None:
    path = largest(checkpoint)
    harmed = bytearray(path.read_bytes())
    harmed[len(harmed) // 2] ^= 1
    path.write_bytes(harmed)


def empty_the_index(checkpoint: Path) -> None:
    (checkpoint / "state" / "manifest.ocdbt").write_bytes(b"")


def lose_the_arrays(checkpoint: Path) -> None:
    largest(checkpoint).unlink()


def spoil_the_record(checkpoint: Path) -> None:
    (checkpoint / "record" / "metadata").write_text("{")


def change_the_record(checkpoint: Path) -> None:
    path = checkpoint / "record" / "metadata"
    stored = json.loads(path.read_text())
    stored["body"]["record"]["useful_seconds"] = 1e9
    path.write_text(json.dumps(stored))


HARMS = [cut_short, flip_a_bit, empty_the_index, lose_the_arrays, spoil_the_record, change_the_record]


def test_a_folder_without_checkpoints_has_none(tmp_path) -> None:
    assert newest(tmp_path) is None


def test_what_was_saved_comes_back_bit_for_bit(folder) -> None:
    found = newest(folder)
    assert found is not None
    assert (found.step, found.record) == (20, RECORD)
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), found.state, state_of(20)))


@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_checkpoint_is_named_on_one_line_and_the_one_before_is_taken(folder, capsys, harm) -> None:
    harm(folder / "20")
    found = newest(folder)
    assert found is not None
    assert found.step == 10
    assert jax.tree.all(jax.tree.map(lambda a, b: bool((a == b).all()), found.state, state_of(10)))
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("checkpoint ")]
    assert (
        line.startswith(f"checkpoint 20 in {folder} is damaged and was deleted, going on from 10: its ")
        or harm is flip_a_bit
    )
    assert not (folder / "20").exists()


@pytest.mark.parametrize("harm", [cut_short, spoil_the_record])
def test_two_damaged_ones_are_passed_over(folder, capsys, harm: Callable[[Path], None]) -> None:
    for step in (10, 20):
        harm(folder / str(step))
    found = newest(folder)
    assert found is not None
    assert found.step == 0
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_nothing_is_begun_anew_when_all_are_damaged(folder) -> None:
    for step in SAVED:
        flip_a_bit(folder / str(step))
    with pytest.raises(Failure, match=r"none of the 3 checkpoints in .* is unharmed") as raised:
        newest(folder)
    assert raised.value.code == CHECKPOINTS
    assert "\n" not in str(raised.value)
    assert all((folder / str(step)).exists() for step in SAVED)


def test_a_save_that_was_cut_off_is_none_and_other_folders_are_left_alone(folder, capsys) -> None:
    (folder / "notes").mkdir()
    (folder / "20" / "commit_success.txt").unlink()
    found = newest(folder)
    assert found is not None
    assert found.step == 10
    assert capsys.readouterr().err == f"checkpoint 20 in {folder} was not whole and was deleted\n"
    assert not (folder / "20").exists()
    assert (folder / "notes").is_dir()


def test_the_very_first_save_may_be_cut_off(tmp_path) -> None:
    assert newest(tmp_path) is None
    (tmp_path / "0" / "state").mkdir(parents=True)
    (tmp_path / "0" / "_CHECKPOINT_METADATA").write_text("{}")
    assert newest(tmp_path) is None
    assert [path.name for path in tmp_path.iterdir()] == [checkpoints.MARK]


@pytest.mark.parametrize("begun", [False, True], ids=["others' folder", "beside ours"])
@pytest.mark.parametrize(
    "files",
    [["thesis.txt"], ["_CHECKPOINT_METADATA", "default/manifest.ocdbt"], ["commit_success.txt", "params/_METADATA"]],
    ids=["a thesis", "orbax, unfinished", "orbax, whole"],
)
def test_a_folder_with_numbers_of_somebody_else_is_refused(tmp_path, files: list[str], begun: bool) -> None:
    if begun:
        assert newest(tmp_path) is None
    for file in files:
        (tmp_path / "2024" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "2024" / file).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(Failure, match="holds 2024, which is no checkpoint of this program: name another") as raised:
        newest(tmp_path)
    assert raised.value.code == CHECKPOINTS
    assert sorted(tmp_path.rglob("*")) == before


def test_checkpoints_of_before_the_mark_are_gone_on_from_and_others_are_not_taken_for_them(folder, tmp_path) -> None:
    (folder / checkpoints.MARK).unlink()
    found = newest(folder)
    assert found is not None and found.step == 20
    assert (folder / checkpoints.MARK).exists()
    theirs = tmp_path / "theirs" / "5" / "state" / "_METADATA"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("{}")
    with pytest.raises(Failure, match="holds 5, which"):
        newest(tmp_path / "theirs")
    assert theirs.exists()


def test_a_storage_that_does_not_take_the_mark_is_no_end_for_good(tmp_path, monkeypatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(Failure, match="No space left on device") as raised:
        newest(tmp_path)
    assert raised.value.code == STORAGE


def test_a_storage_that_cannot_be_read_is_no_damage(folder) -> None:
    """By an error of the system as tensorstore tells it: what it opens is a link to itself, in all checkpoints."""
    for step in SAVED:
        index = folder / str(step) / "state" / "manifest.ocdbt"
        index.unlink()
        index.symlink_to(index)
    with pytest.raises(Failure, match=r"checkpoint 20 in .* cannot be read: Too many levels") as raised:
        newest(folder)
    assert raised.value.code == STORAGE
    assert all((folder / str(step)).exists() for step in SAVED)


@pytest.mark.parametrize(
    ("number", "code"), [(errno.EIO, STORAGE), (errno.ESTALE, STORAGE), (errno.EACCES, CHECKPOINTS)]
)
def test_a_reading_that_fails_has_the_code_of_its_reason(folder, monkeypatch, number: int, code: int) -> None:
    def fail(*_: object, **__: object) -> str:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(checkpoints.ocp.Checkpointer, "restore", fail)
    with pytest.raises(Failure, match=os.strerror(number)) as raised:
        newest(folder)
    assert raised.value.code == code


@pytest.mark.parametrize(
    ("other", "seed", "words"),
    [(dataclasses.replace(TINY, width=64), 0, "width 32 there, 64 here"), (TINY, 1, "seed 0 there, 1 here")],
)
def test_checkpoints_of_another_run_are_left_alone(folder, other, seed, words) -> None:
    with pytest.raises(Failure, match=words) as raised:
        Checkpoints(folder, other, seed).newest(layout(other, mesh()))
    assert raised.value.code == CHECKPOINTS
    assert (folder / "20").exists()


def test_a_step_whose_checkpoint_was_damaged_is_saved_again(folder) -> None:
    cut_short(folder / "20")
    saved = Checkpoints(folder, TINY, seed=0)
    found = saved.newest(layout(TINY, mesh()))
    assert found is not None
    saved.save(20, state_of(20), RECORD)
    saved.finish()
    again = newest(folder)
    assert again is not None
    assert again.step == 20


def test_the_newest_ones_are_kept(folder) -> None:
    saved = Checkpoints(folder, TINY, seed=0)
    saved.save(30, state_of(30), RECORD)
    saved.finish()
    kept = sorted(int(path.name) for path in folder.iterdir() if path.is_dir())
    assert kept == [10, 20, 30]
    assert len(kept) == checkpoints.KEPT


def test_a_folder_that_cannot_be_written_is_named(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Failure, match=r"file/checkpoints cannot be written: Not a directory") as raised:
        checkpoints.writable(tmp_path / "file" / "checkpoints", 0)
    assert raised.value.code == CHECKPOINTS


def test_a_storage_that_fails_for_now_is_no_end_for_good(tmp_path, monkeypatch) -> None:
    def answerless(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Path, "write_bytes", answerless)
    with pytest.raises(Failure, match=r"cannot be written: Input/output error") as raised:
        checkpoints.writable(tmp_path, 0)
    assert raised.value.code == STORAGE
    assert STORAGE not in FOR_GOOD


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), ValueError("RESOURCE_EXHAUSTED: full")])
@pytest.mark.parametrize("where", ["save", "wait_until_finished"])
def test_a_save_that_fails_is_a_failure_of_the_storage(tmp_path, monkeypatch, where: str, error: Exception) -> None:
    """Which of the two notices is orbax's to say. Its own failed save leaves threads that wait for minutes: that is tried in a
    process (`tests/workloads/programs/training_runs/test_refusals.py`)."""

    def fail(*_: object, **__: object) -> None:
        raise error

    saved = Checkpoints(tmp_path, TINY, seed=0)
    monkeypatch.setattr(checkpoints.ocp.CheckpointManager, where, fail)
    with pytest.raises(Failure, match=r"could not be written: .*full") as raised:
        saved.save(0, state_of(0), RECORD) if where == "save" else saved.finish()
    assert raised.value.code == STORAGE


def test_only_what_orbax_raises_as_well_is_not_logged() -> None:
    raised = (ValueError, ValueError("full"), None)
    orbax, other = "/lib/orbax/checkpoint/future.py", "/lib/jax/array.py"

    def logged(path: str, exc_info: Any) -> bool:
        record = logging.LogRecord("absl", logging.ERROR, path, 1, "words", (), exc_info)
        return checkpoints._is_not_raised(record)

    assert [logged(orbax, raised), logged(orbax, None), logged(other, raised)] == [False, True, True]


def test_proving_that_a_folder_can_be_written_leaves_nothing(tmp_path) -> None:
    checkpoints.writable(tmp_path / "new" / "folder", 0)
    assert list((tmp_path / "new" / "folder").iterdir()) == []
