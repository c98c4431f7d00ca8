"""A decoder-only transformer: parameters, how each is split over the mesh, and the loss of a batch.

Shapes: L layers, D width, F hidden, V vocabulary, T length, B rows of a batch, H heads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt

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

SCALES = ("before_attention", "before_hidden", "at_end")
STACKED = ("attend", "gather", "up", "down", "before_attention", "before_hidden")
"""Parameters whose first dimension is the layers."""


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


def initial(config: Config, seed: int, name: str) -> npt.NDArray[np.float32]:
    """A parameter before the first step: scales are one, all else is normal with variance 1 / inputs.

    Made on the host, whole, a parameter at a time: the same for every mesh, and nothing to compile.
    """
    shape = shapes(config)[name]
    if name in SCALES:
        return np.ones(shape, np.float32)
    inputs = config.width if name in ("embedding", "position") else shape[-2]
    noise = np.random.default_rng([seed, list(AXES).index(name)]).standard_normal(shape, np.float32)
    return noise * np.float32(inputs**-0.5)


def loss(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """Mean cross-entropy in nats over the first `config.batch` rows of tokens [B, T + 1]; a scalar."""
    logits = _logits(params, tokens[:, :-1], config)
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)[..., 0]
    counts = jnp.arange(tokens.shape[0]) < config.batch
    return -jnp.sum(jnp.where(counts[:, None], chosen, 0.0)) / (config.batch * config.length)


def _logits(params: Params, tokens: jax.Array, config: Config) -> jax.Array:
    """[B, T, V] from tokens [B, T]."""
    hidden = params["embedding"][tokens] + params["position"]
    hidden, _ = jax.lax.scan(_layer(config), hidden, {name: params[name] for name in STACKED})
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
