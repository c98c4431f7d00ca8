"""From a stack's configuration to its plan: stage one, stage two, and what follows from settings that have passed both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from settings.plan.plan import Plan, make_plan
from settings.schema.stack import Settings
from settings.validation.parse import parse
from settings.validation.problem import ConfigurationError
from settings.validation.rules import all_problems


def plan_from(config: Mapping[str, str], folder: Path | None) -> Plan:
    """The plan of a stack's configuration, or one ConfigurationError with every problem. Chart folders are relative to
    `folder`; None leaves them unchecked, for when they are created later."""
    parsed = parse(config)
    problems = all_problems(parsed, folder)
    if problems or not isinstance(parsed, Settings):
        raise ConfigurationError(problems)
    return make_plan(parsed)
