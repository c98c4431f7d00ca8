"""What a pod on a slice knows of its place by GKE's variables alone, as one line of JSON. Runs in the pod, before its own program."""

import json
import os
import socket
import time

PATIENCE_S = 240.0
"""Until the other hosts of the slice have their names."""


def address(name: str, deadline: float) -> str:
    while True:
        try:
            return socket.gethostbyname(name)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def place() -> dict[str, object]:
    deadline, names = time.monotonic() + PATIENCE_S, os.environ["TPU_WORKER_HOSTNAMES"].split(",")
    worker, slice_ = int(os.environ["TPU_WORKER_ID"]), int(os.environ["MEGASCALE_SLICE_ID"])
    return {
        "place": [slice_, worker],
        "slices": int(os.environ["MEGASCALE_NUM_SLICES"]),
        "own": socket.gethostbyname(socket.gethostname()),
        "hosts": [address(name, deadline) for name in names],
        "first": address(os.environ["MEGASCALE_COORDINATOR_ADDRESS"], deadline),
    }


print(json.dumps(place()), flush=True)
