"""What the program runs on. The stack's `settings/catalogue/versions.py` names the same versions; a test holds them together.

This module is read by any Python 3.7 or later: one that is too old is to be told so, not to meet a syntax error.
"""

from __future__ import annotations

import sys

PYTHON = (3, 11)
PACKAGES = {"jax": "0.10.2", "jaxlib": "0.10.2", "optax": "0.2.8", "orbax-checkpoint": "0.12.8"}


def unmet(python: tuple[int, int] = sys.version_info[:2], packages: dict[str, str] = PACKAGES) -> str:
    """What is wrong with this Python (major, minor) and its packages {name: exact version}, one line, or an empty string."""
    if python < PYTHON:
        return f"Python {PYTHON[0]}.{PYTHON[1]} or later is needed, this is {python[0]}.{python[1]}"
    from importlib import metadata  # new in Python 3.8

    wrong = []
    for name, wanted in packages.items():
        try:
            found = metadata.version(name)
        except metadata.PackageNotFoundError:
            found = "missing"
        if found != wanted:
            wrong.append(f"{name} {wanted} is needed, here it is {found}")
    return "; ".join(wrong)
