"""Each policy: what complies, what violates, and what is missing or not known before `up`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policies.buckets import closed
from policies.check import findings
from policies.model import Context, Resource
from policies.rules import RULES
from tests.policies.objects import (
    UNKNOWN,
    bucket,
    changed,
    cluster,
    cluster_queue,
    container,
    deployment,
    flavor,
    grant,
    job,
    jobset,
    pod,
    pool,
    ray_job,
    release,
)

pytestmark = pytest.mark.policies

KNOWN, PRIVATE = {rule.name: rule for rule in RULES}, "privateClusterConfig.enablePrivateEndpoint"
NETWORKS, BLOCK = "masterAuthorizedNetworksConfig", "masterAuthorizedNetworksConfig.cidrBlocks.0.cidrBlock"
CONTEXT = Context(production=True, privileged=frozenset({"declared"}), labels=("environment", "team"))
QUEUE_LABEL, DECLARED = "kueue.x-k8s.io/queue-name", "tpu-platform/privileged"
DIGEST = "registry.example:5000/team/image@sha256:" + "0" * 64


def said(name: str, *resources: Resource) -> list[tuple[bool, str]]:
    """(certain, message) of each finding."""
    context = replace(CONTEXT, closed_buckets=closed(resources))
    return [(not f.unknown, f.message) for f in findings(KNOWN[name], resources, context)]


def without_chips(resource: Resource) -> Resource:
    return changed(resource, "spec.containers.0.resources", {"limits": {"google.com/tpu": "0"}})


def unlabelled(resource: Resource) -> Resource:
    return changed(resource, "metadata.labels", {})


def privileged(resource: Resource) -> Resource:
    return changed(resource, "spec.hostNetwork", True)


ONE_HOST = changed(changed(pool(), "nodeConfig.machineType", "ct5lp-hightpu-8t"), "placementPolicy")
SCALED = changed(changed(pool(), "autoscaling", {"minNodeCount": 0, "maxNodeCount": 2}), "nodeCount")
TOTAL = changed(changed(pool(), "autoscaling", {"totalMaxNodeCount": 2}), "nodeCount")
SYSTEM = changed(changed(pool("default-pool"), "nodeConfig.machineType", "e2-standard-8"), "nodeLocations", ["a", "b"])
SEVEN = changed(
    changed(changed(pool(), "nodeConfig.machineType", "tpu7x-standard-4t"), "placementPolicy", {"policyName": "wide"}),
    "nodeCount",
    4,
)
WORKLOAD_POLICY = Resource(
    "gcp:compute/resourcePolicy:ResourcePolicy",
    "p",
    {"name": "wide", "workloadPolicy": {"acceleratorTopology": "2x2x4"}},
)
SEVEN_FLAVOR = flavor(**{"cloud.google.com/gke-tpu-accelerator": "tpu7x", "cloud.google.com/gke-tpu-topology": "2x2x4"})
OF_TWO_POOLS = (pool("pool-1"), pool("pool-2"), flavor())
BY_POOL = flavor(**{"cloud.google.com/gke-nodepool": "pool-2"})

COMPLIANT: list[tuple[str, tuple[Resource, ...]]] = [
    *(("tpu-work-in-a-queue", (r,)) for r in (pod(), job(), jobset(), ray_job(), deployment(), release(), cluster())),
    ("tpu-work-in-a-queue", (unlabelled(without_chips(pod())),)),
    ("tpu-work-in-a-queue", (changed(unlabelled(pod()), "spec.containers.0.resources"),)),
    ("control-plane-guarded", (cluster(),)),
    ("control-plane-guarded", (changed(changed(cluster(), NETWORKS), PRIVATE, True),)),
    ("control-plane-guarded", (changed(cluster(), NETWORKS, {"cidrBlocks": []}),)),
    ("control-plane-guarded", (pool(),)),
    ("deletion-protected", (cluster(),)),
    ("deletion-protected", (pool(),)),
    *(("images-pinned", (r,)) for r in (pod(), job(), jobset(), ray_job(), deployment(), release(), cluster())),
    ("images-pinned", (changed(pod(), "spec.containers.0.image", DIGEST),)),
    ("images-pinned", (changed(pod(), "spec.containers.0.image", "registry.example:5000/team/image:1.2"),)),
    ("images-pinned", (changed(pod(), "spec.containers.0.image"),)),
    ("images-pinned", (changed(changed(release(), "chart", "./charts/kueue"), "version"),)),
    ("images-pinned", (changed(release(), "values.manager.image.tag"),)),
    *(("not-privileged", (r,)) for r in (pod(), job(), jobset(), ray_job(), deployment(), release(), cluster())),
    ("not-privileged", (changed(pod(), "spec.hostNetwork", False),)),
    ("not-privileged", (changed(privileged(pod()), "metadata.annotations", {DECLARED: "old images need it"}),)),
    ("not-privileged", (privileged(changed(jobset(), "metadata.name", "declared")),)),
    *(("buckets-private", (r,)) for r in (bucket(), grant(), pod(), cluster())),
    ("buckets-private", (bucket(), grant(UNKNOWN))),
    ("buckets-private", (bucket(), changed(changed(grant(), "member"), "members", UNKNOWN))),
    ("quota-within-capacity", (*OF_TWO_POOLS, cluster_queue("16"))),
    ("quota-within-capacity", (*OF_TWO_POOLS, cluster_queue(16.0))),
    ("quota-within-capacity", (*OF_TWO_POOLS, cluster_queue("8"), cluster_queue("8", "second"))),
    ("quota-within-capacity", (ONE_HOST, changed(flavor(), "metadata.name", "v5e"), cluster_queue("16"))),
    ("quota-within-capacity", (SCALED, flavor(), cluster_queue("8"))),
    ("quota-within-capacity", (TOTAL, flavor(), cluster_queue("8"))),
    ("quota-within-capacity", (SEVEN, WORKLOAD_POLICY, SEVEN_FLAVOR, cluster_queue("16"))),
    ("quota-within-capacity", (*OF_TWO_POOLS[:2], BY_POOL, cluster_queue("8"))),
    ("quota-within-capacity", (pool(), SYSTEM, flavor(**{"cloud.google.com/gke-nodepool": "x"}), cluster_queue("0"))),
    ("quota-within-capacity", (changed(cluster(), "enableAutopilot", True), flavor(), cluster_queue("999"))),
    ("quota-within-capacity", (SYSTEM, flavor(), cluster_queue("999"))),
    ("pool-in-one-zone", (pool(),)),
    ("pool-in-one-zone", (SYSTEM,)),
    ("pool-in-one-zone", (changed(changed(pool(), "nodeLocations"), "location", "us-west4-a"),)),
    ("labelled-for-cost", (cluster(),)),
    ("labelled-for-cost", (pool(),)),
]

VIOLATING: list[tuple[str, tuple[Resource, ...], str]] = [
    *(
        ("tpu-work-in-a-queue", (unlabelled(r),), "its pods ask for google.com/tpu and it is in no queue")
        for r in (pod(), job(), jobset(), ray_job())
    ),
    (
        "tpu-work-in-a-queue",
        (changed(pod(), "metadata.labels", {QUEUE_LABEL: ""}),),
        "its pods ask for google.com/tpu and it is in no queue",
    ),
    (
        "control-plane-guarded",
        (changed(cluster(), NETWORKS),),
        "its control plane answers everybody: no authorised networks",
    ),
    (
        "control-plane-guarded",
        (changed(changed(cluster(), NETWORKS), "privateClusterConfig"),),
        "its control plane answers everybody: no authorised networks",
    ),
    (
        "control-plane-guarded",
        (changed(cluster(), BLOCK, "0.0.0.0/0"),),
        "its control plane answers everybody: authorised network 0.0.0.0/0",
    ),
    ("deletion-protected", (changed(cluster(), "deletionProtection", False),), "its deletion protection is off"),
    ("deletion-protected", (changed(cluster(), "deletionProtection"),), "its deletion protection is not stated"),
    (
        "images-pinned",
        (changed(pod(), "spec.containers.0.image", "python"),),
        "the image python of container main has no tag",
    ),
    (
        "images-pinned",
        (changed(pod(), "spec.containers.0.image", "registry.example:5000/python"),),
        "the image registry.example:5000/python of container main has no tag",
    ),
    (
        "images-pinned",
        (changed(pod(), "spec.containers.0.image", "python:latest"),),
        "the image python:latest of container main has the moving tag latest",
    ),
    (
        "images-pinned",
        (changed(pod(), "spec.initContainers", [container(name="first", image="busybox")]),),
        "the image busybox of container first has no tag",
    ),
    (
        "images-pinned",
        (changed(release(), "version"),),
        "the chart oci://registry.k8s.io/kueue/charts/kueue has no version",
    ),
    (
        "images-pinned",
        (changed(release(), "values.manager.image.tag", "main"),),
        "the image registry.k8s.io/kueue/kueue at values.manager.image has the moving tag main",
    ),
    ("not-privileged", (privileged(pod()),), "its pods take the node's own powers (hostNetwork), undeclared"),
    (
        "not-privileged",
        (changed(pod(), "spec.containers.0.securityContext", {"privileged": True}),),
        "its pods take the node's own powers (container main: privileged), undeclared",
    ),
    (
        "not-privileged",
        (changed(privileged(pod()), "metadata.annotations", {DECLARED: " "}),),
        "its pods take the node's own powers (hostNetwork), undeclared",
    ),
    ("buckets-private", (changed(bucket(), "publicAccessPrevention"),), "public access is not prevented"),
    ("buckets-private", (changed(bucket(), "publicAccessPrevention", "inherited"),), "public access is not prevented"),
    (
        "buckets-private",
        (changed(bucket(), "uniformBucketLevelAccess", False),),
        "objects can have access lists of their own",
    ),
    ("buckets-private", (grant("allUsers"),), "allUsers may use the bucket"),
    ("buckets-private", (bucket(), grant("allUsers")), "allUsers may use the bucket"),
    (
        "buckets-private",
        (changed(changed(grant(), "member"), "members", ["user:a@example.com", "allAuthenticatedUsers"]),),
        "allAuthenticatedUsers may use the bucket",
    ),
    (
        "quota-within-capacity",
        (*OF_TWO_POOLS, cluster_queue("17")),
        "the queues give out 17 chips of flavor v5e; its pools (2) have 16",
    ),
    (
        "quota-within-capacity",
        (SCALED, flavor(), cluster_queue("9")),
        "the queues give out 9 chips of flavor v5e; its pools (1) have 8",
    ),
    (
        "quota-within-capacity",
        (*OF_TWO_POOLS, cluster_queue("24")),
        "the queues give out 24 chips of flavor v5e; its pools (2) have 16",
    ),
    (
        "quota-within-capacity",
        (*OF_TWO_POOLS, cluster_queue("12"), cluster_queue("8", "second")),
        "the queues give out 20 chips of flavor v5e; its pools (2) have 16",
    ),
    (
        "quota-within-capacity",
        (*OF_TWO_POOLS[:2], BY_POOL, cluster_queue("16")),
        "the queues give out 16 chips of flavor v5e; its pools (1) have 8",
    ),
    (
        "quota-within-capacity",
        (SCALED, flavor(), cluster_queue("16")),
        "the queues give out 16 chips of flavor v5e; its pools (1) have 8",
    ),
    (
        "quota-within-capacity",
        (pool(), flavor(**{"cloud.google.com/gke-nodepool": "gone"}), cluster_queue("8")),
        "the queues give out 8 chips of flavor v5e; its pools (0) have 0",
    ),
    (
        "pool-in-one-zone",
        (changed(pool(), "nodeLocations", ["us-west4-a", "us-west4-b"]),),
        "a TPU pool in 2 zones (us-west4-a, us-west4-b)",
    ),
    (
        "pool-in-one-zone",
        (changed(pool(), "nodeLocations"),),
        "a TPU pool in no stated zone of us-west4: GKE takes several",
    ),
    ("pool-in-one-zone", (changed(pool(), "nodeLocations", []),), "a TPU pool in 0 zones ()"),
    ("labelled-for-cost", (changed(cluster(), "resourceLabels.team"),), "it has no label team"),
    ("labelled-for-cost", (changed(cluster(), "resourceLabels"),), "it has no label environment, team"),
]

UNDECIDED: list[tuple[str, tuple[Resource, ...]]] = [
    ("tpu-work-in-a-queue", (changed(pod(), "metadata.labels", {QUEUE_LABEL: UNKNOWN}),)),
    ("tpu-work-in-a-queue", (changed(pod(), "metadata", UNKNOWN),)),
    ("tpu-work-in-a-queue", (changed(unlabelled(pod()), "spec.containers.0.resources", UNKNOWN),)),
    ("tpu-work-in-a-queue", (changed(unlabelled(pod()), "spec", UNKNOWN),)),
    ("control-plane-guarded", (changed(cluster(), NETWORKS, UNKNOWN),)),
    ("control-plane-guarded", (changed(cluster(), BLOCK, UNKNOWN),)),
    ("control-plane-guarded", (changed(changed(cluster(), NETWORKS), PRIVATE, UNKNOWN),)),
    ("deletion-protected", (changed(cluster(), "deletionProtection", UNKNOWN),)),
    ("images-pinned", (changed(pod(), "spec.containers.0.image", UNKNOWN),)),
    ("images-pinned", (changed(pod(), "spec", UNKNOWN),)),
    ("images-pinned", (changed(release(), "version", UNKNOWN),)),
    ("images-pinned", (changed(release(), "values.manager.image.tag", UNKNOWN),)),
    ("not-privileged", (changed(pod(), "spec.hostNetwork", UNKNOWN),)),
    ("not-privileged", (changed(pod(), "spec.containers.0.securityContext", UNKNOWN),)),
    ("not-privileged", (changed(pod(), "spec", UNKNOWN),)),
    ("buckets-private", (changed(bucket(), "publicAccessPrevention", UNKNOWN),)),
    ("buckets-private", (changed(bucket(), "uniformBucketLevelAccess", UNKNOWN),)),
    ("buckets-private", (grant(UNKNOWN),)),
    ("buckets-private", (changed(bucket(), "name", "another"), grant(UNKNOWN))),
    ("buckets-private", (changed(bucket(), "name", UNKNOWN), grant(UNKNOWN))),
    ("buckets-private", (bucket(), changed(grant(UNKNOWN), "bucket", UNKNOWN))),
    ("quota-within-capacity", (*OF_TWO_POOLS, cluster_queue(UNKNOWN))),
    ("quota-within-capacity", (changed(pool(), "nodeCount", UNKNOWN), flavor(), cluster_queue("8"))),
    ("quota-within-capacity", (changed(pool(), "nodeLocations", UNKNOWN), flavor(), cluster_queue("8"))),
    ("pool-in-one-zone", (changed(pool(), "nodeLocations", UNKNOWN),)),
    ("pool-in-one-zone", (changed(pool(), "nodeConfig", UNKNOWN),)),
    ("labelled-for-cost", (changed(cluster(), "resourceLabels", UNKNOWN),)),
    ("labelled-for-cost", (changed(cluster(), "resourceLabels.team", UNKNOWN),)),
]


@pytest.mark.parametrize(("name", "resources"), COMPLIANT)
def test_what_complies(name: str, resources: tuple[Resource, ...]) -> None:
    assert said(name, *resources) == []


@pytest.mark.parametrize(("name", "resources", "message"), VIOLATING)
def test_what_violates(name: str, resources: tuple[Resource, ...], message: str) -> None:
    assert said(name, *resources) == [(True, message)]


@pytest.mark.parametrize(("name", "resources"), UNDECIDED)
def test_what_is_not_known_yet_is_no_violation_and_no_compliance(name: str, resources: tuple[Resource, ...]) -> None:
    assert [certain for certain, _ in said(name, *resources)] == [False]


@pytest.mark.parametrize("prevention", [None, "inherited", UNKNOWN])
def test_who_is_not_known_yet_may_be_everybody_where_a_bucket_lets_everybody_in(prevention: str | None) -> None:
    """Also where only one of two that claim a name does."""
    lax = changed(bucket(), "publicAccessPrevention", prevention)
    for buckets in ((lax,), (lax, bucket()), (bucket(), lax)):
        assert (False, "who may use the bucket is not known yet") in said("buckets-private", *buckets, grant(UNKNOWN))


def test_every_policy_has_cases_of_all_three() -> None:
    cases: list[list[Any]] = [COMPLIANT, VIOLATING, UNDECIDED]
    assert [{case[0] for case in found} for found in cases] == [set(KNOWN)] * len(cases)


def test_what_is_violated_for_certain_is_said_even_where_something_else_is_not_known() -> None:
    shown = changed(privileged(pod()), "spec.hostPID", UNKNOWN)
    assert said("not-privileged", shown) == [(True, "its pods take the node's own powers (hostNetwork), undeclared")]
