"""The controllers that the stack installs by Helm: that they are there and ready, and how what somebody deleted comes back.

To the engine a Helm release is one resource, and its provider takes it for unchanged as long as Helm's record of it is there:
a Deployment that somebody deleted is not made again by `pulumi up`, with a refresh or without. Then no job is admitted any
more, and none can be deleted, as their webhooks do not answer. The record, a Secret beside the release, holds the whole
manifest (helm.sh/helm/v3/pkg/storage/driver/util.go), so what is missing is made from it, with Helm's marks on it.

On a real project, without `make up`, Helm's own command does the same:

    helm get manifest kueue --namespace kueue-system | kubectl apply --namespace kueue-system -f -
"""

from __future__ import annotations

import base64
import gzip
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from components.hooks.webhook_readiness import why_not_ready
from operations.kubernetes import Cluster, cluster_of
from operations.stack.engine import OperationError
from rehearsal.host.layout import Layout

RELEASE = "kubernetes:helm.sh/v3:Release"
ANSWERS_TIMEOUT_S = 60.0
"""For an API server that has just been started again."""
READY_TIMEOUT_S = 120.0
POLL_S = 0.5
Object = dict[str, Any]


@dataclass(frozen=True)
class Release:
    """A Helm release of the stack."""

    name: str
    namespace: str


def releases(resources: Sequence[Object]) -> list[Release]:
    """Those among the resources of a stack's state."""
    return [Release(r["inputs"]["name"], r["inputs"]["namespace"]) for r in resources if r["type"] == RELEASE]


def restore_missing(layout: Layout, resources: Sequence[Object], say: Callable[[str], None]) -> None:
    """Before the engine runs: makes what is missing of the stack's releases, by the resources of its state.

    Does nothing where the cluster is not there or does not answer: then the engine has more to mend, or to say. Raises
    OperationError as `restore` does.
    """
    cluster, stated = cluster_of(layout, resources), releases(resources)
    if cluster is not None and stated and answers(cluster):
        with _as_operation_error():
            restore(cluster, stated, say)


def check(layout: Layout, resources: Sequence[Object]) -> None:
    """After the engine has run: whether the controllers are there and ready, for which the engine takes the release's word.

    Raises OperationError.
    """
    cluster = cluster_of(layout, resources)
    if cluster is None or not answers(cluster):
        raise OperationError("the cluster does not answer\n  Look: make status")
    with _as_operation_error():
        require_ready(cluster, releases(resources))


@contextmanager
def _as_operation_error() -> Iterator[None]:
    """What the API server or the way to it refuses, as the error of an operation."""
    try:
        yield
    except ApiException as error:
        raise OperationError(f"the cluster refuses to have its controllers looked after: {error.reason}") from error
    except HTTPError as error:
        raise OperationError(f"the cluster does not answer any more: {error}\n  Look: make status") from error


def restore(cluster: Cluster, stated: Sequence[Release], say: Callable[[str], None]) -> None:
    """Makes what is missing of the releases from Helm's records, and waits until their Deployments are ready.

    A release without a record of a finished installation is left to the engine. Raises OperationError when a Deployment is
    not ready after READY_TIMEOUT_S.
    """
    made = False
    for release in stated:
        for manifest in recorded(cluster, release):
            if _restored(cluster, release, manifest):
                made = True
                what = f"{manifest['kind']} {manifest['metadata']['name']}"
                say(f"  {what} was missing: made again from Helm's record of {release.name}")
    if made:
        require_ready(cluster, stated)


