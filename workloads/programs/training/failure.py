"""How the program ends. Every end that it decides itself is one line on stderr and one of these codes.

    0    all steps done
    1    a mistake in the program: a traceback
    2    wrong flags (argparse)
    3    wrong Python or wrong packages
    4    a variable that the manifest sets is missing or makes no sense
    5    not all processes met within --initialization-seconds
    6    the platform or the number of devices is not what the slices were said to have
    7    the checkpoint folder is not one to write in, holds what is not ours, all in it is damaged, or it is of another run
    8    another process of the job is gone
    9    the chips did not start: JAX could not make its devices
    10   a checkpoint could not be written or read: the storage failed
    11   the packages could not be installed (of the start command, not of the program)
    130  Ctrl-C (SIGINT): at once, without a checkpoint of its own
    134  the same as 8, noticed by JAX's coordination service first: it ends the process (abort) with lines of its own
    143  SIGTERM: what was trained is saved (if there is a checkpoint folder), and the rest is for the next start

Anything but 0 makes the pod fail. At a code of FOR_GOOD the JobSet fails with it; at any other it starts all pods again together,
as long as its failure policy lets it. This module imports nothing that a pod has and the stack has not: the manifest reads it.
"""

from __future__ import annotations

DONE = 0
MISTAKE = 1
FLAGS = 2
PACKAGES = 3
ENVIRONMENT = 4
NOT_MET = 5
DEVICES = 6
CHECKPOINTS = 7
PEER_GONE = 8
CHIPS = 9
STORAGE = 10
INSTALLATION = 11
INTERRUPTED = 130
STOPPED = 143

FOR_GOOD = (FLAGS, PACKAGES, ENVIRONMENT, DEVICES, CHECKPOINTS)
"""The same at each attempt, so that a restart only burns chips. What a moment may have caused (a chip that the process before has
not let go yet, a bucket or a package index that does not answer) has other codes."""


class Failure(Exception):
    """An end with a reason, one line long, and an exit code of the table above."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(" ".join(reason.split()))
        self.code = code
