"""SIGTERM: Kubernetes wants the pod gone and waits for the grace period, 30 s if nothing else is said.

Any process may get it alone (its node goes) or all at once (Kueue takes the quota back). With several processes, JAX's
preemption service passes it on and agrees on a step that none has passed; all save there. Before all processes have met, a
SIGTERM ends the process at once: it has nothing to save. After that, while it restores and compiles, the first step sees it.
"""

from __future__ import annotations

import signal
from types import FrameType

import jax
from jax.experimental import multihost_utils


class Stopping:
    """Made once, before the first step."""

    def __init__(self) -> None:
        self._asked = False
        if not jax.distributed.is_initialized():
            signal.signal(signal.SIGTERM, self._ask)

    def at(self, step: int) -> bool:
        """Whether all processes stop when `step` steps are done. To be asked once a step, by all of them."""
        if jax.distributed.is_initialized():
            return bool(multihost_utils.reached_preemption_sync_point(step))
        return self._asked

    def _ask(self, signum: int, frame: FrameType | None) -> None:
        self._asked = True
