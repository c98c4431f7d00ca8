"""`python -m training FLAGS`: checks the interpreter and its packages before anything is imported that needs them."""

import os
import signal
import sys

from .failure import PACKAGES, STOPPED
from .needs import unmet


def main() -> None:
    # The first process of a container ignores a signal that it has no handler for. Until there is something to save
    # (`stopping`), there is nothing to wait for.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(STOPPED))
    reason = unmet()
    if reason:
        print(f"error: {reason}", file=sys.stderr, flush=True)
        sys.exit(PACKAGES)
    from .program import run

    run(sys.argv[1:])


if __name__ == "__main__":
    main()
