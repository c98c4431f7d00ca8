"""All processes of the job become one JAX program, and it is proven that they have the chips they should have."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NoReturn

import jax

from .failure import CHIPS, DEVICES, NOT_MET, Failure
from .place import Place

RETRY_SECONDS = 1.0
LEAVE_SECONDS = 15
"""How long an ending process waits for the others to end too: process 0 takes JAX's coordination service with it."""


def join(place: Place, seconds: int, heartbeat_seconds: int) -> None:
    """Waits up to `seconds` for all processes of `place`. Raises Failure, or ends the process, when they did not come.

    From then on JAX watches over the processes: one that is silent for `heartbeat_seconds` ends all others (abort, 134).
    JAX also takes SIGTERM over here; see `stopping`.
    """
    deadline = time.monotonic() + seconds
    if place.process != 0:
        _reach(place.coordinator, seconds, deadline)
    # In a thread: SIGTERM and the time-out are for the main one, which JAX would hold. At its own time-out JAX aborts with a
    # stack trace, so that has to be later than ours.
    waiting = ThreadPoolExecutor(1).submit(
        jax.distributed.initialize,
        coordinator_address=place.coordinator,
        num_processes=place.processes,
        process_id=place.process,
        cluster_detection_method="deactivate",
        initialization_timeout=seconds + 60,
        heartbeat_timeout_seconds=heartbeat_seconds,
        shutdown_timeout_seconds=LEAVE_SECONDS,
    )
    try:
        waiting.result(max(0.0, deadline - time.monotonic()))
    except TimeoutError as error:
        reason = f"not all {place.processes} processes met at {place.coordinator} within {seconds} s"
        raise Failure(NOT_MET, f"{reason}; who is missing has the reason in its log") from error


def leave(code: int) -> NoReturn:
    """Ends the process with `code` when all others are ready to end too, or after LEAVE_SECONDS.

    Not by sys.exit: threads of JAX and orbax may wait for a process that is gone.
    """
    timer = threading.Timer(LEAVE_SECONDS, end, [code])
    timer.daemon = True
    timer.start()
    jax.distributed.shutdown()
    end(code)


def end(code: int) -> NoReturn:
    """Ends the process at once."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def check_devices(expected: int | None, platform: str | None) -> None:
    """Prints the tutorial's line, and raises Failure if the devices are others than expected (None: any will do).

    A wrong libtpu makes JAX fall back to the CPU without a word, and training on nothing would be called a success.
    """
    try:
        count, backend = jax.device_count(), jax.default_backend()
    except RuntimeError as error:
        raise Failure(CHIPS, f"JAX has no devices: {error}") from error
    print(f"Global device count: {count}", flush=True)
    if platform is not None and backend != platform:
        raise Failure(DEVICES, f"the platform is {backend}, not {platform}: JAX did not find the chips of this host")
    if expected is not None and count != expected:
        raise Failure(
            DEVICES, f"{count} devices are here, {expected} are expected: NUM_SLICES x HOSTS_PER_SLICE x CHIPS_PER_HOST"
        )


def _reach(address: str, seconds: int, deadline: float) -> None:
    """Returns once something listens at host:port. JAX would try as well, but ends with an abort and a stack trace."""
    host, _, port = address.rpartition(":")
    while True:
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
            return
        except OSError as error:
            if time.monotonic() + RETRY_SECONDS > deadline:
                raise Failure(
                    NOT_MET, f"the coordinator {address} was not reached within {seconds} s: {error}"
                ) from error
        time.sleep(RETRY_SECONDS)
