"""Resources for the policies' tests, as the engine would hand them over."""

from __future__ import annotations

import copy
from typing import Any

from policies.model import Resource
from policies.values import UNKNOWN
from settings.catalogue.versions import KUEUE_VERSION

__all__ = [
    "UNKNOWN",
    "changed",
    "cluster",
    "cluster_queue",
    "flavor",
    "job",
    "jobset",
    "pod",
    "pool",
    "ray_job",
    "release",
]

IMAGE = "python:3.12.12-slim-bookworm"
QUEUED = {"kueue.x-k8s.io/queue-name": "team-a"}
TPU = {"resources": {"limits": {"google.com/tpu": "4"}}}


def changed(resource: Resource, path: str, value: Any = None) -> Resource:
    """A copy with the property at a path (`spec.containers.0.image`) set, or taken away for None."""
    properties = copy.deepcopy(dict(resource.properties))
    *way, last = path.split(".")
    place: Any = properties
    for key in way:
        place = place[int(key)] if isinstance(place, list) else place.setdefault(key, {})
    if value is None:
        del place[last]
    elif isinstance(place, list):
        place[int(last)] = value
    else:
        place[last] = value
    return Resource(resource.type, resource.name, properties, resource.urn)


def _object(kind: str, name: str, spec: dict[str, Any], labels: dict[str, str] | None = None) -> Resource:
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "default",
        "labels": dict(labels if labels is not None else {}),
    }
    return Resource(
        f"kubernetes:{kind}", name, {"metadata": metadata, "spec": spec}, f"urn:pulumi:prod::p::{kind}::{name}"
    )


def container(**further: Any) -> dict[str, Any]:
    return copy.deepcopy({"name": "main", "image": IMAGE, **further})


def pod(**further: Any) -> Resource:
    return _object("core/v1:Pod", "pod", {"containers": [container(**TPU)], **further}, QUEUED)


def job() -> Resource:
    return _object("batch/v1:Job", "job", {"template": {"spec": {"containers": [container(**TPU)]}}}, QUEUED)


def jobset(name: str = "jobset") -> Resource:
    template = {"spec": {"template": {"spec": {"containers": [container(**TPU)]}}}}
    spec = {"replicatedJobs": [{"name": "slice", "replicas": 1, "template": template}]}
    return _object("jobset.x-k8s.io/v1alpha2:JobSet", name, spec, QUEUED)


def ray_job() -> Resource:
    head = {"template": {"spec": {"containers": [container(name="head")]}}}
    workers = [{"groupName": "tpu", "template": {"spec": {"containers": [container(name="worker", **TPU)]}}}]
    spec = {"rayClusterSpec": {"headGroupSpec": head, "workerGroupSpecs": workers}}
    return _object("ray.io/v1:RayJob", "ray", spec, QUEUED)


def deployment() -> Resource:
    return _object("apps/v1:Deployment", "web", {"template": {"spec": {"containers": [container()]}}})


def release() -> Resource:
    properties = {
        "chart": "oci://registry.k8s.io/kueue/charts/kueue",
        "version": KUEUE_VERSION,
        "values": {"manager": {"image": {"repository": "registry.k8s.io/kueue/kueue", "tag": f"v{KUEUE_VERSION}"}}},
    }
    return Resource("kubernetes:helm.sh/v3:Release", "kueue", properties, "urn:pulumi:prod::p::r::kueue")


def cluster() -> Resource:
    properties = {
        "name": "tpu-cluster",
        "deletionProtection": True,
        "resourceLabels": {"environment": "prod", "team": "ml"},
        "privateClusterConfig": {"enablePrivateNodes": True, "enablePrivateEndpoint": False},
        "masterAuthorizedNetworksConfig": {"cidrBlocks": [{"cidrBlock": "192.0.2.0/24"}]},
    }
    return Resource("gcp:container/cluster:Cluster", "cluster", properties, "urn:pulumi:prod::p::c::cluster")


def bucket() -> Resource:
    kind = "gcp:storage/bucket:Bucket"
    properties = {"name": "b", "publicAccessPrevention": "enforced", "uniformBucketLevelAccess": True}
    return Resource(kind, "bucket", properties, f"urn:pulumi:prod::p::{kind}::bucket")


def grant(member: str = "group:team@example.com") -> Resource:
    kind = "gcp:storage/bucketIAMMember:BucketIAMMember"
    properties = {"bucket": "b", "role": "roles/storage.objectUser", "member": member}
    return Resource(kind, "grant", properties, f"urn:pulumi:prod::p::{kind}::grant")


def pool(name: str = "pool-1") -> Resource:
    """A slice of 2x4 on two hosts: 8 chips."""
    properties = {
        "name": name,
        "location": "us-west4",
        "nodeLocations": ["us-west4-a"],
        "nodeCount": 2,
        "nodeConfig": {"machineType": "ct5lp-hightpu-4t"},
        "placementPolicy": {"type": "COMPACT", "tpuTopology": "2x4"},
    }
    return Resource("gcp:container/nodePool:NodePool", name, properties, f"urn:pulumi:prod::p::n::{name}")


def flavor(name: str = "v5e", **labels: str) -> Resource:
    tpu = {"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "2x4"}
    return _object("kueue.x-k8s.io/v1beta2:ResourceFlavor", name, {"nodeLabels": labels if labels else tpu})


def cluster_queue(chips: Any, name: str = "queue", flavor_name: str = "v5e") -> Resource:
    quota = [{"name": "google.com/tpu", "nominalQuota": chips}, {"name": "cpu", "nominalQuota": "224"}]
    groups = [{"coveredResources": ["google.com/tpu", "cpu"], "flavors": [{"name": flavor_name, "resources": quota}]}]
    return _object("kueue.x-k8s.io/v1beta2:ClusterQueue", name, {"resourceGroups": groups})
