"""The checkpoint folder: saving beside the training, and going on from the newest checkpoint that is unharmed.

What the folder has to be: one that all processes see, where a file that was closed is seen whole by all others, and a
folder's listing shows it. That is so on a disk, on NFS, and with Cloud Storage FUSE; there, a file is there or not.
Nothing is renamed: a bucket without hierarchical namespace cannot rename a folder in one go
(https://cloud.google.com/storage/docs/cloud-storage-fuse/overview, "Limitations"). A checkpoint is valid once orbax
has written `commit_success.txt` into it, last of all (orbax, `AtomicityMode.COMMIT_FILE`, "ideal for GCSFuse").
Mount without caching what is not there (`metadata-cache:negative-ttl-secs:0`), or a process may not see what another
has just made.
"""

from __future__ import annotations

import errno
import logging as standard
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import orbax.checkpoint as ocp
from absl import logging
from jax.experimental import multihost_utils

from .failure import CHECKPOINTS, STORAGE, Failure
from .options import Config
from .progress import Record
from .stored import Damaged, contents, fingerprints, identity, read_record, read_state
from .training_step import State

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

KEPT = 3
NOT_FOR_US = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)
"""Errors of a folder that stay as they are until somebody changes its rights, its mount or its path. Others pass: a storage that does
not answer, or is full."""
REASON_BYTES = 600
MARK = "checkpoints-of-training"
"""A file that says that numbered folders beside it are ours. Those of a program before it are known by what is in them."""
COMMITTED = ocp.path.atomicity.COMMIT_SUCCESS_FILE
PARTS = frozenset({"_CHECKPOINT_METADATA", "state", "record", COMMITTED})
"""All that is in a checkpoint of ours. orbax makes them in this order, and the folder before them."""


@dataclass(frozen=True)
class Found:
    """A checkpoint that was read: the state after `step` steps."""

    step: int
    state: State
    record: Record


def quiet() -> None:
    """Of orbax and JAX only errors are printed, and of an error in a thread that saves not what `save` and `finish` raise: each
    thread that it passes through logs it with a traceback of its own."""
    logging.set_verbosity(logging.ERROR)
    logging.get_absl_logger().addFilter(_is_not_raised)
    before = sys.unraisablehook

    def told(what: UnraisableHookArgs) -> None:
        """tensorstore's threads tell a loop of orbax's what they have written, also when that has ended for the first error."""
        if str(what.exc_value) != "Event loop is closed":
            before(what)

    sys.unraisablehook = told


def _is_not_raised(record: standard.LogRecord) -> bool:
    return not (record.exc_info and "orbax" in Path(record.pathname).parts)


def writable(folder: Path, process: int) -> None:
    """Raises Failure if this process cannot make files in the folder, which is made if it is not there."""
    probe = folder / f"probe-{process}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
    except OSError as error:
        raise _unusable(f"the checkpoint folder {folder} cannot be written", error) from error


def _unusable(what: str, error: OSError) -> Failure:
    code = CHECKPOINTS if error.errno in NOT_FOR_US else STORAGE
    return Failure(code, f"{what}: {error.strerror}")


