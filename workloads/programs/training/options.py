"""Flags, and the named configurations that say what is not given."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Config:
    """A model, its data and its training. Sizes are counts; `batch` is examples of a step over all devices together.

    `batch` does not depend on the slices, so a run continues on others with the same mathematics; what does not divide
    evenly is filled up with rows that weigh nothing.
    """

    name: str
    layers: int
    width: int
    heads: int
    hidden: int
    vocabulary: int
    length: int
    batch: int
    learning_rate: float
    steps: int
    checkpoint_every: int
    report_every: int
    tensor: int
    """Chips of a slice that share one copy of each layer's matrices; the others of the slice split the batch (fsdp)."""


CONFIGS = {
    config.name: config
    for config in (
        Config("tiny", 1, 32, 2, 64, 64, 16, 48, 1e-2, steps=40, checkpoint_every=10, report_every=1, tensor=1),
        Config("small", 2, 64, 4, 256, 128, 32, 48, 3e-3, steps=100, checkpoint_every=20, report_every=5, tensor=2),
    )
}


SEEDS = 2**31
"""Of so many JAX makes different random numbers, and no more than a stack file may name (`settings/schema/training.py`)."""


@dataclass(frozen=True)
class Options:
    """Times are seconds. Without a folder there are no checkpoints."""

    config: Config
    seed: int
    folder: Path | None
    initialization_seconds: int
    heartbeat_seconds: int


def options_from(words: Sequence[str]) -> Options:
    """The command line. Ends the program with argparse's words and exit code 2 if it is wrong."""
    flags = _parser().parse_args(words)
    given = {name: value for name in ("steps", "checkpoint_every") if (value := getattr(flags, name)) is not None}
    return Options(
        config=dataclasses.replace(CONFIGS[flags.config], **given),
        seed=flags.seed,
        folder=flags.checkpoint_dir,
        initialization_seconds=flags.initialization_seconds,
        heartbeat_seconds=flags.heartbeat_seconds,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="training", description="Trains a small transformer on all chips of all slices."
    )
    parser.add_argument("--config", choices=sorted(CONFIGS), default="tiny", help="named configuration (tiny)")
    parser.add_argument("--steps", type=_whole(1), help="steps in all, those of earlier starts included")
    parser.add_argument("--checkpoint-every", type=_whole(1), metavar="STEPS", help="steps between checkpoints")
    parser.add_argument(
        "--checkpoint-dir", type=_folder, metavar="PATH", help="a folder that all processes see; none: no checkpoints"
    )
    parser.add_argument("--seed", type=_whole(0, SEEDS - 1), default=0, help="of the model and of the data (0)")
    parser.add_argument(
        "--initialization-seconds",
        type=_whole(1),
        default=900,
        help="how long all processes have to meet; hosts start minutes apart when an image is pulled (900)",
    )
    parser.add_argument(
        "--heartbeat-seconds",
        type=_whole(1),
        default=60,
        help="a process that is silent for so long is given up, and all others end (60)",
    )
    return parser


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A whole number from `least`, for argparse, which prints the function's name."""

    def number(text: str) -> int:
        if int(text) < least or (most is not None and int(text) > most):
            raise ValueError
        return int(text)

    number.__name__ = f"number from {least}" if most is None else f"number from {least} to {most}"
    return number


def _folder(text: str) -> Path:
    """A path, for argparse. The empty one would be the working directory, which nobody has named."""
    if not text:
        raise argparse.ArgumentTypeError("no path is given")
    return Path(text)