def require_ready(cluster: Cluster, stated: Sequence[Release]) -> None:
    """Waits until every Deployment of the releases is ready. Raises OperationError after READY_TIMEOUT_S, and at once for one
    that is not there: it would not come by itself."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    for release in stated:
        for manifest in recorded(cluster, release):
            if manifest["kind"] == "Deployment":
                _await_ready(cluster, release, manifest, deadline)


def recorded(cluster: Cluster, release: Release) -> list[Object]:
    """The objects of a release's last finished installation, in the order in which Helm makes them; none without a record."""
    listed = cluster.list(
        f"/api/v1/namespaces/{release.namespace}/secrets",
        labelSelector=f"owner=helm,name={release.name},status=deployed",
    )
    newest = max(listed, key=lambda secret: int(secret["metadata"]["labels"]["version"]), default=None)
    return [] if newest is None else list(manifests(newest["data"]["release"]))


def manifests(data: str) -> Iterator[Object]:
    """A record's objects. Helm packs a record by gzip and base64; the API's own base64 of a Secret is around that."""
    record = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(data))))
    return (manifest for manifest in yaml.safe_load_all(record["manifest"]) if manifest)


def answers(cluster: Cluster) -> bool:
    """Whether the API server answers, within ANSWERS_TIMEOUT_S."""
    deadline = time.monotonic() + ANSWERS_TIMEOUT_S
    while True:
        try:
            cluster.call("GET", "/api")
            return True
        except (ApiException, HTTPError):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)


def _restored(cluster: Cluster, release: Release, manifest: Object) -> bool:
    """Makes one object if it is not there, and scales a Deployment that was scaled to nothing. Whether it had to."""
    collection = cluster.collection(manifest, release.namespace)
    if collection is None:
        return False  # its kind is another chart's, or comes with an object before it: the next run has it
    path = f"{collection}/{manifest['metadata']['name']}"
    there = cluster.get(path)
    if there is None:
        cluster.call("POST", collection, marked(manifest, release))
        return True
    if manifest["kind"] == "Deployment" and there["spec"]["replicas"] == 0 != replicas_of(manifest):
        cluster.call("PATCH", path, {"spec": {"replicas": replicas_of(manifest)}})
        return True
    return False


def replicas_of(deployment: Object) -> int:
    """How many pods a manifest asks for; Kubernetes' own default is one."""
    return int(deployment["spec"].get("replicas", 1))


def marked(manifest: Object, release: Release) -> Object:
    """With the marks by which Helm knows its own (helm.sh/helm/v3/pkg/action/validate.go); a manifest has them only once made."""
    metadata = manifest["metadata"]
    owner = {"meta.helm.sh/release-name": release.name, "meta.helm.sh/release-namespace": release.namespace}
    return {
        **manifest,
        "metadata": {
            **metadata,
            "labels": {**(metadata.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm"},
            "annotations": {**(metadata.get("annotations") or {}), **owner},
        },
    }


def _await_ready(cluster: Cluster, release: Release, manifest: Object, deadline: float) -> None:
    name, namespace = manifest["metadata"]["name"], manifest["metadata"].get("namespace", release.namespace)
    while True:
        there = cluster.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")
        if there is None:
            raise OperationError(
                f"Deployment {name} of Helm release {release.name} is not in namespace {namespace}: somebody has deleted it\n"
                "  `make up` makes it again from Helm's record."
            )
        if is_ready(there, replicas_of(manifest)):
            return
        if time.monotonic() > deadline:
            why = why_not_ready(name, cluster.list(f"/api/v1/namespaces/{namespace}/pods"))
            raise OperationError(
                f"Deployment {name} of Helm release {release.name} is not ready after {READY_TIMEOUT_S:.0f} s: {why}\n"
                f"  Look: make kubectl ARGS='describe deployment,pods --namespace {namespace}'"
            )
        time.sleep(POLL_S)


def is_ready(deployment: Object, replicas: int) -> bool:
    """Whether all its pods are available, of the newest form that was asked for."""
    status = deployment.get("status", {})
    seen = int(status.get("observedGeneration", 0)) >= int(deployment["metadata"]["generation"])
    return seen and int(status.get("updatedReplicas", 0)) >= replicas <= int(status.get("availableReplicas", 0))
