"""The state of a training, split over the mesh, and one compiled step of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import numpy as np
import numpy.typing as npt
import optax
from jax.sharding import Mesh

from . import model
from .data import Tokens, examples
from .mesh import by_rows, rows_of, split, whole
from .options import Config

State: TypeAlias = dict[str, Any]
"""`params`, and `optimizer` of optax, whose moments have the parameters' shapes."""
Step: TypeAlias = Callable[[State, jax.Array], tuple[State, jax.Array]]


def optimizer_of(config: Config) -> optax.GradientTransformation:
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(config.learning_rate))


def layout(config: Config, mesh: Mesh) -> State:
    """The state's shapes, types and shardings, without a number in it (jax.ShapeDtypeStruct)."""
    params = {
        name: jax.ShapeDtypeStruct(shape, np.float32, sharding=split(mesh, shape, model.AXES[name]))
        for name, shape in model.shapes(config).items()
    }
    optimizer = optimizer_of(config)
    moments = optax.tree_utils.tree_map_params(
        optimizer,
        lambda leaf, param: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=param.sharding),
        jax.eval_shape(optimizer.init, params),
        params,
        transform_non_params=lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=whole(mesh)),
    )
    return {"params": params, "optimizer": moments}


def fresh(config: Config, mesh: Mesh, seed: int) -> State:
    """The state before the first step."""
    state = layout(config, mesh)
    params = {name: _spread(model.initial(config, seed, name), leaf.sharding) for name, leaf in state["params"].items()}
    shardings = jax.tree.map(lambda leaf: leaf.sharding, state["optimizer"])
    return {"params": params, "optimizer": jax.jit(optimizer_of(config).init, out_shardings=shardings)(params)}


def _spread(values: npt.NDArray[np.float32], sharding: jax.sharding.Sharding) -> jax.Array:
    return jax.make_array_from_callback(values.shape, sharding, lambda index: values[index])


def batch_of(config: Config, mesh: Mesh, seed: int, step: int) -> jax.Array:
    """Tokens [rows, length + 1] of a step. Each process makes only the rows that its devices hold."""
    shape = (rows_of(mesh, config.batch), config.length + 1)

    def part(index: tuple[slice, ...] | None) -> Tokens:
        rows = slice(None) if index is None else index[0]
        return examples(seed, step, np.arange(shape[0])[rows], config.length, config.vocabulary)

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
