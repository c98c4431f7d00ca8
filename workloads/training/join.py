"""All processes of the job become one JAX program, and it is proven that they have the chips they should have."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import jax

from .failure import DEVICES, NOT_MET, Failure
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
    missed = f"not all {place.processes} processes met at {place.coordinator} within {seconds} s; who is missing has the reason in its log"
    with _or_end(deadline, NOT_MET, missed):
        jax.distributed.initialize(
            coordinator_address=place.coordinator,
            num_processes=place.processes,
            process_id=place.process,
            cluster_detection_method="deactivate",
            # JAX aborts with a stack trace at its own time-out: ours comes first.
            initialization_timeout=seconds + 60,
            heartbeat_timeout_seconds=heartbeat_seconds,
            shutdown_timeout_seconds=LEAVE_SECONDS,
        )


def leave(code: int) -> None:
    """Ends the process with `code` when all others are ready to end too, or after LEAVE_SECONDS.

    Not by sys.exit: threads of JAX and orbax may wait for a process that is gone.
    """
    with _or_end(time.monotonic() + LEAVE_SECONDS, code, ""):
        jax.distributed.shutdown()
    end(code)


def end(code: int) -> None:
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
        raise Failure(DEVICES, f"JAX has no devices: {error}") from error
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


@contextmanager
def _or_end(deadline: float, code: int, reason: str) -> Iterator[None]:
    """Ends the process with the reason, if there is one, when the block is not done by then (time.monotonic)."""

    def give_up() -> None:
        if reason:
            print(f"error: {reason}", file=sys.stderr)
        end(code)

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
