"""The command of a container whose image lacks a program's packages: a shell that installs them and becomes the program."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from workloads.programs.training.failure import INSTALLATION, STOPPED


def installing(requirements: Sequence[str], program: str) -> list[str]:
    """Installs `requirements`, then becomes `program`, a line of shell that starts it: signals must reach it.

    pip runs in the background, since bash looks at a signal only when what it waits for in the foreground has ended: a pod that is to
    go would hold its chips until all is installed. pip's own exit codes (2: any error that it did not foresee) would be taken for
    the program's.
    """
    lines = (
        f"trap 'kill $(jobs -p) 2>/dev/null; exit {STOPPED}' TERM",
        f"pip install --quiet {shlex.join(requirements)} &",
        f"wait $! || exit {INSTALLATION}",
        f"exec {program}",
    )
    return ["bash", "-c", "".join(f"{line}\n" for line in lines)]
