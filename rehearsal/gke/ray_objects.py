"""The Kubernetes objects of GKE's RayOperator add-on, each as (path in the API, body)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

Object = dict[str, Any]

_RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLE = f"{_RBAC}/clusterroles/kuberay-operator"


def definition(file: Path) -> str:
    """Where the resource definition of a file `<group>_<plural>.yaml` is."""
    group, plural = file.stem.split("_")
    return f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{plural}.{group}"


def bindings(user: str) -> list[tuple[str, Object]]:
    """KubeRay's role for the user as which its operator comes."""
    name = "kuberay-operator"
    body = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }
    return [(f"{_RBAC}/clusterrolebindings/{name}", body)]
