"""Diff: what differs between the state and what a program wants, as Terraform's SDK finds it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rehearsal.gcp_provider.terraform.mapping import DEFAULTS, join
from rehearsal.gcp_provider.terraform.package import Property, PropertyKind, properties
from rehearsal.gcp_provider.terraform.rules import PLAIN, FieldRule, FieldRules, is_zero
from rehearsal.gcp_provider.wire import UNKNOWN


class Verb(Enum):
    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True)
class FieldChange:
    path: str
    verb: Verb
    force: bool

    @property
    def top(self) -> str:
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


@dataclass(frozen=True)
class _Place:
    """Where a comparison is: in the tables, which have no indices, and for the reader, with them."""

    table: FieldRules
    rule_path: str
    path: str

    def inside(self, name: str) -> _Place:
        return _Place(self.table, join(self.rule_path, name), join(self.path, name))

    def entry(self, index: int) -> _Place:
        return _Place(self.table, self.rule_path, f"{self.path}[{index}]")

    @property
    def rule(self) -> FieldRule:
        return self.table.get(self.rule_path, PLAIN)

    def change(self, verb: Verb) -> FieldChange:
        return FieldChange(self.path, verb, self.rule.force)


def changes(
    types: Mapping[str, Property], state: Mapping[str, Any], wanted: Mapping[str, Any], table: FieldRules
) -> list[FieldChange]:
    return list(_object(types, state, wanted, _Place(table, "", "")))


def _object(
    types: Mapping[str, Property], state: Mapping[str, Any], wanted: Mapping[str, Any], place: _Place
) -> Iterator[FieldChange]:
    for name, prop in types.items():
        here = place.inside(name)
        if not here.rule.output:
            yield from _property(prop.kind, state.get(name), wanted.get(name), here)


def _property(kind: PropertyKind, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    rule = place.rule
    wanted = rule.default if new is None and not rule.computed else new
    if wanted is None:
        yield from _not_stated(old, place)
    elif wanted is UNKNOWN:
        yield place.change(Verb.ADD if old is None else Verb.UPDATE)
    elif rule.suppress is None or not rule.suppress(old, wanted):
        yield from _COMPARISONS.get(kind.base, _scalar)(kind, old, wanted, place)


def _not_stated(old: Any, place: _Place) -> Iterator[FieldChange]:
    """An optional block or value that Google may have and the program does not state."""
    rule = place.rule
    if not rule.computed and not is_zero(old) and not (rule.suppress and rule.suppress(old, None)):
        yield place.change(Verb.DELETE)


def _scalar(kind: PropertyKind, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    if old != new and not (is_zero(old) and is_zero(new)):
        yield place.change(Verb.ADD if old is None else Verb.UPDATE)


def _nested(kind: PropertyKind, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    if kind.cls is None:
        yield from _scalar(kind, old, new, place)
    elif old is not None:
        yield from _object(properties(kind.cls), old, new, place)
    elif not (place.rule.computed and is_zero(_stated(new))):
        yield place.change(Verb.ADD)


def _stated(value: Any) -> Any:
    return {key: entry for key, entry in value.items() if key != DEFAULTS} if isinstance(value, Mapping) else value


def _list(kind: PropertyKind, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    before: list[Any] = [] if old is None else old
    yield from _unordered(before, new, place) if place.rule.unordered else _ordered(kind.item, before, new, place)


def _ordered(item: PropertyKind | None, old: list[Any], new: list[Any], place: _Place) -> Iterator[FieldChange]:
    """By position, as Terraform compares lists."""
    for index in range(max(len(old), len(new))):
        here = place.entry(index)
        if index >= len(old):
            yield here.change(Verb.ADD)
        elif index >= len(new):
            yield here.change(Verb.DELETE)
        else:
            yield from _entry(item, old[index], new[index], here)


def _entry(item: PropertyKind | None, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    if new is not UNKNOWN and item is not None and item.base == "object" and item.cls is not None:
        yield from _object(properties(item.cls), old, new, place)
    elif new is UNKNOWN or old != new:
        yield place.change(Verb.UPDATE)


def _unordered(old: list[Any], new: list[Any], place: _Place) -> Iterator[FieldChange]:
    before, after = [_canonical(entry) for entry in old], [_canonical(entry) for entry in new]
    gone = {index for index, entry in enumerate(before) if entry not in after}
    fresh = {index for index, entry in enumerate(after) if entry not in before}
    for index in sorted(gone | fresh):
        both = index in gone and index in fresh
        yield place.entry(index).change(Verb.UPDATE if both else Verb.DELETE if index in gone else Verb.ADD)


def _canonical(entry: Any) -> str:
    """A set's element as text, without what says nothing."""
    return json.dumps(_pruned(entry), sort_keys=True, default=repr)


def _pruned(entry: Any) -> Any:
    if isinstance(entry, Mapping):
        return {k: _pruned(v) for k, v in entry.items() if k != DEFAULTS and not is_zero(v)}
    return sorted((_pruned(v) for v in entry), key=repr) if isinstance(entry, list) else entry


def _map(kind: PropertyKind, old: Any, new: Any, place: _Place) -> Iterator[FieldChange]:
    old = {} if old is None else old
    for key in sorted({*old, *new} - {DEFAULTS}):
        here = _Place(place.table, place.rule_path, _key_path(place.path, key))
        if key not in new:
            yield here.change(Verb.DELETE)
        elif key not in old:
            yield here.change(Verb.ADD)
        elif old[key] != new[key]:
            yield here.change(Verb.UPDATE)


_Comparison = Callable[[PropertyKind, Any, Any, _Place], Iterator[FieldChange]]
_COMPARISONS: Mapping[str, _Comparison] = {"object": _nested, "list": _list, "map": _map}
"""By the base of a kind. All others are scalars."""


def _key_path(path: str, key: str) -> str:
    """Pulumi's property path; a key that is no plain word is quoted."""
    return f"{path}.{key}" if re.fullmatch(r"[A-Za-z_$][\w$]*", key) else f"{path}[{json.dumps(key)}]"
