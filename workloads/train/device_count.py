"""The tutorial's payload: every host of every slice joins one JAX process group and counts the chips of all.

It ends with an error when the chips are not there: a wrong libtpu makes JAX fall back to the CPU without a word, and
a job that trains on nothing would be reported as a success.
"""

import os
import sys
import time

import jax

EXPECTED = int(os.environ["EXPECTED_DEVICES"])

# Hosts start minutes apart when an image is pulled; the default of five minutes is too short for the slowest.
jax.distributed.initialize(initialization_timeout=900)
print("Global device count:", jax.device_count(), flush=True)
if jax.default_backend() != "tpu" or jax.device_count() != EXPECTED:
    sys.exit(f"expected {EXPECTED} TPU devices, found {jax.device_count()} of kind {jax.default_backend()}")
time.sleep(float(os.environ["SLEEP_SECONDS"]))
