"""Run with eight CPU devices: the program's loss, gradients and steps on several meshes and on one device, as JSON on stdout."""

from __future__ import annotations

import dataclasses
import json

import jax
import numpy as np
from jax.sharding import Mesh

from workloads.programs.training import model
from workloads.programs.training.mesh import by_rows, mesh_of, whole
from workloads.programs.training.options import CONFIGS
from workloads.programs.training.training_step import batch_of, compiled, fresh, layout

CONFIG = dataclasses.replace(CONFIGS["tiny"], layers=2, batch=10)
"""Ten examples: on eight and on four shards of a batch there are rows that only fill it up."""
MESHES = {"one": (1, 1, 1), "tensor": (8, 1, 4), "slices": (8, 2, 2), "three": (6, 3, 1)}
"""Devices, slices, and chips that share a matrix."""
STEPS = 3


def gradients(mesh: Mesh) -> tuple[float, dict[str, np.ndarray]]:
    """Loss and gradients of the first batch."""
    state, tokens = fresh(CONFIG, mesh, 0), batch_of(CONFIG, mesh, 0, 0)
    shardings = {name: leaf.sharding for name, leaf in layout(CONFIG, mesh)["params"].items()}
    both = jax.jit(
        jax.value_and_grad(lambda params, tokens: model.loss(params, tokens, CONFIG)),
        in_shardings=(shardings, by_rows(mesh)),
        out_shardings=(whole(mesh), shardings),
    )
    value, found = both(state["params"], tokens)
    return float(value), {name: np.asarray(array) for name, array in found.items()}


def losses(mesh: Mesh) -> list[float]:
    """Of the first steps, by the step that the program compiles."""
    state, step, found = fresh(CONFIG, mesh, 0), compiled(CONFIG, mesh), []
    for number in range(STEPS):
        state, value = step(state, batch_of(CONFIG, mesh, 0, number))
        found.append(float(value))
    return found


def main() -> None:
    meshes = {name: mesh_of(jax.devices()[:count], slices, tensor) for name, (count, slices, tensor) in MESHES.items()}
    reference, wanted = gradients(meshes["one"])
    result = {}
    for name, mesh in meshes.items():
        value, found = gradients(mesh)
        result[name] = {
            "shape": list(mesh.devices.shape),
            "loss": value / reference - 1,
            "gradients": max(
                float(np.max(np.abs(found[key] - wanted[key])) / np.max(np.abs(wanted[key]))) for key in wanted
            ),
            "spread": len({str(shard.index) for shard in fresh(CONFIG, mesh, 0)["params"]["up"].addressable_shards}),
        }
    result["one"]["losses"], result["slices"]["losses"] = losses(meshes["one"]), losses(meshes["slices"])
    print(json.dumps(result))


if __name__ == "__main__":
    main()
