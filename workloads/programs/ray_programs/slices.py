"""The slices that a program was given: what it asks Ray for, and whether that is what its workers found."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class WrongDevicesError(RuntimeError):
    """The workers do not see the chips of all slices."""


@dataclass(frozen=True)
class Slices:
    """One Ray worker a host: all its chips belong to one JAX process."""

    count: int
    hosts: int
    """Of each."""
    chips: int
    """Of each host."""
    devices_per_chip: int
    """What JAX counts: two of a chip of TPU 7x."""
    topology: str
    accelerator_type: str
    """Ray's name of the generation, such as TPU-V6E."""

    @property
    def devices(self) -> int:
        return self.count * self.hosts * self.chips * self.devices_per_chip

    def scaling(self) -> dict[str, Any]:
        """The arguments of Ray's ScalingConfig. With `use_tpu` Ray reserves whole slices: it finds their first hosts by a
        resource such as `TPU-v6e-16-head` and the others by the slice's name, both made by each host's `ray start` from the
        variables TPU_NAME, TPU_WORKER_ID, TPU_TOPOLOGY and TPU_ACCELERATOR_TYPE that GKE gives its TPU pods."""
        return {
            "num_workers": self.count * self.hosts,
            "resources_per_worker": {"TPU": self.chips},
            "use_tpu": True,
            "topology": self.topology,
            "accelerator_type": self.accelerator_type,
        }

    def check(self, devices: int, kind: str, wanted: str) -> None:
        """Raises WrongDevicesError where JAX has not all `devices`, or others than `wanted`: a wrong libtpu makes JAX fall back
        to the CPU, and an older Ray joins workers into one group only if they say `tpu`."""
        if (devices, kind) != (self.devices, wanted):
            expected = f"{self.devices} devices of kind {wanted}"
            raise WrongDevicesError(f"expected {expected}, found {devices} of kind {kind}")


def given(environment: Mapping[str, str]) -> Slices:
    """The slices as the manifest describes them. Raises KeyError for a variable that is missing, ValueError for no number."""
    return Slices(
        count=int(environment["NUM_SLICES"]),
        hosts=int(environment["HOSTS_PER_SLICE"]),
        chips=int(environment["CHIPS_PER_HOST"]),
        devices_per_chip=int(environment["DEVICES_PER_CHIP"]),
        topology=environment["SLICE_TOPOLOGY"],
        accelerator_type=environment["ACCELERATOR_TYPE"],
    )


def check_worker() -> None:
    """In a worker, before it trains: Ray has joined all workers into one JAX process group by then. Raises WrongDevicesError.

    The first of JAX_PLATFORMS is what the pod says that it has; Ray's JaxTrainer writes `tpu` there when nothing is stated.
    """
    import jax

    print(f"Global device count: {jax.device_count()}", flush=True)
    wanted = os.environ.get("JAX_PLATFORMS", "tpu").split(",")[0]
    given(os.environ).check(jax.device_count(), jax.default_backend(), wanted)
