"""A decoder-only transformer: parameters, how each is split over the mesh, and the loss of a batch.

Shapes: L layers, D width, F hidden, V vocabulary, T length, B rows of a batch, H heads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp

from .options import Config

Params: TypeAlias = dict[str, jax.Array]

AXES: dict[str, tuple[str | None, ...]] = {
    "embedding": ("tensor", "fsdp"),
    "position": (None, "fsdp"),
    "attend": (None, None, "fsdp", "tensor"),
    "gather": (None, "tensor", "fsdp"),
    "up": (None, "fsdp", "tensor"),
    "down": (None, "tensor", "fsdp"),
    "before_attention": (None, None),
    "before_hidden": (None, None),
    "at_end": (None,),
}
"""The mesh axis over which each dimension of each parameter is split. None is split over slices: each has a whole copy."""


def shapes(config: Config) -> dict[str, tuple[int, ...]]:
    """Every parameter's shape."""
    layers, width, hidden = config.layers, config.width, config.hidden
    return {
        "embedding": (config.vocabulary, width),
        "position": (config.length, width),
        "attend": (layers, 3, width, width),
        "gather": (layers, width, width),
        "up": (layers, width, hidden),
        "down": (layers, hidden, width),
        "before_attention": (layers, width),
        "before_hidden": (layers, width),
        "at_end": (width,),
    }


def initial(config: Config, seed: int) -> Params:
    """Parameters before the first step; scales start at one, all else normal with variance 1 / inputs."""
    keys = jax.random.split(jax.random.key(seed), len(AXES))
    params = {}
    for key, (name, shape) in zip(keys, shapes(config).items(), strict=True):
        if name.startswith(("before", "at")) and name != "attend":
            params[name] = jnp.ones(shape)
        else:
            inputs = config.width if name in ("embedding", "position") else shape[-2]
            params[name] = jax.random.normal(key, shape) * inputs**-0.5
    return params


def loss(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """Mean cross-entropy in nats over the first `config.batch` rows of tokens [B, T + 1]; a scalar."""
    logits = _logits(params, tokens[:, :-1], config)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)[..., 0]
    counts = jnp.arange(tokens.shape[0]) < config.batch
    return -jnp.sum(jnp.where(counts[:, None], chosen, 0.0)) / (config.batch * config.length)


def _logits(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """[B, T, V] from tokens [B, T]."""
    hidden = params["embedding"][tokens] + params["position"]
    stacked = {name: params[name] for name in AXES if len(params[name].shape) > 1 and name not in ("embedding", "position")}
    hidden, _ = jax.lax.scan(_layer(config), hidden, stacked)
    return _normal(hidden, params["at_end"]) @ params["embedding"].T


def _layer(config: Config) -> Callable[[jax.Array, Params], tuple[jax.Array, None]]:
    def layer(hidden: jax.Array, own: Params) -> tuple[jax.Array, None]:
        hidden = hidden + _attention(_normal(hidden, own["before_attention"]), own, config.heads)
        inner = jax.nn.gelu(_normal(hidden, own["before_hidden"]) @ own["up"])
        return hidden + inner @ own["down"], None

    return layer


def _attention(hidden: jax.Array, own: Params, heads: int) -> jax.Array:
    """Causal attention of [B, T, D]."""
    rows, length, width = hidden.shape
    query, key, value = ((hidden @ own["attend"][i]).reshape(rows, length, heads, width // heads) for i in range(3))
    mixed = jax.nn.dot_product_attention(query, key, value, is_causal=True)
    return mixed.reshape(rows, length, width) @ own["gather"]


def _normal(hidden: jax.Array, scale: jax.Array) -> jax.Array:
    """Root mean square normalization over the width."""
    return hidden * jax.lax.rsqrt(jnp.mean(hidden**2, axis=-1, keepdims=True) + 1e-6) * scale
