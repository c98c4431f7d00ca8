"""Reading and mending the rehearsal's cluster with the user's own credentials, from outside the sandbox."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rehearsal.errors import RehearsalError
from rehearsal.host.layout import Layout
from rehearsal.kubernetes.kubeapi import KubeApi
from rehearsal.lifecycle import write_kubeconfig

CLUSTER = "gcp:container/cluster:Cluster"


class Cluster(KubeApi):
    """The API of one cluster, or of the only one."""

    def __init__(self, layout: Layout, name: str | None = None) -> None:
        super().__init__(write_kubeconfig(layout, name))
        self._kinds: dict[str, dict[str, tuple[str, bool]]] = {}

    def found(self, path: str) -> bool:
        return self.get(path) is not None

    def collection(self, manifest: Mapping[str, Any], namespace: str | None = None) -> str | None:
        """The path that an object's kind is listed by, as the API's own discovery has it; None for a kind that is not served.

        `namespace` is for objects that state none. A cluster-wide kind has none at all.
        """
        version = str(manifest["apiVersion"])
        group = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if group not in self._kinds:
            resources = (self.get(group) or {}).get("resources", [])
            self._kinds[group] = {r["kind"]: (r["name"], r["namespaced"]) for r in resources if "/" not in r["name"]}
        if manifest["kind"] not in self._kinds[group]:
            return None
        plural, namespaced = self._kinds[group][manifest["kind"]]
        place = f"/namespaces/{manifest['metadata'].get('namespace', namespace)}" if namespaced else ""
        return f"{group}{place}/{plural}"


def cluster_name(resources: Sequence[Mapping[str, Any]]) -> str | None:
    """The name of the cluster among the resources of a stack's state, if there is one."""
    # Of a cluster that is only read, the inputs are empty.
    names = [r["outputs"]["name"] for r in resources if r["type"] == CLUSTER and "name" in r.get("outputs", {})]
    return str(names[0]) if names else None


def cluster_of(layout: Layout, resources: Sequence[Mapping[str, Any]]) -> Cluster | None:
    """The cluster among the resources of a stack's state, if there is one and it runs."""
    name = cluster_name(resources)
    try:
        return Cluster(layout, name) if name is not None else None
    except RehearsalError:
        return None
