"""The training of multislice jobs (package `training`) under Ray Train: `python -m ray_programs.training`, with its flags.

Ray makes the processes and joins them; the steps, the data, the checkpoints and the lines are that package's. Checkpoints go
to its own folder, which all hosts see and no attempt changes, so Ray keeps none: when a worker is lost, Ray starts all of
them again, and they go on from the last one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from .slices import check_worker, given

MAX_FAILURES = 4
"""How often Ray starts the workers again, as often as a JobSet's pods are."""


def train_loop(config: dict[str, Any]) -> None:
    """What Ray runs in each worker. Raises what ends the program elsewhere."""
    started = time.time()
    import jax
    from ray import train
    from training.checkpoints import quiet, writable
    from training.failure import DONE
    from training.options import options_from
    from training.program import train as train_model

    quiet()
    check_worker()
    options = options_from(config["words"])
    if options.folder is not None:
        writable(options.folder, jax.process_index())

    def report(line: str) -> None:
        """Every worker reports: Ray waits for all of them."""
        if train.get_context().get_world_rank() == 0:
            print(line, flush=True)
        train.report(json.loads(line))

    if train_model(options, given(os.environ).count, started, report) != DONE:
        raise InterruptedError("the workers were told to stop; they go on from their last checkpoint")


def run(words: Sequence[str]) -> None:
    """Raises TrainingFailedError when the workers have failed too often."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.v2.jax import JaxTrainer

    JaxTrainer(
        train_loop_per_worker=train_loop,
        train_loop_config={"words": list(words)},
        scaling_config=ScalingConfig(**given(os.environ).scaling()),
        run_config=RunConfig(failure_config=FailureConfig(max_failures=MAX_FAILURES)),
    ).fit()


if __name__ == "__main__":
    run(sys.argv[1:])
