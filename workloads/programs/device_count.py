"""The tutorial's payload: every host of every slice joins one JAX process group and counts the chips of all.

It ends with an error when the chips are not there: a wrong libtpu makes JAX fall back to the CPU without a word, and
a job that trains on nothing would be reported as a success.
"""

import os
import sys
import time

import jax

SLICES, HOSTS = int(os.environ["NUM_SLICES"]), int(os.environ["HOSTS_PER_SLICE"])
PROCESS = int(os.environ["SLICE_INDEX"]) * HOSTS + int(os.environ["HOST_INDEX"])
EXPECTED = SLICES * HOSTS * int(os.environ["CHIPS_PER_HOST"])
PLATFORM = os.environ["JAX_PLATFORMS"].split(",")[0]

if "COORDINATOR_ADDRESS" in os.environ:  # a job of one host has nobody to meet
    # Hosts start minutes apart when an image is pulled; the default of five minutes is too short for the slowest.
    jax.distributed.initialize(os.environ["COORDINATOR_ADDRESS"], SLICES * HOSTS, PROCESS, initialization_timeout=900)
print("Global device count:", jax.device_count(), flush=True)
if jax.default_backend() != PLATFORM or jax.device_count() != EXPECTED:
    sys.exit(f"expected {EXPECTED} {PLATFORM} devices, found {jax.device_count()} of kind {jax.default_backend()}")
time.sleep(float(os.environ["SLEEP_SECONDS"]))
