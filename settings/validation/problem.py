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
class Problem:
    """One thing that is wrong.

    `path` is the key below `prefix` (`slices[0].topology`), `got` what stands there, `wanted` the rule it breaks, and
    `remedy` what to write instead.
    """

    path: str
    value: object
    expected: str
    fix: str
    prefix: str = f"{NAMESPACE}:"

    def __str__(self) -> str:
        lines = (f"value:    {_show(self.value)}", f"expected: {self.expected}", f"fix:      {self.fix}")
        return "\n    ".join(_printable(line) for line in (f"{self.prefix}{self.path}", *lines))


def of_its_owner(path: str, value: object) -> Problem:
    """A key that decides something of a cluster that somebody else made."""
    expected = "nothing: the cluster exists and is as its owner made it (cluster.existing)"
    return Problem(path, value, expected, "remove the key, or remove cluster.existing")


class ConfigurationError(Exception):
    """All faults of one configuration. Its text is the whole report, meant to be printed without a traceback."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(report(self.problems))


class Unsound(AttributeError):
    """A rule asked for a value that is missing or broken. That value has a fault of its own, so the rule has nothing to
    say: what would follow from the value is not a fault but a consequence."""


Asked = ParamSpec("Asked")


def rule(check: Callable[Asked, Iterator[Problem]]) -> Callable[Asked, Iterator[Problem]]:
    """Makes a check end quietly at the first value that is unsound. What it found until then counts."""

    @functools.wraps(check)
    def sound(*args: Asked.args, **kwargs: Asked.kwargs) -> Iterator[Problem]:
        try:
            yield from check(*args, **kwargs)
        except Unsound:
            return

    return sound


def report(problems: Sequence[Problem]) -> str:
    """The report a user sees."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    body = "\n".join(f"  {index}. {problem}" for index, problem in enumerate(problems, start=1))
    return f"{count} in the stack configuration. Nothing was created or changed.\n{body}"


def refuse_if_any(problems: Sequence[Problem]) -> None:
    """Raises the report when there is something to report."""
    if problems:
        raise ConfigurationError(problems)


def nearest(value: str, valid: Iterable[str]) -> str | None:
    """The valid value that looks most like `value`, or None when nothing is close. Capitals make no difference."""
    by_form = {candidate.lower(): candidate for candidate in reversed(list(valid))}
    found = difflib.get_close_matches(value[:_LONGEST_SHOWN].lower(), list(by_form), n=1, cutoff=0.5)
    return by_form[found[0]] if found else None


def did_you_mean(value: str, valid: Iterable[str], otherwise: str) -> str:
    """`write X` with the nearest valid value, or `otherwise`."""
    candidate = nearest(value, valid)
    return f"write {candidate}" if candidate is not None else otherwise


def duplicates(places: Iterable[tuple[str, str]], noun: str, fix: str = "rename or remove one") -> Iterator[Problem]:
    """A fault for each name in `places` (path, name) that stood earlier already."""
    seen: dict[str, str] = {}
    for path, name in places:
        if name in seen:
            yield Problem(path, name, f"a {noun} that is listed once; {seen[name]} has it", fix)
        seen.setdefault(name, path)


def unknown_names(
    places: Iterable[tuple[str, str]], known: Sequence[str], noun: str, otherwise: str = "remove it"
) -> Iterator[Problem]:
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
        fix = f"write {near}, or {otherwise}" if near is not None else otherwise
        yield Problem(first, name, f"{noun}{shown}{also}", fix)


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
