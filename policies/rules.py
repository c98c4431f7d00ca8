"""All policies, in the order in which they are reported."""

from __future__ import annotations

from policies import buckets, cluster, pods, quota
from policies.model import ResourceRule, Rule, StackRule

PRODUCTION = "productionStacks"
LABELS = "labels"

_WHERE = {PRODUCTION: ("prod", "prod-*", "*-prod")}
"""Names of stacks, with wildcards, for which the rules of production hold."""

RULES: tuple[Rule, ...] = (
    ResourceRule(
        "tpu-work-in-a-queue",
        "What asks for TPU chips is in a Kueue queue.",
        pods.tpu_work_in_a_queue,
    ),
    ResourceRule(
        "control-plane-guarded",
        "In production only authorised networks reach the control plane.",
        cluster.control_plane_guarded,
        production_only=True,
        parameters=_WHERE,
    ),
    ResourceRule(
        "deletion-protected",
        "In production the cluster is protected from deletion.",
        cluster.deletion_protected,
        production_only=True,
        parameters=_WHERE,
    ),
    ResourceRule(
        "images-pinned",
        "Images have a digest or an exact tag, and charts a version.",
        pods.images_pinned,
    ),
    ResourceRule(
        "not-privileged",
        "No pod is privileged or in its node's network, unless declared.",
        pods.not_privileged,
    ),
    ResourceRule(
        "buckets-private",
        "No bucket is open to everybody, and who may use one is said in one place.",
        buckets.private,
    ),
    StackRule(
        "quota-within-capacity",
        "Queues give out no more chips of a flavor than its pools have.",
        quota.quota_within_capacity,
    ),
    ResourceRule(
        "pool-in-one-zone",
        "A TPU pool is in exactly one zone.",
        cluster.pool_in_one_zone,
    ),
    ResourceRule(
        "labelled-for-cost",
        "The cluster carries the labels that tell costs apart.",
        cluster.labelled_for_cost,
        level="advisory",
        parameters={LABELS: ("environment",)},
    ),
)
