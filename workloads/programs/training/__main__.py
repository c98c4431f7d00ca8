"""`python -m training FLAGS`: checks the interpreter and its packages before anything is imported that needs them."""

import os
import signal
import sys

from .failure import INTERRUPTED, PACKAGES, STOPPED
from .needs import unmet


def main() -> None:
    # The first process of a container ignores a signal that it has no handler for. Until there is something to save
    # (`stopping`), there is nothing to wait for.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(STOPPED))
    signal.signal(signal.SIGINT, lambda *_: _interrupted())
    reason = unmet()
    if reason:
        print(f"error: {reason}", file=sys.stderr, flush=True)
        sys.exit(PACKAGES)
    from .program import run

    run(sys.argv[1:])


def _interrupted() -> None:
    """Written past Python's stderr, which may be in the midst of a line of its own."""
    os.write(2, b"error: interrupted; the next start goes on from the last checkpoint, if there is one\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
