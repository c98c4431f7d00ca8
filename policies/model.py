"""What a policy sees and what it says: plain data, the same whether the engine or a preview's JSON brought it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Level = Literal["advisory", "mandatory", "disabled"]


@dataclass(frozen=True)
class Resource:
    """A resource as it would be after `pulumi up`. Property names are the provider's own (camelCase)."""

    type: str
    name: str
    properties: Mapping[str, Any]
    urn: str = ""


@dataclass(frozen=True)
class Context:
    """What a rule knows beside the resources."""

    production: bool = False
    privileged: frozenset[str] = frozenset()
    """Names of jobs whose stack file says `privileged: true`."""
    labels: tuple[str, ...] = ()
    """Labels that a cluster must carry."""
    closed_buckets: frozenset[str] = frozenset()
    """Names of buckets that nobody can open to everybody, where all resources are at hand. A policy pack is asked about one at a
    time and passes over what is not known: it is asked again during `up`."""


@dataclass(frozen=True)
class Finding:
    """Something about a resource. `unknown`: it cannot be told before `up` has made what the value depends on."""

    resource: Resource
    message: str
    remedy: str
    unknown: bool = False


@dataclass(frozen=True)
class ResourceRule:
    """A rule over one resource at a time."""

    name: str
    description: str
    check: Callable[[Resource, Context], Iterator[Finding]]
    level: Level = "mandatory"
    production_only: bool = False
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists of words that a configuration may replace, with their defaults."""


@dataclass(frozen=True)
class StackRule:
    """A rule over all resources of a stack together."""

    name: str
    description: str
    check: Callable[[Sequence[Resource], Context], Iterator[Finding]]
    level: Level = "mandatory"
    production_only: bool = False
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


Rule = ResourceRule | StackRule
