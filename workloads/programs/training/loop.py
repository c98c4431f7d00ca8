"""The steps, from where the job stands to the last one or to where it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
from jax.sharding import Mesh

from .checkpoints import Checkpoints
from .options import Config
from .progress import Progress, Record
from .training_step import State, Step, batch_of


@dataclass
class Training:
    """A state after `done` steps, and what it takes to do the next ones."""

    config: Config
    mesh: Mesh
    seed: int
    state: State
    done: int
    record: Record

    def run(
        self, step: Step, stop_at: Callable[[int], bool], saved: Checkpoints | None, write: Callable[[str], None] | None
    ) -> bool:
        """Whether all steps are done; otherwise it was told to stop, and has saved if there is somewhere to save to."""
        progress = Progress(self.config, self.done, self.record, write)
        stopped = False
        while self.done < self.config.steps and not stopped:
            tokens = batch_of(self.config, self.mesh, self.seed, self.done)
            progress.flush()  # the devices had work while the batch was made, and wait only for the line to be printed
            self.state, loss = step(self.state, tokens)
            self.done += 1
            progress.stepped(self.done, loss)
            stopped = stop_at(self.done)
            if saved is not None and (stopped or self._due()):
                self._save(saved, progress, loss)
        progress.flush()
        return self.done >= self.config.steps  # a checkpoint may be past steps that were lowered since

    def _due(self) -> bool:
        return self.done % self.config.checkpoint_every == 0 or self.done == self.config.steps

    def _save(self, saved: Checkpoints, progress: Progress, loss: jax.Array) -> None:
        with progress.apart(loss) as record:
            saved.save(self.done, self.state, record)
