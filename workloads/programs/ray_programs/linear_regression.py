"""Fits a line with JAX under Ray Train, one worker a TPU host.

Every worker fits the whole data by itself: this shows that the platform brings up all hosts and trains, not how to share
work between them. `training.py` beside it does that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from .slices import check_worker, given

SAMPLES, FEATURES, LEARNING_RATE, REPORT_EVERY = 1000, 10, 0.1, 10
SETTLE_SECONDS = 3
"""Ray collects the last reports and lines before a worker ends."""


def data(seed: int = 0) -> tuple[jax.Array, jax.Array]:
    """(inputs of shape [SAMPLES, FEATURES], targets of shape [SAMPLES, 1]) of a line without noise."""
    inputs_key, weights_key = jax.random.split(jax.random.PRNGKey(seed))
    inputs = jax.random.normal(inputs_key, (SAMPLES, FEATURES))
    return inputs, inputs @ jax.random.normal(weights_key, (FEATURES, 1))


def loss(weights: jax.Array, inputs: jax.Array, targets: jax.Array) -> jax.Array:
    """Mean squared error, a scalar."""
    return jnp.mean((inputs @ weights - targets) ** 2)


@jax.jit
def step(weights: jax.Array, inputs: jax.Array, targets: jax.Array) -> tuple[jax.Array, jax.Array]:
    """(weights after one step down the gradient, loss before it)."""
    value, gradient = jax.value_and_grad(loss)(weights, inputs, targets)
    return weights - LEARNING_RATE * gradient, value


def fit(epochs: int, report: Callable[[dict[str, Any]], None]) -> float:
    """Trains for `epochs` steps, reports every tenth and the last one, and returns the last loss."""
    inputs, targets = data()
    weights, value = jnp.zeros((FEATURES, 1)), jnp.inf
    for epoch in range(epochs):
        weights, value = step(weights, inputs, targets)
        if epoch % REPORT_EVERY == 0 or epoch == epochs - 1:
            report({"epoch": epoch, "loss": float(value)})
    return float(value)


def train_loop(config: dict[str, Any]) -> None:
    """What Ray runs in each worker."""
    from ray import train

    check_worker()

    def report(metrics: dict[str, Any]) -> None:
        """All report the same, so one of them prints: Ray would mix the lines of several."""
        train.report(metrics)
        if train.get_context().get_world_rank() == 0:
            print(f"Epoch {metrics['epoch']}: Loss {metrics['loss']:.4f}", flush=True)

    fit(int(config["epochs"]), report)
    print("Training Complete!", flush=True)
    time.sleep(SETTLE_SECONDS)


def main() -> None:
    from ray.train import ScalingConfig
    from ray.train.v2.jax import JaxTrainer

    JaxTrainer(
        train_loop_per_worker=train_loop,
        train_loop_config={"epochs": int(os.environ["EPOCHS"])},
        scaling_config=ScalingConfig(**given(os.environ).scaling()),
    ).fit()


if __name__ == "__main__":
    main()
