"""The state of a training, split over the mesh, and one compiled step of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import numpy as np
import optax
from jax.sharding import Mesh

from . import model
from .data import examples
from .mesh import by_rows, rows_of, split, whole
from .options import Config

State: TypeAlias = dict[str, Any]
"""`params`, and `optimizer` of optax, whose moments have the parameters' shapes."""
Step: TypeAlias = Callable[[State, jax.Array], tuple[State, jax.Array]]


def optimizer_of(config: Config) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(config.learning_rate))


def layout(config: Config, mesh: Mesh) -> State:
    """The state's shapes, types and shardings, without a number in it (jax.ShapeDtypeStruct)."""
    shapes = model.shapes(config)
    shardings = {name: split(mesh, shapes[name], axes) for name, axes in model.AXES.items()}
    optimizer = optimizer_of(config)
    abstract = jax.eval_shape(lambda: _fresh(config, 0))
    state_shardings = {
        "params": shardings,
        "optimizer": optax.tree_utils.tree_map_params(
            optimizer,
            lambda _, sharding: sharding,
            abstract["optimizer"],
            shardings,
            transform_non_params=lambda _: whole(mesh),
        ),
    }
    return jax.tree.map(
        lambda leaf, sharding: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding), abstract, state_shardings
    )


def fresh(config: Config, mesh: Mesh, seed: int) -> State:
    """The state before the first step; each device makes its own part of it."""
    shardings = jax.tree.map(lambda leaf: leaf.sharding, layout(config, mesh))
    return jax.jit(_fresh, static_argnums=0, out_shardings=shardings)(config, seed)


def _fresh(config: Config, seed: int) -> State:
    params = model.initial(config, seed)
    return {"params": params, "optimizer": optimizer_of(config).init(params)}


def batch_of(config: Config, mesh: Mesh, seed: int, step: int) -> jax.Array:
    """Tokens [rows, length + 1] of a step. Each process makes only the rows that its devices hold."""
    shape = (rows_of(mesh, config.batch), config.length + 1)

    def part(index: tuple[slice, ...]) -> np.ndarray[Any, np.dtype[np.int32]]:
        return examples(seed, step, np.arange(shape[0])[index[0]], config.length, config.vocabulary)

    return jax.make_array_from_callback(shape, by_rows(mesh), part)


def compiled(config: Config, mesh: Mesh) -> Step:
    """(state after a step, mean loss before it) from a state, whose memory is reused, and a batch. Compiles at once."""
    state = layout(config, mesh)
    tokens = jax.ShapeDtypeStruct((rows_of(mesh, config.batch), config.length + 1), np.int32, sharding=by_rows(mesh))
    shardings = jax.tree.map(lambda leaf: leaf.sharding, state)
    step = jax.jit(_step(config), donate_argnums=0, out_shardings=(shardings, whole(mesh)))
    return step.lower(state, tokens).compile()


def _step(config: Config) -> Step:
    optimizer = optimizer_of(config)

    def step(state: State, tokens: jax.Array) -> tuple[State, jax.Array]:
        value, gradients = jax.value_and_grad(model.loss)(state["params"], tokens, config)
        updates, moments = optimizer.update(gradients, state["optimizer"], state["params"])
        return {"params": optax.apply_updates(state["params"], updates), "optimizer": moments}, value

    return step
