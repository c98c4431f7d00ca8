"""What is missing of a Helm release is made again from Helm's record; what is there is left alone."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest
import yaml

from operations.kubernetes import Cluster
from operations.stack import controllers
from operations.stack.controllers import Release, is_ready, releases, require_ready, restore
from operations.stack.engine import OperationError

pytestmark = pytest.mark.unit

KUEUE = Release("kueue", "kueue-system")
SERVICE: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "hook", "namespace": "kueue-system"},
}
MANAGER: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "manager", "labels": {"a": "b"}},
    "spec": {"replicas": 2},
}
ROLE: dict[str, Any] = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "role"},
}
KINDS = {
    "/api/v1": [{"name": "services", "kind": "Service", "namespaced": True}],
    "/apis/apps/v1": [
        {"name": "deployments", "kind": "Deployment", "namespaced": True},
        {"name": "deployments/scale", "kind": "Deployment", "namespaced": True},
    ],
    "/apis/rbac.authorization.k8s.io/v1": [{"name": "clusterroles", "kind": "ClusterRole", "namespaced": False}],
}
SERVICE_PATH = "/api/v1/namespaces/kueue-system/services/hook"
MANAGER_PATH = "/apis/apps/v1/namespaces/kueue-system/deployments/manager"
ROLE_PATH = "/apis/rbac.authorization.k8s.io/v1/clusterroles/role"


def record(version: int, *objects: dict[str, Any], status: str = "deployed") -> dict[str, Any]:
    """A Secret as Helm writes it and the API gives it."""
    manifest = "".join(f"---\n# Source: chart/{index}\n{yaml.safe_dump(o)}" for index, o in enumerate(objects))
    packed = base64.b64encode(gzip.compress(json.dumps({"manifest": manifest}).encode()))
    labels = {"version": str(version), "status": status}
    return {"metadata": {"labels": labels}, "data": {"release": base64.b64encode(packed).decode()}}


def running(manifest: dict[str, Any], replicas: int = 2) -> dict[str, Any]:
    status = {"observedGeneration": 1, "updatedReplicas": replicas, "availableReplicas": replicas}
    return {
        **manifest,
        "metadata": {**manifest["metadata"], "generation": 1},
        "spec": {"replicas": replicas},
        "status": status,
    }


class Remembered(Cluster):
    """A cluster in a dictionary: objects by path. What is made in it runs at once."""

    def __init__(self, secrets: list[dict[str, Any]], objects: dict[str, dict[str, Any]]) -> None:
        self._kinds = {}
        self.secrets, self.objects, self.calls = secrets, objects, list[tuple[str, str]]()

    def get(self, path: str, **query: str) -> dict[str, Any] | None:
        return {"resources": KINDS[path]} if path in KINDS else self.objects.get(path)

    def list(self, path: str, **query: str) -> list[dict[str, Any]]:
        if path.endswith("/pods"):
            return []
        assert path == "/api/v1/namespaces/kueue-system/secrets"
        wanted = dict(pair.split("=") for pair in query["labelSelector"].split(","))
        assert wanted["owner"] == "helm" and wanted["name"] == "kueue"
        return [s for s in self.secrets if s["metadata"]["labels"]["status"] == wanted["status"]]

    def call(self, verb: str, path: str, body: Any = None, *_: Any, **__: Any) -> dict[str, Any]:
        self.calls.append((verb, path))
        if verb == "POST":
            path = f"{path}/{body['metadata']['name']}"
            self.objects[path] = running(body) if body["kind"] == "Deployment" else body
        else:
            self.objects[path] = running(self.objects[path], body["spec"]["replicas"])
        return self.objects[path]


def everything() -> dict[str, dict[str, Any]]:
    return {SERVICE_PATH: SERVICE, MANAGER_PATH: running(MANAGER), ROLE_PATH: ROLE}


def test_releases_are_those_of_the_state() -> None:
    inputs = {"name": "kueue", "namespace": "kueue-system"}
    resources = [{"type": "pulumi:pulumi:Stack"}, {"type": "kubernetes:helm.sh/v3:Release", "inputs": inputs}]
    assert releases(resources) == [KUEUE]


def test_what_is_there_is_left_alone() -> None:
    cluster, log_summary = Remembered([record(1, SERVICE, ROLE, MANAGER)], everything()), list[str]()
    restore(cluster, [KUEUE], log_summary.append)
    require_ready(cluster, [KUEUE])
    assert cluster.calls == [] and log_summary == []


@pytest.mark.parametrize("missing", [SERVICE_PATH, MANAGER_PATH, ROLE_PATH])
def test_what_is_missing_is_made_with_helms_marks(missing: str) -> None:
    objects = everything()
    del objects[missing]
    cluster, log_summary = Remembered([record(1, SERVICE, ROLE, MANAGER)], objects), list[str]()
    restore(cluster, [KUEUE], log_summary.append)
    assert cluster.calls == [("POST", missing.rsplit("/", 1)[0])] and len(log_summary) == 1
    metadata = cluster.objects[missing]["metadata"]
    assert metadata["labels"]["app.kubernetes.io/managed-by"] == "Helm"
    assert metadata["annotations"]["meta.helm.sh/release-name"] == "kueue"
    assert metadata["annotations"]["meta.helm.sh/release-namespace"] == "kueue-system"
    assert missing != MANAGER_PATH or metadata["labels"]["a"] == "b"


def test_the_newest_finished_revision_counts() -> None:
    old, broken = record(9, ROLE), record(11, SERVICE, status="failed")
    cluster = Remembered([old, record(10, MANAGER), broken], {})
    restore(cluster, [KUEUE], lambda _: None)
    assert list(cluster.objects) == [MANAGER_PATH]


def test_a_controller_that_was_scaled_to_nothing_is_scaled_back() -> None:
    cluster = Remembered([record(1, MANAGER)], {MANAGER_PATH: running(MANAGER, replicas=0)})
    restore(cluster, [KUEUE], lambda _: None)
    assert cluster.objects[MANAGER_PATH]["spec"]["replicas"] == 2


def test_a_release_without_a_record_is_the_engines_to_install() -> None:
    cluster = Remembered([], {})
    restore(cluster, [KUEUE], lambda _: None)
    assert cluster.calls == []


def test_a_kind_that_is_not_served_is_passed_over() -> None:
    strange = {"apiVersion": "x.example/v1", "kind": "Strange", "metadata": {"name": "s"}}
    cluster = Remembered([record(1, strange)], {})
    restore(cluster, [KUEUE], lambda _: None)
    assert cluster.calls == []


def test_a_deployment_that_is_gone_after_the_run_is_an_error_at_once() -> None:
    with pytest.raises(
        OperationError, match="Deployment manager of Helm release kueue is not in namespace kueue-system"
    ):
        require_ready(Remembered([record(1, MANAGER)], {}), [KUEUE])


def test_a_deployment_that_does_not_get_ready_is_an_error_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "READY_TIMEOUT_S", 0.0)
    cluster = Remembered([record(1, MANAGER)], {MANAGER_PATH: running(MANAGER, replicas=1)})
    with pytest.raises(OperationError, match="manager has no ready endpoint: it has no pod"):
        require_ready(cluster, [KUEUE])


def test_ready_is_what_was_last_asked_for() -> None:
    assert is_ready(running(MANAGER), 2)
    assert not is_ready(running(MANAGER), 3)
    assert not is_ready({**running(MANAGER), "metadata": {"generation": 2}}, 2)
    assert not is_ready({"metadata": {"generation": 1}}, 1)
