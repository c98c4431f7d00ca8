"""From the text of a stack's configuration to typed settings, with every fault found on the way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from settings.schema.section import Section
from settings.schema.stack import Settings
from settings.validation.messages import Location, is_map, keys_of, problem_of, section_of, text_problem
from settings.validation.problem import NAMESPACE, Problem
from settings.validation.unknown_keys import foreign_key, unknown_key

_TEXT_KEYS = ("project", "location")
"""Top-level keys that are text. Pulumi hands over all values as text and everything else as JSON."""


@dataclass(frozen=True)
class Parsed:
    """What parsing gave: the faults of single values, and the settings. Where there are faults the settings are a draft:
    to ask one of its broken or missing keys raises Unsound, all others have their values."""

    problems: tuple[Problem, ...]
    settings: Settings


def parse(config: Mapping[str, str]) -> Parsed:
    """Reads Pulumi's flat configuration (`tpu-platform:key` -> text or JSON)."""
    values, problems, broken = _decode(config)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        found, lost = _problems(error, values, broken)
        problems, broken = [*problems, *found], broken | lost
    else:
        if not problems:
            return Parsed((), settings)
    return Parsed(tuple(problems), _draft(Settings, values, frozenset(broken)))


def _decode(config: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem], set[Location]]:
    """Values by top-level key, the faults of those that are no values at all, and where they are."""
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    broken: set[Location] = set()
    for key, text in config.items():
        prefix, _, name = key.partition(":")
        if prefix != NAMESPACE:
            unknown = foreign_key(key, text, config)
            if unknown is not None:
                problems.append(unknown.problem)
                broken.update(unknown.meant)
            continue
        try:
            values[name] = text if name in _TEXT_KEYS else json.loads(text)
        except (ValueError, RecursionError):
            values[name] = text
            if name in keys_of(Settings):
                problems.append(text_problem(name, text))
                broken.add((name,))
    return values, problems, broken


def _problems(
    error: ValidationError, values: Mapping[str, Any], broken: set[Location]
) -> tuple[list[Problem], set[Location]]:
    """The faults of pydantic's errors, and where they are. A key that is misspelt is not missing as well."""
    details = error.errors(include_url=False)
    unknown = [unknown_key(detail["loc"], values) for detail in details if detail["type"] == "extra_forbidden"]
    meant = {loc for key in unknown for loc in key.meant} | broken
    named = [detail for detail in details if detail["type"] != "extra_forbidden"]
    problems = [problem_of(detail) for detail in named if detail["loc"] not in meant]
    return [*(key.problem for key in unknown), *problems], meant | {detail["loc"] for detail in named}


def _draft(section: type[Section], values: Any, broken: frozenset[Location], at: Location = ()) -> Any:
    """A section without its broken keys. Entries of a list keep their places, so that paths stay right."""
    stated = values if isinstance(values, Mapping) else {}
    known: dict[str, Any] = {}
    lost: list[str] = []
    for name, field in section.model_fields.items():
        key = str(field.alias)
        here, inner = (*at, key), section_of(field.annotation)
        if here in broken or not isinstance(values, Mapping):
            lost.append(name)
        elif key in stated and inner is not None and isinstance(stated[key], list):
            known[key] = [_draft(inner, entry, broken, (*here, i)) for i, entry in enumerate(stated[key])]
        elif key in stated and inner is not None and is_map(field.annotation):
            known[key] = _drafts(inner, stated[key], broken, here)
        elif key in stated and inner is not None and stated[key] is not None:
            known[key] = _draft(inner, stated[key], broken, here)
        elif key in stated and _keeps(stated[key], here, broken):
            known[key] = stated[key]
        elif key in stated:
            lost.append(name)
    draft = section.model_construct(**known)
    for name in lost:
        draft.__dict__.pop(name, None)
    return draft


def _drafts(inner: type[Section], values: Any, broken: frozenset[Location], at: Location) -> dict[str, Any]:
    """The drafts of a map of sections, which is empty where there is none."""
    entries = values.items() if isinstance(values, Mapping) else ()
    return {name: _draft(inner, entry, broken, (*at, name)) for name, entry in entries}


def _keeps(value: Any, here: Location, broken: frozenset[Location]) -> bool:
    """Whether a value without sections is good enough for a draft. A list is, as long as all of its entries are text: how many
    there are is right, and an entry that breaks its own rule has its fault already."""
    if not any(loc[: len(here)] == here for loc in broken):
        return True
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
