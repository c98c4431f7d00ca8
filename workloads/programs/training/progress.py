"""Metrics as lines of JSON, one every few steps, from process 0.

    step                            steps done, those of earlier starts included
    loss                            mean over the examples of that step, before its update
    step_seconds                    mean over the steps since the line before; saving is not in it
    tokens_per_second_per_chip      of those steps; rows that only fill up a batch do not count
    goodput                         useful step time / time since the job's first start

Useful step time is that of the steps that led to the present state: steps that were lost with a process and done again
count once. Compiling, restoring, saving, waiting for quota or nodes and restarting are the rest. Both times are in the
checkpoint, so goodput is of the job, not of one start.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import jax

from .options import Config


@dataclass(frozen=True)
class Record:
    """What outlives a start: when the job's first one began (Unix time), and useful step time so far, in seconds."""

    first_start: float
    useful_seconds: float


class Progress:
    """Follows the steps. A loss is read when it is reported, and not before the next step's batch was made."""

    def __init__(self, config: Config, start: int, record: Record, write: Callable[[str], None] | None) -> None:
        self._config = config
        self._first_start = record.first_start
        self._useful = record.useful_seconds
        self._write = write
        self._waiting: tuple[int, jax.Array] | None = None
        self._reported, self._since, self._apart = start, time.perf_counter(), 0.0

    def stepped(self, done: int, loss: jax.Array) -> None:
        """A step was handed to the devices, `done` in all; `loss` is on its way. What was before is flushed by then."""
        if done % self._config.report_every == 0 or done == self._config.steps:
            self._waiting = (done, loss)

    @contextmanager
    def apart(self, loss: jax.Array) -> Iterator[Record]:
        """For what is not training: waits for the step of `loss`, hands out the record as it is then, and stops the clock."""
        jax.block_until_ready(loss)
        self.flush()
        began = time.perf_counter()
        yield Record(self._first_start, self._useful + began - self._since - self._apart)
        self._apart += time.perf_counter() - began

    def flush(self) -> None:
        """Waits for the loss that is on its way, if one is, and reports it."""
        if self._waiting is None:
            return
        done, loss = self._waiting
        self._waiting = None
        value, now = float(loss), time.perf_counter()
        seconds = now - self._since - self._apart
        self._useful += seconds
        if self._write is not None:
            self._write(self._line(done, value, seconds / (done - self._reported)))
        self._reported, self._since, self._apart = done, now, 0.0

    def _line(self, done: int, loss: float, seconds: float) -> str:
        tokens = self._config.batch * self._config.length
        return json.dumps(
            {
                "step": done,
                "loss": loss,
                "step_seconds": seconds,
                "tokens_per_second_per_chip": tokens / seconds / jax.device_count(),
                "goodput": self._useful / (time.time() - self._first_start),
            }
        )
