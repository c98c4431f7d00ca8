"""Diff: what differs between the state and what a program wants, as Terraform's SDK finds it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from rehearsal.gcp_provider.mapping import DEFAULTS, join
from rehearsal.gcp_provider.package import Kind, Property, properties
from rehearsal.gcp_provider.rules import PLAIN, Rule, Rules, is_zero
from rehearsal.gcp_provider.wire import UNKNOWN


class Verb(Enum):
    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True)
class Change:
    path: str
    verb: Verb
    force: bool

    @property
    def top(self) -> str:
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


@dataclass(frozen=True)
class _Place:
    """Where a comparison is: in the tables, which have no indices, and for the reader, with them."""

    table: Rules
    rule_path: str
    path: str

    def inside(self, name: str) -> _Place:
        return _Place(self.table, join(self.rule_path, name), join(self.path, name))

    def entry(self, index: int) -> _Place:
        return _Place(self.table, self.rule_path, f"{self.path}[{index}]")

    @property
    def rule(self) -> Rule:
        return self.table.get(self.rule_path, PLAIN)

    def change(self, verb: Verb) -> Change:
        return Change(self.path, verb, self.rule.force)


def changes(
    types: Mapping[str, Property], state: Mapping[str, Any], wanted: Mapping[str, Any], table: Rules
) -> list[Change]:
    return list(_object(types, state, wanted, _Place(table, "", "")))


def _object(
    types: Mapping[str, Property], state: Mapping[str, Any], wanted: Mapping[str, Any], place: _Place
) -> Iterator[Change]:
    for name, prop in types.items():
        here = place.inside(name)
        if not here.rule.output:
            yield from _property(prop.kind, state.get(name), wanted.get(name), here)


def _property(kind: Kind, old: Any, new: Any, place: _Place) -> Iterator[Change]:
    rule = place.rule
    if new is None and rule.default is not None and not rule.computed:
        new = rule.default
    if new is None:
        # An optional block or value that Google has and the program does not state.
        if not rule.computed and not is_zero(old) and not (rule.suppress and rule.suppress(old, None)):
            yield place.change(Verb.DELETE)
    elif new is UNKNOWN:
        yield place.change(Verb.ADD if old is None else Verb.UPDATE)
    elif rule.suppress is not None and rule.suppress(old, new):
        return
    elif kind.base == "object" and kind.cls is not None:
        yield from _nested(properties(kind.cls), old, new, place)
    elif kind.base == "list":
        before = [] if old is None else old
        yield from _unordered(before, new, place) if rule.unordered else _list(kind.item, before, new, place)
    elif kind.base == "map":
        yield from _map({} if old is None else old, new, place)
    elif old != new and not (is_zero(old) and is_zero(new)):
        yield place.change(Verb.ADD if is_zero(old) and old is None else Verb.UPDATE)


def _nested(types: Mapping[str, Property], old: Any, new: Mapping[str, Any], place: _Place) -> Iterator[Change]:
    if old is None:
        if not (place.rule.computed and is_zero(_stated(new))):
            yield place.change(Verb.ADD)
        return
    yield from _object(types, old, new, place)


def _stated(value: Any) -> Any:
    return {key: entry for key, entry in value.items() if key != DEFAULTS} if isinstance(value, Mapping) else value


def _list(item: Kind | None, old: list[Any], new: list[Any], place: _Place) -> Iterator[Change]:
    """By position, as Terraform compares lists."""
    for index in range(max(len(old), len(new))):
        here = place.entry(index)
        if index >= len(old):
            yield here.change(Verb.ADD)
        elif index >= len(new):
            yield here.change(Verb.DELETE)
        elif new[index] is UNKNOWN:
            yield here.change(Verb.UPDATE)
        elif item is not None and item.base == "object" and item.cls is not None:
            yield from _object(properties(item.cls), old[index], new[index], here)
        elif old[index] != new[index]:
            yield here.change(Verb.UPDATE)


def _unordered(old: list[Any], new: list[Any], place: _Place) -> Iterator[Change]:
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


def _map(old: Mapping[str, Any], new: Mapping[str, Any], place: _Place) -> Iterator[Change]:
    for key in sorted({*old, *new} - {DEFAULTS}):
        here = _Place(place.table, place.rule_path, _key_path(place.path, key))
        if key not in new:
            yield here.change(Verb.DELETE)
        elif key not in old:
            yield here.change(Verb.ADD)
        elif old[key] != new[key]:
            yield here.change(Verb.UPDATE)


def _key_path(path: str, key: str) -> str:
    """Pulumi's property path; a key that is no plain word is quoted."""
    return f"{path}.{key}" if re.fullmatch(r"[A-Za-z_$][\w$]*", key) else f"{path}[{json.dumps(key)}]"
