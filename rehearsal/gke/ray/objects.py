"""The Kubernetes objects of GKE's RayOperator add-on, each as (path in the API, body)."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

Object = dict[str, Any]
Placed = tuple[str, Object]

_RBAC, _ADMISSION = "rbac.authorization.k8s.io/v1", "admissionregistration.k8s.io/v1"
OPERATOR, WEBHOOK = "kuberay-operator", "kuberay-tpu-webhook"


OWNERS_FIRST = ("raycronjobs", "rayservices", "rayjobs", "rayclusters")
"""Ray's kinds: each may own objects of those after it."""


def user(name: str) -> str:
    """The user as which a hosted program comes to the cluster."""
    return f"system:{name}"


def right(name: str) -> str:
    """What the rights of a hosted program are called: not as in KubeRay's own chart, whose removal would take them along."""
    return f"gke-{name}"


def plural(file: Path) -> str:
    """The plural of the kind that a file `<group>_<plural>.yaml` defines."""
    return file.stem.split("_")[1]


def definition(file: Path) -> str:
    """Where the resource definition of such a file is."""
    group = file.stem.split("_")[0]
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural(file)}.{group}"


def rights(operator_rules: list[Object]) -> list[Placed]:
    """What the two programs may do; the operator's rules are those of KubeRay's own role."""
    webhook_rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]}]
    return [
        placed
        for name, rules in ((OPERATOR, operator_rules), (WEBHOOK, webhook_rules))
        for placed in (_role(name, rules), _binding(name))
    ]


def _role(name: str, rules: list[Object]) -> Placed:
    return f"/apis/{_RBAC}/clusterroles/{right(name)}", _object(_RBAC, "ClusterRole", right(name), rules=rules)


def _binding(name: str) -> Placed:
    group = _RBAC.split("/")[0]
    body = _object(
        _RBAC,
        "ClusterRoleBinding",
        right(name),
        roleRef={"apiGroup": group, "kind": "ClusterRole", "name": right(name)},
        subjects=[{"apiGroup": group, "kind": "User", "name": user(name)}],
    )
    return f"/apis/{_RBAC}/clusterrolebindings/{right(name)}", body


def webhooks(address: str, ca_pem: str) -> list[Placed]:
    """The registrations of the webhook at `https://<address>`, with the selectors of the public webhook's chart."""
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    ray_clusters = {"apiGroups": ["ray.io"], "apiVersions": ["*"], "resources": ["rayclusters"]}
    ours = {"matchLabels": {"app.kubernetes.io/name": "kuberay"}}
    return [
        _webhook("Mutating", "mutating", f"https://{address}/mutate", ca_pem, pods, {"objectSelector": ours}),
        _webhook("Validating", "validating", f"https://{address}/validate", ca_pem, ray_clusters, {}),
    ]


def _webhook(kind: str, word: str, url: str, ca_pem: str, rule: Object, selector: Object) -> Placed:
    name = f"kuberay-tpu-{word}-webhook-cfg"
    elsewhere = {
        "key": "kubernetes.io/metadata.name",
        "operator": "NotIn",
        "values": ["kube-system", "kube-node-lease"],
    }
    hook = {
        "name": f"{word}.{WEBHOOK}.gke.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "NoneOnDryRun",
        "clientConfig": {"url": url, "caBundle": base64.b64encode(ca_pem.encode()).decode()},
        "rules": [{**rule, "operations": ["CREATE"], "scope": "Namespaced"}],
        "namespaceSelector": {"matchExpressions": [elsewhere]},
        **selector,
    }
    body = _object(_ADMISSION, f"{kind}WebhookConfiguration", name, webhooks=[hook])
    return f"/apis/{_ADMISSION}/{kind.lower()}webhookconfigurations/{name}", body


def _object(version: str, kind: str, name: str, **fields: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **fields}
