"""Node labels in a job's selection of flavors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

Labels = tuple[tuple[str, str], ...]


def common(labels: Iterable[Labels]) -> dict[str, str]:
    """The labels that all have, with the same value."""
    first, *others = (dict(each) for each in labels)
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def selected(labels: Mapping[str, str], alternatives: Iterable[Labels]) -> bool:
    """Whether a node with these labels has all labels of one of the alternatives."""
    return any(dict(each).items() <= labels.items() for each in alternatives)
