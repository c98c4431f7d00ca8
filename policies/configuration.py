"""How strictly each policy holds, and its parameters, in the form of Pulumi's `--policy-pack-config`:

{"all": "mandatory", "labelled-for-cost": {"enforcementLevel": "advisory", "labels": ["environment", "team"]}}
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, get_args

from policies.model import Context, Level, Rule
from policies.rules import LABELS, PRODUCTION, RULES

DEFAULT_FILE = Path(__file__).with_name("config.json")
ALL = "all"
LEVEL = "enforcementLevel"


class ConfigurationError(Exception):
    """A configuration of policies that cannot be meant; the text says where and what is possible."""


@dataclass(frozen=True)
class Configuration:
    """Levels and parameters by policy, where they are stated."""

    levels: Mapping[str, Level]
    parameters: Mapping[str, Mapping[str, tuple[str, ...]]]

    def level(self, rule: Rule) -> Level:
        return self.levels.get(rule.name, self.levels.get(ALL, rule.level))

    def parameter(self, rule: Rule, name: str) -> tuple[str, ...]:
        return self.parameters.get(rule.name, {}).get(name, rule.parameters.get(name, ()))

    def context(self, rule: Rule, stack: str, privileged: frozenset[str]) -> Context:
        """What a rule knows of a stack."""
        return Context(in_production(stack, self.parameter(rule, PRODUCTION)), privileged, self.parameter(rule, LABELS))


def in_production(stack: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(stack, pattern) for pattern in patterns)


def privileged_jobs(workloads: Any) -> frozenset[str]:
    """Names of the multislice jobs that a stack file declares privileged; `workloads` is that key's value."""
    entries = workloads if isinstance(workloads, list) else []
    return frozenset(str(e.get("name")) for e in entries if isinstance(e, Mapping) and e.get("privileged") is True)


def load(path: Path = DEFAULT_FILE) -> Configuration:
    """Raises ConfigurationError."""
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    return parse(content)


def parse(content: Any) -> Configuration:
    """Raises ConfigurationError."""
    if not isinstance(content, Mapping):
        raise ConfigurationError(f"an object by policy is wanted, got {content!r}")
    known = {rule.name: rule for rule in RULES}
    levels: dict[str, Level] = {}
    parameters: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, value in content.items():
        if name != ALL and name not in known:
            raise ConfigurationError(f"{name}: no such policy; there are {', '.join(known)}")
        stated = value if isinstance(value, Mapping) else {LEVEL: value}
        if LEVEL in stated:
            levels[name] = _level(name, stated[LEVEL])
        allowed = known[name].parameters if name in known else {}
        parameters[name] = {key: _words(name, key, stated[key], allowed) for key in stated if key != LEVEL}
    return Configuration(levels, parameters)


def _level(name: str, value: Any) -> Level:
    if value not in get_args(Level):
        raise ConfigurationError(f"{name}: the level is {value!r}; write one of {', '.join(get_args(Level))}")
    level: Level = value
    return level


def _words(name: str, key: str, value: Any, allowed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    if key not in allowed:
        raise ConfigurationError(f"{name}.{key}: no such parameter; it has {', '.join(allowed) or 'none'}")
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ConfigurationError(f"{name}.{key}: a list of words is wanted, got {value!r}")
    return tuple(value)
