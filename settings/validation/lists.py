"""Entries of a list that stand there twice: one mistake, which would break a rule with each of its names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from settings.schema.section import Section
from settings.validation.problem import Described, Problem, Unsound, rule

Entry = TypeVar("Entry", bound=Section)


def distinct(entries: Sequence[Entry]) -> list[tuple[int, Entry]]:
    """Each entry with its index, but for copies of an earlier one. What is not whole is not a copy."""
    return [(index, entry) for index, entry in enumerate(entries) if not _whole(entry) or entry not in entries[:index]]


@rule
def copies(path: str, entries: Sequence[Section]) -> Iterator[Problem]:
    """A fault for each entry that stood earlier in the list already. `path` has a `{}` for the index."""
    first = {index for index, _ in distinct(entries)}
    for index, entry in enumerate(entries):
        if index not in first:
            expected = f"an entry of its own: {path.format(entries.index(entry))} is the same"
            yield Problem(path.format(index), Described("the same entry again"), expected, "remove it")


def places(path: str, entries: Iterable[tuple[int, Section]], attribute: str) -> Iterator[tuple[str, Any]]:
    """(path, value) of an attribute in each entry that has it. `path` has a `{}` for the index."""
    for index, entry in entries:
        try:
            value = getattr(entry, attribute)
        except Unsound:
            continue
        yield path.format(index), value


def once(entries: Sequence[Section], attribute: str) -> list[str]:
    """The names in `attribute` of all entries. Raises Unsound while one of them is broken or there twice: which one a name
    means, and whether a name is unknown, is open then."""
    names = [getattr(entry, attribute) for _, entry in distinct(entries)]
    if len(set(names)) < len(names):
        raise Unsound(attribute)
    return names


def _whole(entry: Section) -> bool:
    return all(name in vars(entry) for name in type(entry).model_fields)
