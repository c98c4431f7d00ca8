"""Problems of a configuration: each with its key, the value found there, what was expected and how to fix it."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from settings.catalogue.labels import NAMESPACE

_LONGEST_SHOWN = 200


class Described(str):
    """A value that cannot be quoted from the stack file: printed without quotes."""


MISSING = Described("(not set)")


@dataclass(frozen=True)
class Problem:
    """One mistake: the key below `prefix` (`slices[0].topology`), its value, the rule that it breaks, and what to write."""

    path: str
    value: object
    expected: str
    fix: str
    prefix: str = f"{NAMESPACE}:"

    def __str__(self) -> str:
        lines = (f"value:    {_show(self.value)}", f"expected: {self.expected}", f"fix:      {self.fix}")
        return "\n    ".join(_printable(line) for line in (f"{self.prefix}{self.path}", *lines))


def not_with_existing_cluster(path: str, value: object) -> Problem:
    """A key that configures what an existing cluster already has."""
    expected = "not set, because the cluster already exists (cluster.existing)"
    return Problem(path, value, expected, "remove the key, or remove cluster.existing")


class ConfigurationError(Exception):
    """All problems of one configuration. Its text is the whole report, to be printed without a traceback."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(report(self.problems))


def report(problems: Sequence[Problem]) -> str:
    """The report a user sees."""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    body = "\n".join(f"  {index}. {problem}" for index, problem in enumerate(problems, start=1))
    return f"{count} in the stack configuration. Nothing was created or changed.\n{body}"


def refuse_if_any(problems: Sequence[Problem]) -> None:
    """Raises a ConfigurationError if there are problems."""
    if problems:
        raise ConfigurationError(problems)


def nearest(value: str, valid: Iterable[str]) -> str | None:
    """The valid value most similar to `value`, or None if none is similar. Case is ignored."""
    by_form = {candidate.lower(): candidate for candidate in reversed(list(valid))}
    found = difflib.get_close_matches(value[:_LONGEST_SHOWN].lower(), list(by_form), n=1, cutoff=0.5)
    return by_form[found[0]] if found else None


def did_you_mean(value: str, valid: Iterable[str], otherwise: str) -> str:
    """`write X` with the nearest valid value, or `otherwise`."""
    candidate = nearest(value, valid)
    return f"write {candidate}" if candidate is not None else otherwise


def duplicates(places: Iterable[tuple[str, str]], noun: str, fix: str = "rename or remove one") -> Iterator[Problem]:
    """A problem for each name in `places` (path, name) that occurs earlier."""
    seen: dict[str, str] = {}
    for path, name in places:
        if name in seen:
            yield Problem(path, name, f"each {noun} only once: {seen[name]} is the same", fix)
        seen.setdefault(name, path)


def unknown_names(
    places: Iterable[tuple[str, str]], known: Sequence[str], noun: str, otherwise: str = "remove it"
) -> Iterator[Problem]:
    """A problem for each unknown name in `places` (path, name), at its first use only: a name that is wrong in several
    places was most likely changed in one, its definition."""
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
    """Names joined by commas; of a long list, the beginning and the end."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 4])}, ... {names[-1]} ({len(names)} in all)"


def _show(value: object) -> str:
    """A value as in the stack file: text in quotes, so that an empty one is visible, and long structures cut off."""
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
    """A line that any terminal can print: keys of a stack file can hold surrogates and newlines."""
    return line if line.isprintable() else line.encode("unicode_escape").decode("ascii")
