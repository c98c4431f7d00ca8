"""What holds objects that are being deleted."""

import pytest
from kubernetes.client import ApiException

from operations.stack.blocked_deletions import blocked_deletions, explained

pytestmark = pytest.mark.unit

SINCE = "2026-01-01T00:00:00Z"


def thing(kind, name, *, deleting=False, finalizers=(), owner=None, blocks=True):
    metadata = {"name": name, "namespace": "default", "uid": name, "finalizers": list(finalizers)}
    if deleting:
        metadata["deletionTimestamp"] = SINCE
    if owner:
        metadata["ownerReferences"] = [{"uid": owner, "blockOwnerDeletion": blocks}]
    return {"kind": kind, "metadata": metadata}


def test_a_chain_of_owners_is_told_down_to_the_finalizer_at_its_end():
    objects = [
        thing("RayJob", "job", deleting=True, finalizers=["foregroundDeletion"]),
        thing("Workload", "its", deleting=True, finalizers=["kueue.x-k8s.io/resource-in-use"], owner="job"),
        thing("ProvisioningRequest", "asked", owner="its"),
        thing("ConfigMap", "loose", owner="job", blocks=False),
    ]
    assert explained(objects) == [
        f"RayJob default/job since {SINCE}: Workload default/its (being deleted too)",
        f"Workload default/its since {SINCE}: finalizer kueue.x-k8s.io/resource-in-use",
    ]


def test_what_nothing_is_in_the_way_of_waits_for_the_garbage_collector_or_its_node():
    objects = [
        thing("RayJob", "job", deleting=True, finalizers=["foregroundDeletion"]),
        thing("Pod", "pod", deleting=True),
    ]
    assert explained(objects) == [
        f"RayJob default/job since {SINCE}: the garbage collector",
        f"Pod default/pod since {SINCE}: its node",
    ]


class Api:
    """An API server with pods and a group whose server is gone."""

    def __init__(self, **lists):
        self.lists = lists

    def get(self, path):
        if path == "/apis":
            return {"groups": [{"preferredVersion": {"groupVersion": "visibility.kueue.x-k8s.io/v1beta2"}}]}
        if path == "/api/v1":
            return {
                "resources": [
                    {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["list", "delete"]},
                    {"name": "pods/log", "kind": "Pod", "namespaced": True, "verbs": ["get"]},
                    {"name": "nodes", "kind": "Node", "namespaced": False, "verbs": ["list", "delete"]},
                ]
            }
        raise ApiException(status=503)

    def list(self, path):
        return self.lists[path]


def test_a_group_that_does_not_answer_hides_no_other():
    found = blocked_deletions(Api(**{"/api/v1/pods": [thing("", "pod", deleting=True)]}))
    assert found == [f"Pod default/pod since {SINCE}: its node"]
