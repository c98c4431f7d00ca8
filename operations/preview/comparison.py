"""What two previews from nothing ask for differently: of two revisions of the program, or of two stack files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from rehearsal.gcp_provider.diff import changes
from rehearsal.gcp_provider.engine import kind_of

ORDER = ("replace", "delete", "create", "update")
"""What is destroyed stands first."""


@dataclass(frozen=True)
class Change:
    """One resource that does not stay as it is."""

    change: str
    kind: str
    name: str
    reasons: tuple[str, ...] = ()
    """Of a replacement, the properties that make it one; of an update, those that change."""


@dataclass(frozen=True)
class Comparison:
    """What has changed since another revision, or `why` that cannot be said."""

    base: str
    changes: tuple[Change, ...] = ()
    why: str | None = None


def differences(before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]) -> tuple[Change, ...]:
    """Components and providers are how the program is built, not what Google or the cluster gets: they are left out."""
    old, new = _resources(before), _resources(after)
    found = [_gone_or_new("delete", state) for urn, state in old.items() if urn not in new]
    found += [_gone_or_new("create", state) for urn, state in new.items() if urn not in old]
    found += [change for urn in new if urn in old for change in _changed(old[urn], new[urn])]
    return tuple(sorted(found, key=lambda one: (ORDER.index(one.change), one.kind, one.name)))


def _resources(steps: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    states = {step["urn"]: step["newState"] for step in steps}
    return {
        urn: state for urn, state in states.items() if state.get("custom") and not state["type"].startswith("pulumi:")
    }


def _gone_or_new(change: str, state: Mapping[str, Any]) -> Change:
    return Change(change, state["type"], _name(state))


def _name(state: Mapping[str, Any]) -> str:
    """A URN's last part, which may have anything in it."""
    return str(state["urn"]).split("::", 3)[-1]


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    before, after = old.get("inputs", {}), new.get("inputs", {})
    paths = list(_paths(before, after))
    if not paths:
        return
    replacing = _replacing(new, before, after, paths)
    tops = sorted({_parts(path)[0] for path in paths})
    change = "replace" if replacing else "update"
    yield Change(change, new["type"], _name(new), tuple(replacing if replacing else tops))


def _replacing(new: Mapping[str, Any], before: Any, after: Any, paths: Sequence[str]) -> list[str]:
    """The changed properties that no resource can change in place: those that the program says, those that the provider for
    Google says, and the names of Kubernetes' objects. Of what else a cluster may refuse, only its own preview tells."""
    stated = [path for path in paths if any(_covers(option, path) for option in new.get("replaceOnChanges") or ())]
    kind = str(new["type"])
    if kind.startswith("kubernetes:"):
        stated += [path for path in paths if path in ("metadata.name", "metadata.namespace")]
    elif kind.startswith("gcp:"):
        played = kind_of(kind)
        stated += [change.path for change in changes(played.types.inputs, before, after, played.table) if change.force]
    return sorted(set(stated))


def _covers(option: str, path: str) -> bool:
    """Whether a path of `replaceOnChanges` is a property or above it; `*` stands for any."""
    wanted, parts = _parts(option), _parts(path)
    return len(wanted) <= len(parts) and all(one in ("*", part) for one, part in zip(wanted, parts, strict=False))


def _parts(path: str) -> list[str]:
    return path.replace("[", ".").replace("]", "").split(".")


def _paths(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The paths of what differs. Pulumi's own keys, which begin with two underscores, are no properties."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in sorted({*before, *after}):
            if not key.startswith("__"):
                yield from _paths(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif isinstance(before, list) and isinstance(after, list):
        for index, (one, other) in enumerate(zip_longest(before, after)):
            yield from _paths(one, other, f"{path}[{index}]")
    elif before != after:
        yield path
