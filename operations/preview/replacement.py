"""Which changes of a property replace a resource at Google.

The facts are in `replacing_properties.json`: the fields that Google's Terraform provider (hashicorp/google-beta, which
pulumi-gcp wraps) declares `ForceNew`, for the kinds of resources that the program creates. pulumi-gcp's own schema does not
carry them, and a preview from an empty state cannot ask the provider for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("replacing_properties.json")


@dataclass(frozen=True)
class Replacing:
    """The properties of one kind of resource whose change replaces it. Paths are dotted and have no list indices."""

    replace: frozenset[str]
    kept_when_unset: frozenset[str] = frozenset()
    """Google's value stays when the program no longer sets one: no change (Terraform's Optional and Computed)."""
    unordered: frozenset[str] = frozenset()
    """Lists whose order means nothing."""
    same_by_last_part: frozenset[str] = frozenset()
    """A link and a name that end alike are one resource, and upper and lower case are equal."""
    maps: frozenset[str] = frozenset()
    """Every key below it counts."""
    defaults: Any = field(default_factory=dict)
    """Values of properties that the program does not set, by path."""

    def by(self, path: str, before: Any, after: Any) -> bool:
        """Whether the change of the property at `path` from `before` to `after` replaces the resource."""
        owner = self._owner(path)
        if owner is None:
            return False
        before, after = (self.defaults.get(owner) if value is None else value for value in (before, after))
        if after is None and owner in self.kept_when_unset:
            return False
        if says_nothing(before) and says_nothing(after):
            return False
        return before != after and not (owner in self.same_by_last_part and _same_end(before, after))

    def _owner(self, path: str) -> str | None:
        if path in self.replace:
            return path
        return next((one for one in self.maps if path.startswith(f"{one}.")), None)


@cache
def replacing() -> dict[str, Replacing]:
    """By type token."""
    table: dict[str, dict[str, Any]] = json.loads(TABLE.read_text())
    return {kind: _replacing(row) for kind, row in table.items()}


def _replacing(row: Mapping[str, Any]) -> Replacing:
    values: dict[str, Any] = {name: value if name == "defaults" else frozenset(value) for name, value in row.items()}
    return Replacing(**values)


def says_nothing(value: Any) -> bool:
    """Terraform does not tell an unset value from zero, false and empty."""
    if isinstance(value, Mapping):
        return all(says_nothing(entry) for entry in value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return all(isinstance(entry, Mapping) and says_nothing(entry) for entry in value)
    return value is None or value in ("", 0)


def _same_end(before: Any, after: Any) -> bool:
    if not isinstance(before, str) or not isinstance(after, str):
        return False
    if "/" in before and "/" in after:
        return before.lower() == after.lower()
    return before.rsplit("/", 1)[-1].lower() == after.rsplit("/", 1)[-1].lower()
