"""The one reader of what `pulumi preview --json` prints.

It is part of the policy pack, because the engine starts that on its own and it may import nothing of the operations. Those
import it from here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


class NotAPreview(ValueError):
    """The text is not the output of `pulumi preview --json`."""


@dataclass(frozen=True)
class Step:
    """One operation that the engine plans on one resource."""

    operation: str
    urn: str
    old: Mapping[str, Any] | None
    new: Mapping[str, Any] | None
    replace_reasons: tuple[str, ...] = ()
    """Paths of the properties that make the operation a replacement, as the engine gives them."""

    @property
    def state(self) -> Mapping[str, Any]:
        """The resource after the operation, or before it where it is deleted."""
        return self.new or self.old or {}

    @property
    def kind(self) -> str:
        """The type token. In a URN it follows the types of the parents, separated by `$`."""
        return str(self.state.get("type") or self.urn.split("::")[2].rsplit("$", 1)[-1])

    @property
    def name(self) -> str:
        return name_of(self.urn)

    @property
    def inputs(self) -> Mapping[str, Any]:
        inputs: Mapping[str, Any] = self.state.get("inputs") or {}
        return inputs

    @property
    def reaches_a_provider(self) -> bool:
        """False for components, providers and the stack: they structure the program, and neither Google nor the cluster gets them."""
        return bool(self.state.get("custom")) and not self.kind.startswith("pulumi:")


def name_of(urn: str) -> str:
    """The last of a URN's four parts. A name may contain any character, colons included."""
    return urn.split("::", 3)[-1]


def steps_of(preview: Mapping[str, Any]) -> list[Step]:
    """Raises NotAPreview."""
    steps = preview.get("steps")
    if not isinstance(steps, list):
        raise NotAPreview("not the output of `pulumi preview --json`: it has no list of steps")
    return [_step(step) for step in steps]


def _step(step: Mapping[str, Any]) -> Step:
    reasons = tuple(sorted(set(_replace_reasons(step))))
    return Step(step["op"], step["urn"], step.get("oldState"), step.get("newState"), reasons)


def _replace_reasons(step: Mapping[str, Any]) -> Iterator[str]:
    yield from step.get("replaceReasons") or ()
    for path, diff in (step.get("detailedDiff") or {}).items():
        if str(diff.get("kind", "")).endswith("-replace"):
            yield path
