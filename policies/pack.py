"""The rules as policies of Pulumi's SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pulumi
from pulumi_policy import (
    EnforcementLevel,
    Policy,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.configuration import Configuration, parse, privileged_jobs
from policies.model import Context, Finding, Resource, ResourceRule, Rule, StackRule
from policies.rules import RULES
from policies.values import plain
from settings.catalogue.labels import NAMESPACE


def policies() -> list[Policy]:
    """All rules. Levels and parameters come from the engine, which has them from `--policy-pack-config`."""
    return [_resource_policy(rule) if isinstance(rule, ResourceRule) else _stack_policy(rule) for rule in RULES]


def _resource_policy(rule: ResourceRule) -> Policy:
    def validate(args: ResourceValidationArgs, report_violation: ReportViolation) -> None:
        resource = Resource(args.resource_type, args.name, plain(args.props), args.urn)
        context = _context(rule, args.urn, args.get_config())
        if context is not None:
            _say(rule.check(resource, context), lambda text, _: report_violation(text, None))

    return ResourceValidationPolicy(validate=validate, **_common(rule))


def _stack_policy(rule: StackRule) -> Policy:
    def validate(args: StackValidationArgs, report_violation: ReportViolation) -> None:
        resources = [Resource(r.resource_type, r.name, plain(r.props), r.urn) for r in args.resources]
        context = _context(rule, resources[0].urn, args.get_config()) if resources else None
        if context is not None:
            _say(rule.check(resources, context), lambda text, resource: report_violation(text, resource.urn))

    return StackValidationPolicy(validate=validate, **_common(rule))


def _common(rule: Rule) -> dict[str, Any]:
    words = {"type": "array", "items": {"type": "string"}}
    schema = {name: {**words, "default": list(default)} for name, default in rule.parameters.items()}
    return {
        "name": rule.name,
        "description": rule.description,
        "enforcement_level": EnforcementLevel(rule.level),
        "config_schema": PolicyConfigSchema(schema) if schema else None,
    }


def _context(rule: Rule, urn: str, stated: Mapping[str, Any]) -> Context | None:
    """None where the rule does not apply. The stack's name is the first part of every URN."""
    parameters = {name: list(stated[name]) for name in rule.parameters if name in stated}
    configuration: Configuration = parse({rule.name: parameters})
    stack = urn.removeprefix("urn:pulumi:").split("::", 1)[0]
    workloads = pulumi.Config(NAMESPACE).get("workloads")
    context = configuration.context(rule, stack, privileged_jobs(json.loads(workloads) if workloads else []))
    return None if rule.production_only and not context.production else context


def _say(findings: Any, report: Callable[[str, Resource], None]) -> None:
    """What is not known yet is no violation: the policies run again during `up`, when it is."""
    finding: Finding
    for finding in findings:
        if not finding.unknown:
            report(f"{finding.message}: {finding.remedy}", finding.resource)
