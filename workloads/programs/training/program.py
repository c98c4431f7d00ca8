"""The program in order: join the others, find the devices, go on from the newest checkpoint, train, save, end."""

from __future__ import annotations

import os
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

import jax

from .checkpoints import Checkpoints, quiet, writable
from .failure import DONE, MISTAKE, PEER_GONE, STOPPED, Failure
from .join import check_devices, end, join, leave
from .loop import Training
from .mesh import mesh_of
from .options import Options, options_from
from .place import Place, place_from, wanted_platform
from .progress import Record
from .stopping import Stopping
from .training_step import compiled, fresh, layout


def run(words: Sequence[str]) -> NoReturn:
    """Trains, and ends the process with a code of `failure`."""
    started = time.time()
    quiet()
    options = options_from(words)
    try:
        place = place_from(os.environ)
        if options.folder is not None:
            writable(options.folder, place.process if place is not None else 0)
        if place is not None and place.coordinator:
            join(place, options.initialization_seconds, options.heartbeat_seconds)
    except Failure as failure:
        end(_told(failure))
    try:
        leave(_train(options, place, started))
    except Failure as failure:
        leave(_told(failure))
    except jax.errors.JaxRuntimeError as error:
        if jax.process_count() == 1 or "RESOURCE_EXHAUSTED" in str(error):
            _mistake()
        # A collective that fails: the other end is gone. Nobody will come to leave together.
        end(_told(Failure(PEER_GONE, f"another process of this job is gone: {error}")))
    except Exception:
        _mistake()
        raise


def _train(options: Options, place: Place | None, started: float) -> int:
    check_devices(place.devices if place is not None else None, wanted_platform(os.environ))
    write = _print if jax.process_index() == 0 else None
    return train(options, place.slices if place is not None else 1, started, write)


def train(options: Options, slices: int, started: float, write: Callable[[str], None] | None) -> int:
    """Trains on all devices, which are those of `slices` slices; lines of metrics go to `write`. Returns DONE or STOPPED.

    `started` is when this start began (Unix time). Raises Failure.
    """
    config = options.config
    mesh = mesh_of(jax.devices(), slices, config.tensor)
    stopping = Stopping()
    saved = Checkpoints(options.folder, config, options.seed) if options.folder is not None else None
    found = saved.newest(layout(config, mesh)) if saved is not None else None
    if found is not None:
        training = Training(config, mesh, options.seed, found.state, found.step, found.record)
    else:
        training = Training(config, mesh, options.seed, fresh(config, mesh, options.seed), 0, Record(started, 0.0))
        if saved is not None:
            saved.save(0, training.state, training.record)
    all_done = training.run(compiled(config, mesh), stopping.at, saved, write)
    if saved is not None:
        saved.finish()
    if not all_done:
        _print(f"stopped by SIGTERM after step {training.done}{', saved' if saved is not None else ''}")
        return STOPPED
    _print("Training Complete!")
    return DONE


def _print(line: str) -> None:
    print(line, flush=True)


def _told(failure: Failure) -> int:
    print(f"error: {failure}", file=sys.stderr, flush=True)
    return failure.code


def _mistake() -> NoReturn:
    """What nobody foresaw. Not left to the interpreter, which waits for threads that wait for others at its end."""
    traceback.print_exc()
    leave(MISTAKE)
