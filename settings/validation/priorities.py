"""Priorities: names that Kubernetes does not keep for itself."""

from __future__ import annotations

from collections.abc import Iterator

from settings.schema.stack import Settings
from settings.validation.problem import Problem

_SYSTEM = "system-"


def check(settings: Settings) -> Iterator[Problem]:
    for index, section in enumerate(settings.priorities):
        if section.name.startswith(_SYSTEM):
            expected = f"a name without the prefix {_SYSTEM}, which Kubernetes reserves"
            fix = f"write {section.name.removeprefix(_SYSTEM).strip('-') or 'high-priority'}"
            yield Problem(f"priorities[{index}].name", section.name, expected, fix)
