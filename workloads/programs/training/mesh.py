"""Where things are: the devices as a mesh with the axes (slice, fsdp, tensor), and what is split over which of them.

Between slices is the data center network (DCN): only gradients are summed over it, once a step. Within a slice are the
chips' own links (ICI): parameters are split there (fsdp), and matrices too (tensor).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import jax
import numpy as np
from jax.experimental import mesh_utils
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from .failure import DEVICES, Failure

AXES = ("slice", "fsdp", "tensor")
ROWS = ("slice", "fsdp")
"""Axes over which the rows of a batch are split."""


def mesh_of(devices: Sequence[jax.Device], slices: int, tensor: int) -> Mesh:
    """The mesh [slices, fsdp, tensor]; `tensor` is taken only as far as it divides a slice's chips.

    Raises Failure when the devices do not make `slices` equal slices.
    """
    if len(devices) % slices:
        raise Failure(DEVICES, f"{len(devices)} devices do not make {slices} equal slices")
    each = len(devices) // slices
    across = math.gcd(each, tensor)
    grids = [
        mesh_utils.create_device_mesh((each // across, across), devices=group) for group in _slices(devices, slices)
    ]
    return Mesh(np.stack(grids), AXES)


def _slices(devices: Sequence[jax.Device], slices: int) -> list[list[jax.Device]]:
    """The devices of each slice. A TPU says which slice it is of; elsewhere processes are numbered slice by slice."""
    ordered = sorted(devices, key=lambda device: (_slice(device), device.process_index, device.id))
    each = len(ordered) // slices
    groups = [ordered[begin : begin + each] for begin in range(0, len(ordered), each)]
    named = {_slice(device) for device in ordered}
    if len(named) > 1 and [len({_slice(device) for device in group}) for group in groups] != [1] * len(named):
        raise Failure(DEVICES, f"the devices say that they are of {len(named)} slices, not of {slices} equal ones")
    return groups


def _slice(device: jax.Device) -> int:
    """Number of a TPU's slice; 0 for a device that knows of none."""
    return int(getattr(device, "slice_index", 0))


def split(mesh: Mesh, shape: Sequence[int], axes: Sequence[str | None]) -> NamedSharding:
    """How an array is split: dimension i over axes[i], or not at all where that axis does not divide it."""
    kept = [axis if axis and size % mesh.shape[axis] == 0 else None for size, axis in zip(shape, axes, strict=True)]
    return NamedSharding(mesh, PartitionSpec(*kept))


def whole(mesh: Mesh) -> NamedSharding:
    """A copy on each device."""
    return NamedSharding(mesh, PartitionSpec())


def rows_of(mesh: Mesh, batch: int) -> int:
    """Rows of a batch of `batch` examples, filled up to what divides evenly."""
    shards = int(mesh.shape["slice"] * mesh.shape["fsdp"])
    return -(-batch // shards) * shards


def by_rows(mesh: Mesh) -> NamedSharding:
    """A batch: rows over slices and over the fsdp axis of each."""
    return NamedSharding(mesh, PartitionSpec(ROWS))
