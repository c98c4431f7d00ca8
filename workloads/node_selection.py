"""How a pod asks for nodes of any of several flavors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from settings.plan.job_flavors import Labels, common


def selection(choices: Sequence[Labels]) -> dict[str, Any]:
    """The part of a pod's spec that asks for a node with all labels of one of `choices`.

    What they share is a node selector; where they differ, Kubernetes has an affinity with a term for each. Kueue reads both, takes
    the first flavor with room that they allow, and adds that flavor's labels to the node selector.
    """
    shared = common(choices)
    rest = [{key: value for key, value in labels if key not in shared} for labels in choices]
    pod: dict[str, Any] = {"nodeSelector": shared} if shared else {}
    if not all(rest):
        return pod
    terms = [{"matchExpressions": [_expression(*label) for label in labels.items()]} for labels in rest]
    required = {"nodeSelectorTerms": terms}
    return {**pod, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}


def _expression(key: str, value: str) -> Mapping[str, Any]:
    return {"key": key, "operator": "In", "values": [value]}
