"""What is wrong with a configuration: every fault at once, each with the key, the value, the rule and the way out."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ParamSpec

NAMESPACE = "tpu-platform"
"""The prefix of our keys in a stack file: the project's name."""
_LONGEST_SHOWN = 200


class Described(str):
    """Stands in `got` for what cannot be quoted from the stack file, and is shown as it is."""


MISSING = Described("nothing")


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong.

    `path` is the key below `prefix` (`slices[0].topology`), `got` what stands there, `wanted` the rule it breaks, and
    `remedy` what to write instead.
    """

    path: str
    got: object
    wanted: str
    remedy: str
    prefix: str = f"{NAMESPACE}:"

    def __str__(self) -> str:
        lines = (f"got:    {_show(self.got)}", f"wanted: {self.wanted}", f"fix:    {self.remedy}")
        return "\n    ".join(_printable(line) for line in (f"{self.prefix}{self.path}", *lines))


def of_its_owner(path: str, got: object) -> Fault:
    """A key that decides something of a cluster that somebody else made."""
    wanted = "nothing: the cluster exists and is as its owner made it (cluster.existing)"
    return Fault(path, got, wanted, "remove the key, or remove cluster.existing")


class ConfigurationError(Exception):
    """All faults of one configuration. Its text is the whole report, meant to be printed without a traceback."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__(report(self.faults))


class Unsound(AttributeError):
    """A rule asked for a value that is missing or broken. That value has a fault of its own, so the rule has nothing to
    say: what would follow from the value is not a fault but a consequence."""


Asked = ParamSpec("Asked")


def rule(check: Callable[Asked, Iterator[Fault]]) -> Callable[Asked, Iterator[Fault]]:
    """Makes a check end quietly at the first value that is unsound. What it found until then counts."""

    @functools.wraps(check)
    def sound(*args: Asked.args, **kwargs: Asked.kwargs) -> Iterator[Fault]:
        try:
            yield from check(*args, **kwargs)
        except Unsound:
            return

    return sound


def report(faults: Sequence[Fault]) -> str:
    """The report a user sees."""
    count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
    body = "\n".join(f"  {index}. {fault}" for index, fault in enumerate(faults, start=1))
    return f"{count} in the configuration; nothing has been created or changed.\n{body}"


def refuse_if_any(faults: Sequence[Fault]) -> None:
    """Raises the report when there is something to report."""
    if faults:
        raise ConfigurationError(faults)


def nearest(value: str, valid: Iterable[str]) -> str | None:
    """The valid value that looks most like `value`, or None when nothing is close. Capitals make no difference."""
    by_form = {candidate.lower(): candidate for candidate in reversed(list(valid))}
    found = difflib.get_close_matches(value[:_LONGEST_SHOWN].lower(), list(by_form), n=1, cutoff=0.5)
    return by_form[found[0]] if found else None


def did_you_mean(value: str, valid: Iterable[str], otherwise: str) -> str:
    """`write X` with the nearest valid value, or `otherwise`."""
    candidate = nearest(value, valid)
    return f"write {candidate}" if candidate is not None else otherwise


def duplicates(places: Iterable[tuple[str, str]], noun: str, remedy: str = "rename or remove one") -> Iterator[Fault]:
    """A fault for each name in `places` (path, name) that stood earlier already."""
    seen: dict[str, str] = {}
    for path, name in places:
        if name in seen:
            yield Fault(path, name, f"a {noun} that is listed once; {seen[name]} has it", remedy)
        seen.setdefault(name, path)


def unknown_names(
    places: Iterable[tuple[str, str]], known: Sequence[str], noun: str, otherwise: str = "remove it"
) -> Iterator[Fault]:
    """A fault for each name in `places` (path, name) that is not known, at its first place: a name that is wrong in
    several places was most likely changed in one, where it is made."""
    found: dict[str, list[str]] = {}
    for path, name in places:
        if name not in known:
            found.setdefault(name, []).append(path)
    for name, (first, *others) in found.items():
        also = f" ({', '.join(others)} too)" if others else ""
        shown = f": {listed(known)}" if known else ""
        near = nearest(name, known)
        remedy = f"write {near}, or {otherwise}" if near is not None else otherwise
        yield Fault(first, name, f"{noun}{shown}{also}", remedy)


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a line, a long list by its beginning and end."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 4])}, ... {names[-1]} ({len(names)} in all)"


def _show(value: object) -> str:
    """As in the stack file, but text in quotes, so that an empty one is seen; a long structure by its beginning."""
    if isinstance(value, Described):
        shown = str(value)
    elif isinstance(value, str):
        shown = repr(value)
    else:
        try:
            shown = json.dumps(value)
        except (RecursionError, ValueError, TypeError):
            shown = f"a {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= _LONGEST_SHOWN else f"{shown[:_LONGEST_SHOWN]} ..."


def _printable(line: str) -> str:
    """A key of a stack file can be any text; half a character or a new line in it must not break the report."""
    return line if line.isprintable() else line.encode("unicode_escape").decode("ascii")
