"""From the text of a stack's configuration to typed settings, or to every reason why it does not fit the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from settings.catalogue.labels import NAMESPACE
from settings.schema.stack import Settings
from settings.validation.messages import Location, keys_of, problem_of, text_problem
from settings.validation.problem import Problem
from settings.validation.unknown_keys import foreign_key, unknown_key

_TEXT_KEYS = ("project", "location")
"""Top-level keys that are text. Pulumi passes every other value as JSON."""


Parsed = Settings | tuple[Problem, ...]
"""Settings that fit the schema, or why the file does not."""


def parse(config: Mapping[str, str]) -> Parsed:
    """Reads Pulumi's flat configuration (`tpu-platform:key` -> text or JSON)."""
    values, problems, broken = _decode(config)
    try:
        settings = Settings.model_validate(values)
    except ValidationError as error:
        return (*problems, *_problems(error, values, broken))
    return tuple(problems) if problems else settings


def _decode(config: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem], set[Location]]:
    """Values by top-level key, the problems of those that are not JSON, and their locations."""
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


def _problems(error: ValidationError, values: Mapping[str, Any], broken: set[Location]) -> list[Problem]:
    """The problems of pydantic's errors. A key that is misspelt is not missing as well."""
    details = error.errors(include_url=False)
    unknown = [unknown_key(detail["loc"], values) for detail in details if detail["type"] == "extra_forbidden"]
    meant = {loc for key in unknown for loc in key.meant} | broken
    named = [detail for detail in details if detail["type"] != "extra_forbidden" and detail["loc"] not in meant]
    return [*(key.problem for key in unknown), *(problem_of(detail) for detail in named)]
