"""What is wrong with a configuration: every fault at once, each with the key, the value, the rule and the way out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

NAMESPACE = "tpu-platform"
"""The prefix of our keys in a stack file: the project's name."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    `path` is the key below the project's prefix (`slices[0].topology`), `got` what stands there, `wanted` the rule
    it breaks, and `remedy` what to write instead.
    """

    path: str
    got: object
    wanted: str
    remedy: str

    def __str__(self) -> str:
        return "\n    ".join(
            [
                f"{NAMESPACE}:{self.path}",
                f"got:    {_show(self.got)}",
                f"wanted: {self.wanted}",
                f"fix:    {self.remedy}",
            ]
        )


class Missing:
    """Stands in `got` for a key that is not there, so that an absent value cannot be taken for an empty one."""

    def __repr__(self) -> str:
        return "nothing"


MISSING = Missing()


class ConfigurationError(Exception):
    """All faults of one configuration. Its text is the whole report, meant to be printed without a traceback."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(report(self.faults))


def report(faults: Sequence[Fault]) -> str:
    """The report a user sees, faults in the order of the keys so that it reads like the stack file."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    body = "\n".join(f"  {index}. {fault}" for index, fault in enumerate(faults, start=1))
    return f"{count} in the configuration; nothing has been created or changed.\n{body}"


def refuse_if_any(faults: Sequence[Fault]) -> None:
    """Raises the report when there is something to report."""
    if faults:
        raise ConfigurationError(faults)


def nearest(value: str, valid: Iterable[str]) -> str | None:
    """The valid value that looks most like `value`, or None when nothing is close."""
    found = difflib.get_close_matches(value.lower(), list(valid), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(value: str, valid: Iterable[str], otherwise: str) -> str:
    """`write X` with the nearest valid value, or `otherwise`."""
    candidate = nearest(value, valid)
    return f"write {candidate}" if candidate is not None else otherwise


def duplicates(path: str, names: Iterable[str], noun: str) -> Iterator[Fault]:
    """A fault for each name that stood earlier in the list already. `path` has a `{}` for the index."""
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            yield Fault(
                path.format(index),
                name,
                f"a {noun} that is listed once; {path.format(seen[name])} has it",
                "rename or remove one",
            )
        seen.setdefault(name, index)


def _show(value: object) -> str:
    """Text in quotes, so that an empty one is seen; a long structure by its beginning."""
    shown = repr(value) if isinstance(value, str | Missing) else str(value)
    return shown if len(shown) <= 200 else f"{shown[:200]} ..."
