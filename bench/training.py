"""The training program against a bare loop of the same model, its saves, and its processes. All on CPU devices.

The same compiled step runs in all of it, in this process and alternating, so what differs is what is measured.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import statistics
import tempfile
import time
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax

from bench.local_job import Job
from workloads.programs.training.checkpoints import Checkpoints
from workloads.programs.training.loop import Training
from workloads.programs.training.mesh import mesh_of
from workloads.programs.training.options import CONFIGS, Config
from workloads.programs.training.progress import Record
from workloads.programs.training.stopping import Stopping
from workloads.programs.training.training_step import State, Step, batch_of, compiled, fresh

ROUNDS = 7
STEPS = 40
SAVES, SAVE_ROUNDS = 2, 3
SHARE = 0.02
PROCESSES = (1, 2, 4)


def rows() -> list[tuple[str, str]]:
    config = dataclasses.replace(CONFIGS["small"], steps=STEPS)
    mesh = mesh_of(jax.devices()[:1], 1, 1)
    step = compiled(config, mesh)
    return [*_against_bare(config, mesh, step), *_saves(config, mesh, step), *_processes()]


def _against_bare(config: Config, mesh: jax.sharding.Mesh, step: Step) -> list[tuple[str, str]]:
    pairs = [(_bare(config, mesh, step), _program(config, mesh, step, None)) for _ in range(ROUNDS)]
    bare, program = (statistics.median(seconds) for seconds in zip(*pairs, strict=True))
    return [
        ("training: a bare loop of the same model", f"{STEPS / bare:.1f} steps/s"),
        (
            f"training: the program (a line of metrics every {config.report_every} steps)",
            f"{STEPS / program:.1f} steps/s",
        ),
        ("training: program / bare", f"{statistics.median(b / p for b, p in pairs):.3f}"),
    ]


def _saves(config: Config, mesh: jax.sharding.Mesh, step: Step) -> list[tuple[str, str]]:
    """Whole runs with saves and without: what the writing thread takes from the training counts as well.

    Steps here are milliseconds, and nobody saves every second; so the cost of one save is measured, and said how far
    apart saves have to be to cost 2 % of the time.
    """
    config = dataclasses.replace(config, steps=SAVES * STEPS, checkpoint_every=STEPS)
    costs, stalls = [], []
    for _ in range(SAVE_ROUNDS):
        without = _program(config, mesh, step, None)
        with tempfile.TemporaryDirectory() as folder:
            _first_save(Path(folder), config, mesh)
            saved = _Timed(Path(folder), config, 0)
            costs.append((_program(config, mesh, step, saved) - without) / SAVES)
            saved.finish()
        stalls.extend(saved.seconds)
    cost = statistics.median(costs)
    return [
        ("training: the loop is held by a save", f"{1000 * statistics.median(stalls):.0f} ms"),
        ("training: a save costs in all, its thread shares the cores", f"{1000 * cost:.0f} ms"),
        (f"training: that is {SHARE:.0%} of the time at a save every", f"{cost / SHARE:.1f} s"),
    ]


def _processes() -> list[tuple[str, str]]:
    """The same batch over more and more processes with one device each, on one machine."""
    found = []
    for count in PROCESSES:
        with (
            tempfile.TemporaryDirectory() as scratch,
            Job(Path(scratch), "--config", "small", "--steps", str(STEPS), slices=1, hosts=count, chips=1) as job,
        ):
            lines = job.ended()[0].steps
        seconds = statistics.median(line["step_seconds"] for line in lines[2:])
        found.append((f"training: {count} process{'es' if count > 1 else ''}", f"{1 / seconds:.1f} steps/s"))
    return found


class _Timed(Checkpoints):
    """Notes how long the loop is held by each save, in seconds."""

    def __init__(self, folder: Path, config: Config, seed: int) -> None:
        super().__init__(folder, config, seed)
        self.seconds: list[float] = []

    def save(self, step: int, state: State, record: Record) -> None:
        began = time.perf_counter()
        super().save(step, state, record)
        self.seconds.append(time.perf_counter() - began)


def _first_save(folder: Path, config: Config, mesh: jax.sharding.Mesh) -> None:
    """The save before the first step, as the program does it: from then on everything is compiled and made."""
    first = Checkpoints(folder, config, 0)
    first.save(0, fresh(config, mesh, 0), Record(time.time(), 0.0))
    first.finish()


def _bare(config: Config, mesh: jax.sharding.Mesh, step: Step) -> float:
    """Seconds of the steps, with nothing around them."""
    state = jax.block_until_ready(fresh(config, mesh, 0))
    began = time.perf_counter()
    for number in range(config.steps):
        state, loss = step(state, batch_of(config, mesh, 0, number))
    jax.block_until_ready(loss)
    return time.perf_counter() - began


def _program(config: Config, mesh: jax.sharding.Mesh, step: Step, saved: Checkpoints | None) -> float:
    """Seconds of the steps as the program does them."""
    state = jax.block_until_ready(fresh(config, mesh, 0))
    training = Training(config, mesh, 0, state, 0, Record(time.time(), 0.0))
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
        stopping = Stopping()
        began = time.perf_counter()
        training.run(step, stopping.at, saved, lambda line: print(line, flush=True))
        return time.perf_counter() - began
