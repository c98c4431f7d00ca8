"""What a container gets in place of TPU chips: as many devices of JAX's CPU backend, which talk to each other by gloo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

RESOURCE = "google.com/tpu"


def variables(container: Mapping[str, Any]) -> dict[str, str]:
    """The variables, all of them JAX's own, of a container with a limit of TPU chips; none without."""
    limits = (container.get("resources") or {}).get("limits") or {}
    chips = int(limits.get(RESOURCE, 0))
    if chips == 0:
        return {}
    return {
        "JAX_PLATFORMS": "cpu",
        "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={chips}",
    }
