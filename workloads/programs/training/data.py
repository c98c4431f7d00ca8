"""Synthetic data, made when it is needed: a pure function of seed, step and an example's number in its step.

So nothing has to be remembered: a run that continues, on as many processes as it likes, sees what an undisturbed one
would have seen. Put your own data behind `examples`, and keep that property.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Tokens: TypeAlias = npt.NDArray[np.int32]
Bits: TypeAlias = npt.NDArray[np.uint64]

STRIDES = 4
NOISE_ONE_IN = 16


def examples(seed: int, step: int, rows: npt.NDArray[np.int64], length: int, vocabulary: int) -> Tokens:
    """Sequences of shape [rows, length + 1]: the input, and one more for the target that is one ahead.

    Each counts up from anywhere by a stride of its own, modulo the vocabulary; one token in sixteen is noise. Two tokens
    tell the stride, so there is something to learn.
    """
    example = _mixed(
        _mixed(_mixed(np.uint64(seed) + np.zeros(len(rows), np.uint64)) + np.uint64(step)) + rows.astype(np.uint64)
    )
    position = np.arange(length + 1, dtype=np.uint64)
    stride = np.uint64(1) + (example >> np.uint64(32)) % np.uint64(STRIDES)
    regular = example[:, None] % np.uint64(vocabulary) + stride[:, None] * position
    dice = _mixed(example[:, None] + position)
    noise = dice >> np.uint64(32)
    noisy = dice % np.uint64(NOISE_ONE_IN) == 0
    return (np.where(noisy, noise, regular) % np.uint64(vocabulary)).astype(np.int32)


def _mixed(numbers: Bits) -> Bits:
    """splitmix64 (Steele, Lea and Flood, 2014): each number's bits, well mixed. Wraps round modulo 2**64."""
    mixed = numbers + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
