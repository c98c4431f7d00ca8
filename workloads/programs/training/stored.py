"""One stored checkpoint: what is in it, how it is read by one process alone, and how it is known to be unharmed.

    <folder>/<steps done>/state     the arrays, each process its own parts (orbax: OCDBT of tensorstore)
    <folder>/<steps done>/record    JSON: the model and seed it is of, times (`progress.Record`), fingerprints

Neither tensorstore's zarr arrays nor orbax prove what they read: a flipped bit in an array comes back as a number. So each
array has a fingerprint, computed where the array is, independent of how it is split.
"""

from __future__ import annotations

import errno
import json
import os
import re
import zlib
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp

from .options import Config
from .progress import Record
from .training_step import State

FREE_TO_CHANGE = ("name", "steps", "checkpoint_every", "report_every", "tensor", "learning_rate")
"""What of a configuration may differ between starts of one job; the rest makes it another model, or other data."""


HARM = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR)
"""Errors of the system by which a file is not there, or is something else. Any other says nothing of what is stored."""
TENSORSTORE = re.compile(r"\[os_error_code='(\d+)'\]")
"""How tensorstore tells the system's error; it raises ValueError for all."""


class Damaged(Exception):
    """A stored checkpoint that cannot be what was saved."""


def identity(config: Config, seed: int) -> dict[str, Any]:
    """What a checkpoint has to have in common with a run that goes on from it."""
    return {name: value for name, value in asdict(config).items() if name not in FREE_TO_CHANGE} | {"seed": seed}


def contents(state: State, record: Record, of: dict[str, Any]) -> ocp.args.Composite:
    """What orbax is to write."""
    body = {"of": of, "record": asdict(record), "fingerprints": fingerprints(state)}
    return ocp.args.Composite(
        state=ocp.args.PyTreeSave(state), record=ocp.args.JsonSave({"body": body, "checksum": _checksum(body)})
    )


def read_record(path: Path) -> dict[str, Any]:
    """The record of a checkpoint. Raises Damaged, and OSError if the storage does not let itself be read."""
    try:
        stored = ocp.Checkpointer(ocp.JsonCheckpointHandler()).restore(path / "record")
        body = stored["body"]
        if stored["checksum"] != _checksum(body):
            raise Damaged("its record does not match its checksum")
    except Damaged:
        raise
    except Exception as error:  # whatever reading a harmed file raises
        raise _judged(error, "its record") from error
    return dict(body)


def read_state(path: Path, layout: State) -> State:
    """The arrays, split as `layout` says, whatever they were split like when saved. Raises Damaged, and OSError.

    Each process reads what its own devices need and waits for no other: one of them may meet a harmed file alone.
    """
    own = ocp.options.MultiprocessingOptions(
        primary_host=jax.process_index(),
        active_processes={jax.process_index()},
        barrier_sync_key_prefix=f"process-{jax.process_index()}",
    )
    reader = ocp.Checkpointer(ocp.PyTreeCheckpointHandler(multiprocessing_options=own), multiprocessing_options=own)
    try:
        arguments = ocp.args.PyTreeRestore(layout, restore_args=ocp.checkpoint_utils.construct_restore_args(layout))
        return dict(jax.block_until_ready(reader.restore(path / "state", args=arguments)))
    except Exception as error:  # whatever reading a harmed file raises
        raise _judged(error, "its arrays") from error


def _judged(error: Exception, what: str) -> Damaged | OSError:
    """What an error of a reading means: the checkpoint is harmed, or the storage is in trouble."""
    told = TENSORSTORE.search(str(error))
    number = error.errno if isinstance(error, OSError) else int(told[1]) if told else None
    if number is None or number in HARM:
        return Damaged(f"{what} cannot be read: {error}")
    return OSError(number, os.strerror(number))


def fingerprints(state: State) -> dict[str, int]:
    """A number of 32 bits for each array. All processes have to call it together."""
    named = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree_util.tree_leaves_with_path(state)}
    return {name: int(value) for name, value in _fingerprints(named).items()}


@jax.jit
def _fingerprints(named: dict[str, jax.Array]) -> dict[str, jax.Array]:
    return {name: _fingerprint(array) for name, array in named.items()}


def _fingerprint(array: jax.Array) -> jax.Array:
    """Sum of the elements' bits, each times an odd number of its place, modulo 2**32: one changed element always shows.

    Sums of whole numbers do not depend on their order, so neither does this on how the array is split.
    """
    bits = jax.lax.bitcast_convert_type(array, jnp.uint32)
    place = jnp.zeros(array.shape, jnp.uint32)
    for dimension, size in enumerate(array.shape):
        place = place * np.uint32(size) + jax.lax.broadcasted_iota(jnp.uint32, array.shape, dimension)
    return jnp.sum(bits * (place * np.uint32(2) + np.uint32(1)), dtype=jnp.uint32)


def _checksum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())
