"""Kubernetes quantities such as `250m` and `2Gi`, as resourceFieldRef needs them."""

from __future__ import annotations

import math
import re
from fractions import Fraction

_SUFFIXES: dict[str, Fraction] = {
    "": Fraction(1),
    **{s: Fraction(10) ** (3 * n) for n, s in enumerate(("n", "u", "m"), start=-3)},
    **{s: Fraction(10) ** (3 * n) for n, s in enumerate(("k", "M", "G", "T", "P", "E"), start=1)},
    **{s: Fraction(2) ** (10 * n) for n, s in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)},
}
_FORM = re.compile(r"([+-]?\d+(?:\.\d*)?|\.\d+)(?:([eE][+-]?\d+)|([numkMGTPE]i?|[KMGTPE]i)?)")


def parse(text: str) -> Fraction:
    """The exact value of a quantity. Raises ValueError."""
    form = _FORM.fullmatch(text.strip())
    if form is None or (form[3] or "") not in _SUFFIXES:
        raise ValueError(f"not a quantity: {text!r}")
    return Fraction(form[1].rstrip(".")) * (Fraction(10) ** int(form[2][1:]) if form[2] else _SUFFIXES[form[3] or ""])


def divided(quantity: str, divisor: str) -> str:
    """How many divisors the quantity holds, rounded up; a divisor of 0 or none means 1 (the API's default)."""
    unit = parse(divisor) if divisor else Fraction(1)
    return str(math.ceil(parse(quantity) / (unit if unit else Fraction(1))))
