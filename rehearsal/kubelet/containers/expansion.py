"""`$(NAME)` in a container's variables and words: replaced when the variable is known, left alone when it is not."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


def expand(text: str, known: Mapping[str, str]) -> str:
    """Replaces the references in `text`; `$$` is an escaped dollar sign (kubernetes.io: Define Dependent Environment Variables)."""

    def replaced(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        return known.get(found[1], found[0])

    return _REFERENCE.sub(replaced, text)
