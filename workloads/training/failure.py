"""How the program ends. Every end that it decides itself is one line on stderr and one of these codes.

    0    all steps done
    1    a mistake in the program: a traceback
    2    wrong flags (argparse)
    3    wrong Python or wrong packages
    4    a variable that the manifest sets is missing or makes no sense
    5    not all processes met within --initialization-seconds
    6    the platform or the number of devices is not what the slices were said to have
    7    the checkpoint folder cannot be written or read, all in it is damaged, or it is of another configuration
    8    another process of the job is gone
    134  the same, noticed by JAX's coordination service first: it ends the process (abort) with lines of its own
    143  SIGTERM: what was trained is saved (if there is a checkpoint folder), and the rest is for the next start

Anything but 0 makes the pod fail, and JobSet start all pods again together, as long as its failure policy lets it.
"""

from __future__ import annotations

DONE = 0
MISTAKE = 1
PACKAGES = 3
ENVIRONMENT = 4
NOT_MET = 5
DEVICES = 6
CHECKPOINTS = 7
PEER_GONE = 8
STOPPED = 143


class Failure(Exception):
    """An end with a reason, one line long, and an exit code of the table above."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(" ".join(reason.split()))
        self.code = code
