"""The few calls that we make to Kubernetes ourselves, through the cluster's own kubeconfig."""

# The kubernetes client has no type hints: what is inferred from its sources is often wrong.
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from kubernetes import client, config

from settings.catalogue.versions import KUEUE_API

CLUSTER_SCOPED = frozenset({"ResourceFlavor", "ClusterQueue", "AdmissionCheck", "ProvisioningRequestConfig"})
_CONNECT_SECONDS, _READ_SECONDS = 5, 20
"""The API server waits up to 10 s for a webhook."""


@dataclass(frozen=True)
class Answer:
    """What the API server said: an HTTP status and its message."""

    status: int
    message: str


class KubernetesApi(Protocol):
    """What the gate and the release recovery need. Tests have their own."""

    def dry_run(self, manifest: Mapping[str, Any]) -> Answer: ...
    def pods(self, namespace: str) -> list[dict[str, Any]]: ...
    def workloads(self, namespace: str) -> list[dict[str, Any]]: ...
    def release_records(self, namespace: str, release: str) -> list[dict[str, Any]]: ...
    def delete_secret(self, namespace: str, name: str) -> None: ...


def object_path(manifest: Mapping[str, Any]) -> str:
    """The collection of the API that an object is created in. The plural of every kind that we create is the regular one."""
    kind, metadata = manifest["kind"], manifest["metadata"]
    scope = "" if kind in CLUSTER_SCOPED else f"namespaces/{metadata.get('namespace', 'default')}/"
    return f"/apis/{manifest['apiVersion']}/{scope}{kind.lower()}s"


class ExecApi:
    """The real one. Raises urllib3's errors when nothing answers."""

    def __init__(self, kubeconfig: str) -> None:
        self._client = config.new_client_from_config_dict(json.loads(kubeconfig))
        self._core = client.CoreV1Api(self._client)

    def dry_run(self, manifest: Mapping[str, Any]) -> Answer:
        """A creation that goes through every webhook and is then forgotten. Strict: an unknown field is an error,
        where a plain creation of a custom resource drops it silently."""
        request = self._client.param_serialize(
            "POST",
            object_path(manifest),
            query_params=[("dryRun", "All"), ("fieldValidation", "Strict")],
            header_params={"Content-Type": "application/json", "Accept": "application/json"},
            body=dict(manifest),
            auth_settings=["BearerToken"],
        )
        response = self._client.call_api(*request, _request_timeout=(_CONNECT_SECONDS, _READ_SECONDS))
        return Answer(int(response.status), _message(response.read()))

    def pods(self, namespace: str) -> list[dict[str, Any]]:
        found = self._core.list_namespaced_pod(namespace, _request_timeout=(_CONNECT_SECONDS, _READ_SECONDS))
        return list(self._client.sanitize_for_serialization(found)["items"])

    def workloads(self, namespace: str) -> list[dict[str, Any]]:
        """Kueue's view of a namespace's jobs. Raises client.ApiException."""
        found = client.CustomObjectsApi(self._client).list_namespaced_custom_object(
            *KUEUE_API.split("/"), namespace, "workloads", _request_timeout=(_CONNECT_SECONDS, _READ_SECONDS)
        )
        return list(found["items"])

    def release_records(self, namespace: str, release: str) -> list[dict[str, Any]]:
        """Helm's own records of a release, one Secret a revision. Only names and labels are kept."""
        found = self._core.list_namespaced_secret(
            namespace, label_selector=f"owner=helm,name={release}", _request_timeout=(_CONNECT_SECONDS, _READ_SECONDS)
        )
        return [{"name": secret.metadata.name, "labels": dict(secret.metadata.labels)} for secret in found.items]

    def delete_secret(self, namespace: str, name: str) -> None:
        self._core.delete_namespaced_secret(name, namespace, _request_timeout=(_CONNECT_SECONDS, _READ_SECONDS))


def _message(body: bytes) -> str:
    """The API server's sentence, without the envelope. A created object has none."""
    try:
        return str(json.loads(body).get("message", ""))
    except ValueError:
        return body.decode(errors="replace")
