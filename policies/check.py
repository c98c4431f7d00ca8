"""The policies over what the engine printed with `pulumi preview --json`: `python -m policies.check FILE --env prod`.

The same rules as the policy pack, for machines whose engine cannot start one, and for previews without an account.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from policies.buckets import closed
from policies.configuration import DEFAULT_FILE, Configuration, ConfigurationError, load, privileged_jobs
from policies.model import Context, Finding, Level, Resource, ResourceRule, Rule
from policies.rules import RULES
from policies.steps import steps_of
from policies.values import plain

VIOLATED, UNUSABLE = 1, 2
"""Exit codes: a mandatory policy does not hold; there is nothing to check."""


@dataclass(frozen=True)
class Violation:
    """A policy that does not hold, or (among the undecided) cannot be told yet."""

    policy: str
    level: Level
    resource: str
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.policy} ({self.level}): {self.resource}: {self.message}\n    {self.remedy}"


@dataclass(frozen=True)
class Report:
    """What the policies say of one environment."""

    environment: str
    resources: int
    """How many were looked at."""
    policies: tuple[str, ...]
    """Those that were asked: neither disabled nor meant for production only."""
    violations: tuple[Violation, ...]
    undecided: tuple[Violation, ...]
    """What depends on values that only `up` will know."""

    @property
    def mandatory(self) -> tuple[Violation, ...]:
        return tuple(v for v in self.violations if v.level == "mandatory")

    @property
    def advisory(self) -> tuple[Violation, ...]:
        return tuple(v for v in self.violations if v.level == "advisory")

    @property
    def holds(self) -> bool:
        """Whether every mandatory policy holds."""
        return not self.mandatory

    def lines(self) -> list[str]:
        """For a terminal."""
        count = f"{len(self.policies)} policies over {self.resources} resources"
        said = (
            f"{len(self.mandatory)} mandatory and {len(self.advisory)} advisory violations"
            if self.violations
            else "all hold"
        )
        undecided = [f"not known before `up`: {v.policy}: {v.resource}: {v.message}" for v in self.undecided]
        return [f"{count}: {said}", *(str(v) for v in self.violations), *undecided]


def report(preview: Mapping[str, Any], environment: str, configuration: Configuration | None = None) -> Report:
    """Asks every policy about the stack as it would be. `preview` is the engine's JSON; the configuration is the committed
    one if none is given. Raises ConfigurationError, and ValueError for what is no preview."""
    configuration = configuration if configuration is not None else load()
    resources = resources_of(preview)
    closed_buckets = closed(resources)
    privileged = privileged_jobs(_config(preview, "workloads"))
    violations: list[Violation] = []
    undecided: list[Violation] = []
    asked: list[str] = []
    for rule in RULES:
        level = configuration.level(rule)
        context = replace(configuration.context(rule, environment, privileged), closed_buckets=closed_buckets)
        if level == "disabled" or (rule.production_only and not context.production):
            continue
        asked.append(rule.name)
        for finding in findings(rule, resources, context):
            found = Violation(rule.name, level, finding.resource.name, finding.message, finding.remedy)
            (undecided if finding.unknown else violations).append(found)
    return Report(environment, len(resources), tuple(asked), tuple(violations), tuple(undecided))


def findings(rule: Rule, resources: Iterable[Resource], context: Context) -> Iterator[Finding]:
    """What one rule finds."""
    if isinstance(rule, ResourceRule):
        for resource in resources:
            yield from rule.check(resource, context)
    else:
        yield from rule.check(list(resources), context)


def resources_of(preview: Mapping[str, Any]) -> list[Resource]:
    """The resources that the stack has afterwards: what is deleted is not among them, and neither is what it only reads.
    A replaced one has several steps with the same state."""
    found = {
        step.urn: Resource(str(step.new["type"]), step.name, plain(step.new.get("inputs", {})), step.urn)
        for step in steps_of(preview)
        if step.new is not None and not step.new.get("external", False)
    }
    return list(found.values())


def _config(preview: Mapping[str, Any], key: str) -> Any:
    """A structured value of the stack's configuration, by its name after the project's. The engine shows it as JSON text."""
    stated = [value for name, value in preview.get("config", {}).items() if name.rsplit(":", 1)[-1] == key]
    return json.loads(stated[0]) if stated else None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m policies.check", description=__doc__)
    parser.add_argument("file", type=Path, help="what `pulumi preview --json` printed")
    parser.add_argument("--env", required=True, help="the stack's name; decides whether the rules of production hold")
    parser.add_argument("--config", type=Path, default=DEFAULT_FILE, help="levels and parameters, as for a policy pack")
    given = parser.parse_args(arguments)
    try:
        found = report(json.loads(given.file.read_text()), given.env, load(given.config))
    except (OSError, ValueError, ConfigurationError) as error:
        print(f"error: {error}", file=sys.stderr)
        return UNUSABLE
    print("\n".join(found.lines()))
    return 0 if found.holds else VIOLATED


if __name__ == "__main__":
    sys.exit(main())
