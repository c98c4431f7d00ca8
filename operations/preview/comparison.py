"""Compares two previews from an empty state: of two revisions of the program, or of two stack files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from operations.preview.replacement import Replacing, replacing
from policies.steps import Step

ORDER = ("replace", "delete", "create", "update")
"""Destructive changes first."""


@dataclass(frozen=True)
class ResourceChange:
    """One resource that does not stay as it is."""

    change: str
    kind: str
    name: str
    reasons: tuple[str, ...] = ()
    """The properties that force a replacement, or those that an update changes."""


@dataclass(frozen=True)
class Comparison:
    """The changes since another revision, or `why` there is no comparison."""

    base: str
    changes: tuple[ResourceChange, ...] = ()
    why: str | None = None


@dataclass(frozen=True)
class _Difference:
    path: str
    before: Any
    after: Any

    @property
    def field(self) -> str:
        """The path without list indices."""
        return _without_indices(self.path)


def differences(before: Iterable[Step], after: Iterable[Step]) -> tuple[ResourceChange, ...]:
    """Components and providers are left out: they structure the program, and neither Google nor the cluster gets them."""
    old, new = _resources(before), _resources(after)
    found = [ResourceChange("delete", step.kind, step.name) for urn, step in old.items() if urn not in new]
    found += [ResourceChange("create", step.kind, step.name) for urn, step in new.items() if urn not in old]
    found += [change for urn in new if urn in old for change in _changed(old[urn], new[urn])]
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.change), one.kind, one.name)))


def _resources(steps: Iterable[Step]) -> dict[str, Step]:
    return {step.urn: step for step in steps if step.reaches_a_provider}


def _changed(old: Step, new: Step) -> Iterator[ResourceChange]:
    known = replacing().get(new.kind)
    found = list(_differences(old.inputs, new.inputs, known.unordered if known is not None else frozenset()))
    if not found:
        return
    forcing = _forcing(new, found, known)
    properties = sorted({_parts(one.path)[0] for one in found})
    yield ResourceChange(
        "replace" if forcing else "update", new.kind, new.name, tuple(forcing if forcing else properties)
    )


def _forcing(new: Step, found: Sequence[_Difference], known: Replacing | None) -> list[str]:
    """Paths of the changes that no resource can take in place: those that the program replaces on, those that Google's provider
    replaces on, and the names of Kubernetes objects. Anything else that the cluster may refuse shows only in a preview of the
    stack itself."""
    options = new.state.get("replaceOnChanges") or ()
    forcing = {one.path for one in found if any(_covers(option, one.path) for option in options)}
    if new.kind.startswith("kubernetes:"):
        forcing |= {one.path for one in found if one.path in ("metadata.name", "metadata.namespace")}
    elif known is not None:
        forcing |= {one.path for one in found if known.by(one.field, one.before, one.after)}
    return sorted(forcing)


def _covers(option: str, path: str) -> bool:
    """Whether a path of `replaceOnChanges` names a property or one above it; `*` matches any part."""
    wanted, parts = _parts(option), _parts(path)
    return len(wanted) <= len(parts) and all(one in ("*", part) for one, part in zip(wanted, parts, strict=False))


def _parts(path: str) -> list[str]:
    return path.replace("[", ".").replace("]", "").split(".")


def _without_indices(path: str) -> str:
    return ".".join(part for part in _parts(path) if not part.isdigit())


def _differences(before: Any, after: Any, unordered: frozenset[str], path: str = "") -> Iterator[_Difference]:
    """Pulumi's own keys, which begin with two underscores, are no properties."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            if not key.startswith("__"):
                below = f"{path}.{key}" if path else key
                yield from _differences(before.get(key), after.get(key), unordered, below)
    elif isinstance(before, list) and isinstance(after, list):
        if _without_indices(path) in unordered and _canonical(before) == _canonical(after):
            return
        for index, (one, other) in enumerate(zip_longest(before, after)):
            yield from _differences(one, other, unordered, f"{path}[{index}]")
    elif before != after:
        yield _Difference(path, before, after)


def _canonical(entries: list[Any]) -> list[str]:
    return sorted(json.dumps(entry, sort_keys=True) for entry in entries)
