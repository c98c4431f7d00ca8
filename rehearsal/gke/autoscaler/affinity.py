"""Affinity between pods: which pods must, and must not, share a node, a zone or a pool. Pure functions of plain objects.

JobSet's exclusive placement rests on it: the first pod of each job keeps the pods of other jobs out of its pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rehearsal.gcp.core import Object

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"

Placed = tuple[dict[str, str], list[Object]]
"""The labels of a node, and the pods on it."""


def why_not(labels: dict[str, str], pod: Object, nodes: Sequence[Placed]) -> str:
    """Why a pod may not come to a node with these labels, or ""."""
    if any(not _together(labels, pod, term, nodes) for term in _terms(pod, "podAffinity")):
        return AFFINITY
    if any(_near(labels, pod, term, nodes) for term in _terms(pod, "podAntiAffinity")):
        return ANTI_AFFINITY
    for place, pods in nodes:
        for other in pods:
            for term in _terms(other, "podAntiAffinity"):
                if _same(labels, place, term) and _means(term, other, pod):
                    return EXISTING
    return ""


def holds(labels: dict[str, str], expression: Object) -> bool:
    """One requirement of a label selector."""
    value, values = labels.get(expression["key"]), expression.get("values") or []
    match expression["operator"]:
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case _:
            return value is None


def _terms(pod: Object, kind: str) -> list[Object]:
    stated = (pod["spec"].get("affinity") or {}).get(kind) or {}
    return list(stated.get("requiredDuringSchedulingIgnoredDuringExecution") or [])


def _together(labels: dict[str, str], pod: Object, term: Object, nodes: Sequence[Placed]) -> bool:
    """A pod that nobody matches yet, itself excepted, is the first of its group and may go anywhere that has the topology."""
    if term["topologyKey"] not in labels:
        return False
    if _near(labels, pod, term, nodes):
        return True
    alone = not any(_means(term, pod, other) for other in _all(nodes))
    return alone and _means(term, pod, pod)


def _near(labels: dict[str, str], pod: Object, term: Object, nodes: Sequence[Placed]) -> bool:
    return any(
        _means(term, pod, other) for place, pods in nodes if _same(labels, place, term) for other in pods
    )  # fmt: skip


def _all(nodes: Sequence[Placed]) -> Iterator[Object]:
    return (pod for _, pods in nodes for pod in pods)


def _same(labels: dict[str, str], other: dict[str, str], term: Object) -> bool:
    """Whether two nodes are in one place as the term sees it."""
    key = term["topologyKey"]
    return key in labels and labels[key] == other.get(key)


def _means(term: Object, owner: Object, pod: Object) -> bool:
    """Whether a term of `owner` is about `pod`. A selector of namespaces is taken for all of them, as an empty one is."""
    metadata = pod["metadata"]
    named = term.get("namespaces") or []
    if "namespaceSelector" not in term and not named:
        named = [owner["metadata"].get("namespace", "default")]
    if named and metadata.get("namespace", "default") not in named and "namespaceSelector" not in term:
        return False
    selector = term.get("labelSelector")
    if selector is None:
        return False
    labels = metadata.get("labels") or {}
    equal = all(labels.get(key) == value for key, value in (selector.get("matchLabels") or {}).items())
    return equal and all(holds(labels, expression) for expression in selector.get("matchExpressions") or [])