class Checkpoints:
    """The folder, for a model and seed. All processes make one and call each method together. Raises Failure if it is not ours."""

    def __init__(self, folder: Path, config: Config, seed: int) -> None:
        self._folder = Path(os.path.abspath(folder))
        self._of = identity(config, seed)
        failure = None
        if jax.process_index() == 0:
            try:
                _claim(self._folder)
            except Failure as refused:
                failure = refused
            except OSError as error:
                failure = _unusable(f"the checkpoint folder {self._folder} cannot be written", error)
        _together(failure)
        self._manager = ocp.CheckpointManager(
            self._folder,
            options=ocp.CheckpointManagerOptions(
                max_to_keep=KEPT,
                atomicity_options=ocp.options.AtomicityOptions(mode=ocp.options.AtomicityMode.COMMIT_FILE),
            ),
        )

    def newest(self, layout: State) -> Found | None:
        """The newest checkpoint that is unharmed, split as `layout` says; None if the folder has none at all.

        Damaged ones are named on stderr and deleted, once an older one was read: their steps will be saved again. Raises
        Failure if all are damaged: to begin anew is for the user to say. And if they are of another model or seed.
        """
        damaged: dict[int, str] = {}
        for step in sorted(self._manager.all_steps(), reverse=True):
            found, reason = self._read(step, layout)
            if found is not None:
                self._give_up(damaged, step)
                return found
            damaged[step] = reason
        if damaged:
            step, reason = next(iter(damaged.items()))
            raise Failure(
                CHECKPOINTS,
                f"none of the {len(damaged)} checkpoints in {self._folder} is unharmed; {step}: {reason}; empty it to begin anew",
            )
        return None

    def save(self, step: int, state: State, record: Record) -> None:
        """Copies the state off the devices and returns; a thread writes it. Waits for the save before, if it goes on still.

        Raises Failure if that one could not be written.
        """
        try:
            self._manager.save(step, args=contents(state, record, self._of), force=True)
        except (OSError, ValueError) as error:
            raise Failure(STORAGE, f"a checkpoint in {self._folder} could not be written: {error}") from error

    def finish(self) -> None:
        """Returns when the last save is valid, on all processes. Raises Failure as `save` does."""
        try:
            self._manager.wait_until_finished()
            self._manager.close()
        except (OSError, ValueError) as error:
            raise Failure(STORAGE, f"a checkpoint in {self._folder} could not be written: {error}") from error

    def _read(self, step: int, layout: State) -> tuple[Found | None, str]:
        """The checkpoint of a step, or the reason why it is damaged; the same answer on every process.

        Raises Failure for another run's, and where the storage cannot be read: whether it is damaged is not known then.
        """
        state, body, reason, failure = None, {}, "", None
        try:
            body = read_record(self._folder / str(step))
            if body["of"] == self._of:
                state = read_state(self._folder / str(step), layout)
        except Damaged as damage:
            reason = str(damage)
        except OSError as error:
            failure = _unusable(f"checkpoint {step} in {self._folder} cannot be read", error)
        _together(failure)
        if reason := _first(reason):
            return None, reason
        if state is None:
            raise Failure(
                CHECKPOINTS, f"{self._folder} has checkpoints of another run: {_difference(body['of'], self._of)}"
            )
        if wrong := [name for name, value in fingerprints(state).items() if value != body["fingerprints"].get(name)]:
            return None, f"{', '.join(wrong)} changed since it was saved"
        return Found(step, state, Record(**body["record"])), ""

    def _give_up(self, damaged: dict[int, str], step: int) -> None:
        for bad, reason in damaged.items():
            if jax.process_index() == 0:
                text = f"checkpoint {bad} in {self._folder} is damaged and was deleted, going on from {step}: {reason}"
                print(" ".join(text.split()), file=sys.stderr, flush=True)
            self._manager.delete(bad)


def _claim(folder: Path) -> None:
    """Makes the folder ours, and deletes what is left in it of saves and deletions that were cut off. For process 0.

    Not by orbax (`cleanup_tmp_directories`): it takes every folder without its file for one of them, anybody else's too.
    And saving a step overwrites the folder of that name. So a folder with numbered folders that are not ours is refused.
    Raises Failure, and OSError.
    """
    mark = folder / MARK
    folder.mkdir(parents=True, exist_ok=True)
    numbered = sorted((p for p in folder.iterdir() if p.name.isdecimal() and p.is_dir()), key=lambda p: int(p.name))
    inside = {path: {child.name for child in path.iterdir()} for path in numbered}
    ours = not inside or mark.exists() or any(names >= PARTS for names in inside.values())
    foreign = [path.name for path, names in inside.items() if not (ours and names <= PARTS)]
    if foreign:
        raise Failure(
            CHECKPOINTS,
            f"the checkpoint folder {folder} holds {foreign[0]}, which is no checkpoint of this program: name another folder",
        )
    if not mark.exists():
        mark.write_text("The training program keeps its checkpoints here, and deletes numbered folders.\n")
    for path, names in inside.items():
        if COMMITTED not in names:
            shutil.rmtree(path)
            print(f"checkpoint {path.name} in {folder} was not whole and was deleted", file=sys.stderr, flush=True)


def _together(failure: Failure | None) -> None:
    """Raises the first Failure that any process has; the same on all, which have to call it together."""
    text = _first(f"{failure.code} {failure}" if failure is not None else "")
    if text:
        code, _, reason = text.partition(" ")
        raise Failure(int(code), reason)


def _first(reason: str) -> str:
    """The first reason that any process has, or an empty string; the same on all."""
    own = np.zeros(REASON_BYTES, np.uint8)
    text = np.frombuffer(reason.encode()[:REASON_BYTES], np.uint8)
    own[: len(text)] = text
    rows = np.asarray(multihost_utils.process_allgather(own)).reshape(-1, REASON_BYTES)
    texts = [bytes(row).rstrip(b"\0").decode(errors="replace") for row in rows]
    return next((text for text in texts if text), "")


def _difference(stored: dict[str, Any], wanted: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {stored.get(name)} there, {wanted[name]} here" for name in wanted if stored.get(name) != wanted[name]
    )
