"""The affinity that keeps the workers of one slice together in a node pool, and those of another slice out of it."""

from __future__ import annotations

import copy

from rehearsal.gke.ray.webhook.shared import Object

NODE_POOL = "cloud.google.com/gke-nodepool"
CLUSTER, REPLICA_NAME, HOST_INDEX = "ray.io/cluster", "ray.io/worker-group-replica-name", "ray.io/replica-host-index"


def with_slice(pod: Object, cluster: str, legacy_replica: str) -> Object:
    """The pod's affinity with the slice's added; `legacy_replica` names the replica where KubeRay's own label is missing."""
    labels = pod["metadata"].get("labels") or {}
    if REPLICA_NAME in labels and HOST_INDEX in labels:
        key, value = REPLICA_NAME, labels[REPLICA_NAME]
    else:
        key, value = "replicaIndex", legacy_replica
    found: Object = copy.deepcopy(pod["spec"].get("affinity") or {})
    topology = _topology_key(found)
    together = [_term(topology, _in(key, value), _in(CLUSTER, cluster))]
    apart = [
        _term(topology, _not_in(key, value), _in(CLUSTER, cluster)),
        {
            **_term(topology, _not_in(CLUSTER, cluster), {"key": key, "operator": "Exists"}),
            "namespaceSelector": {"matchExpressions": [_not_in("kubernetes.io/metadata.name", "kube-system")]},
        },
    ]
    for kind, terms in (("podAffinity", together), ("podAntiAffinity", apart)):
        block = found.setdefault(kind, {})
        required = block.get("requiredDuringSchedulingIgnoredDuringExecution") or []
        block["requiredDuringSchedulingIgnoredDuringExecution"] = [*required, *terms]
    return found


def _topology_key(affinity: Object) -> str:
    """The first of GKE's keys that the pod's own affinity uses; else the node pool's."""
    terms = (affinity.get("podAffinity") or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or []
    keys = (str(term["topologyKey"]) for term in terms)
    return next((key for key in keys if key.startswith("cloud.google.com/")), NODE_POOL)


def _term(topology: str, *expressions: Object) -> Object:
    return {"labelSelector": {"matchExpressions": list(expressions)}, "topologyKey": topology}


def _in(key: str, value: str) -> Object:
    return {"key": key, "operator": "In", "values": [value]}


def _not_in(key: str, value: str) -> Object:
    return {"key": key, "operator": "NotIn", "values": [value]}
