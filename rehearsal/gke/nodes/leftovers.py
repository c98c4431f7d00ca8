"""What was still in a cluster when it was deleted, so that a destroy that forgot something can be told from one that did not."""

from __future__ import annotations

from typing import Any

from kubernetes import client, config
from urllib3.exceptions import HTTPError

from rehearsal.gcp.core import Object

_SYSTEM = ("kube-system", "kube-public", "kube-node-lease")


def take(cluster: Object) -> list[str]:
    """Names of custom resources, Helm releases, workloads, volume claims and load balancers outside the system's namespaces.

    Definitions and namespaces are not counted: they end with the cluster and cost nothing, and Helm leaves them by design.
    """
    if "_kubeconfig" not in cluster:
        return []
    try:
        with config.new_client_from_config(cluster["_kubeconfig"]) as api:
            return sorted([*_custom(api), *_core(api)])
    except (client.ApiException, HTTPError, OSError) as error:
        return [f"(the cluster did not answer: {type(error).__name__})"]


def _custom(api: client.ApiClient) -> list[str]:
    found, custom = [], client.CustomObjectsApi(api)
    for definition in client.ApiextensionsV1Api(api).list_custom_resource_definition().items:
        spec = definition.spec
        version = next(v.name for v in spec.versions if v.storage)
        items = custom.list_cluster_custom_object(spec.group, version, spec.names.plural)["items"]
        found += [_name(spec.names.kind, item["metadata"]) for item in items]
    return found


def _core(api: client.ApiClient) -> list[str]:
    core, apps, batch = client.CoreV1Api(api), client.AppsV1Api(api), client.BatchV1Api(api)
    things: list[tuple[str, Any]] = [
        ("Helm release", core.list_secret_for_all_namespaces(field_selector="type=helm.sh/release.v1")),
        ("Deployment", apps.list_deployment_for_all_namespaces()),
        ("StatefulSet", apps.list_stateful_set_for_all_namespaces()),
        ("Job", batch.list_job_for_all_namespaces()),
        ("PersistentVolumeClaim", core.list_persistent_volume_claim_for_all_namespaces()),
        ("Service", core.list_service_for_all_namespaces(field_selector="metadata.name!=kubernetes")),
    ]
    outside = [
        (kind, item.metadata)
        for kind, listed in things
        for item in listed.items
        if item.metadata.namespace not in _SYSTEM
    ]
    return [f"{kind} {metadata.namespace}/{metadata.name}" for kind, metadata in outside]


def _name(kind: str, metadata: dict[str, Any]) -> str:
    return f"{kind} {metadata['namespace'] + '/' if metadata.get('namespace') else ''}{metadata['name']}"
