"""`python -m training FLAGS`: checks the interpreter and its packages before anything is imported that needs them."""

import sys

from .failure import PACKAGES
from .needs import unmet


def main() -> int:
    reason = unmet()
    if reason:
        print(f"error: {reason}", file=sys.stderr, flush=True)
        return PACKAGES
    from .program import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
