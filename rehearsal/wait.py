"""The one loop that waits for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(what: str, seconds: float, ready: Callable[[], object], *, pause: float = 0.05) -> None:
    """Returns once `ready` gives a true value; it is called at least once. Raises TimeoutError, which names `what`."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {seconds:.0f} s")
        time.sleep(pause)
