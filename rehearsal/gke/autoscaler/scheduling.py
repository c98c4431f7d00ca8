"""Whether a pod would run on a node, there or to come, judged as kube-scheduler's filters do. Pure functions of plain objects.

The reasons are the scheduler's own words, which GKE's autoscaler repeats in its events. What is not judged: volumes, host ports, topology
spread, and preemption.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from rehearsal.gcp.core import Object
from rehearsal.gcp.nodes import shapes
from rehearsal.gke.autoscaler import affinity
from rehearsal.kubernetes import quantity

SELECTOR = "node(s) didn't match Pod's node affinity/selector"
TAINT = "node(s) had untolerated taint(s)"
_FLEETING = "node.kubernetes.io/"
"""Taints of a node's present state: the autoscaler expects a node without them."""

Resources = dict[str, Fraction]


@dataclass
class Bin:
    """A node as the scheduler sees it: `free` is what its pods leave of it. `upcoming` says that it is not there or not Ready yet."""

    name: str
    pool: str
    labels: dict[str, str]
    taints: list[Object]
    free: Resources
    pods: list[Object] = field(default_factory=list)
    upcoming: bool = False

    def put(self, pod: Object) -> None:
        self.pods.append(pod)
        for key, value in requests(pod["spec"]).items():
            self.free[key] = self.free.get(key, Fraction(0)) - value


parse = lru_cache(4096)(quantity.parse)


def requests(spec: Object) -> Resources:
    """What a pod asks for: its containers and sidecars together, or its largest init container where that is more; one place as a pod."""
    total: Resources = {"pods": Fraction(1)}
    for container in spec.get("containers", []):
        _add(total, _of(container))
    sidecars: Resources = {}
    most: Resources = {}
    for container in spec.get("initContainers", []):
        if container.get("restartPolicy") == "Always":
            _add(sidecars, _of(container))
            alone = sidecars
        else:
            alone = dict(sidecars)
            _add(alone, _of(container))
        most = {key: max(most.get(key, Fraction(0)), value) for key, value in {**most, **alone}.items()}
    _add(total, sidecars)
    total = {key: max(total.get(key, Fraction(0)), most.get(key, Fraction(0))) for key in {*total, *most}}
    _add(total, {key: parse(value) for key, value in spec.get("overhead", {}).items()})
    return total


def _of(container: Object) -> Resources:
    """Requests; a limit alone is a request too, as the API server fills it in."""
    stated = container.get("resources", {})
    return {key: parse(str(value)) for key, value in {**stated.get("limits", {}), **stated.get("requests", {})}.items()}


def _add(total: Resources, more: Resources) -> None:
    for key, value in more.items():
        total[key] = total.get(key, Fraction(0)) + value


def of_node(node: Object, pods: Iterable[Object]) -> Bin:
    """A node that is there, with the pods on it that have not ended."""
    labels, spec = node["metadata"].get("labels", {}), node.get("spec", {})
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions", []))
    found = Bin(
        node["metadata"]["name"],
        labels.get("cloud.google.com/gke-nodepool", ""),
        labels,
        [taint for taint in spec.get("taints", []) if not taint["key"].startswith(_FLEETING)],
        {key: parse(value) for key, value in node.get("status", {}).get("allocatable", {}).items()},
        upcoming=not ready,
    )
    for pod in pods:
        found.put(pod)
    return found


def to_come(pool: Object, zone: str, name: str, request: str = "") -> Bin:
    """A node of a pool that is not there yet. `request` is the resize request for which it would come."""
    labels = {**shapes.labels(pool, name, zone), **({shapes.REQUEST: request} if request else {})}
    _, allocatable = shapes.capacity(pool)
    free = {key: parse(value) for key, value in allocatable.items()}
    taints: list[Object] = [dict(taint) for taint in shapes.taints(pool)]
    return Bin(name, pool["name"], labels, taints, free, upcoming=True)


def why_not(node: Bin, pod: Object, others: Iterable[Bin] = ()) -> str:
    """Why a pod does not fit a node, or "". `others` are the cluster's nodes, for affinity between pods."""
    spec = pod["spec"]
    if not _selected(node, spec):
        return SELECTOR
    hard = [taint for taint in node.taints if taint["effect"] in ("NoSchedule", "NoExecute")]
    if any(not _tolerated(taint, spec.get("tolerations", [])) for taint in hard):
        return TAINT
    for key, value in requests(spec).items():
        if value > node.free.get(key, Fraction(0)):
            return "Too many pods" if key == "pods" else f"Insufficient {key}"
    return affinity.why_not(node.labels, pod, [(other.labels, other.pods) for other in others])


def _selected(node: Bin, spec: Object) -> bool:
    if any(node.labels.get(key) != value for key, value in (spec.get("nodeSelector") or {}).items()):
        return False
    stated = (spec.get("affinity") or {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    if stated is None:
        return True
    return any(_term(node, term) for term in stated.get("nodeSelectorTerms", []))


def _term(node: Bin, term: Object) -> bool:
    by_label, by_field = term.get("matchExpressions") or [], term.get("matchFields") or []
    if not by_label and not by_field:
        return False
    fields = {"metadata.name": node.name}
    return all(_holds(node.labels, e) for e in by_label) and all(_holds(fields, e) for e in by_field)


def _holds(labels: dict[str, str], expression: Object) -> bool:
    operator, value = expression["operator"], labels.get(expression["key"])
    if operator in ("Gt", "Lt"):
        if value is None or not value.lstrip("-").isdigit():
            return False
        bound = int(expression["values"][0])
        return int(value) > bound if operator == "Gt" else int(value) < bound
    return affinity.holds(labels, expression)


def _tolerated(taint: Object, tolerations: list[Object]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    key = toleration.get("key", "")
    if key and key != taint["key"]:
        return False
    if toleration.get("operator", "Equal") == "Exists":
        return True
    return bool(key) and str(toleration.get("value", "")) == str(taint.get("value", ""))


def place(pod: Object, bins: list[Bin]) -> Bin | None:
    """Puts a pod on the first node that takes it."""
    for node in bins:
        if not why_not(node, pod, bins):
            node.put(pod)
            return node
    return None
