"""Kueue's objects as resources: flavors, the cluster queue and the local queue, in the order they need each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Namespace

from components.gate import WebhookGate
from components.options import child
from components.queue_manifests import cluster_queue, local_queue, resource_flavor
from settings.model import TimeoutsSection
from settings.plan import QueuePlan

UNTIL_ACTIVE = {"pulumi.com/waitFor": "condition=Active"}
"""The Kubernetes provider waits for this condition. A queue over a missing flavor is created without an error and
stays inactive; so `up` fails, with Kueue's reason, instead of every job pending for ever."""


@dataclass(frozen=True)
class QueuesArgs:
    queue: QueuePlan
    gate: WebhookGate
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """Kueue, and the pools: a queue that admits jobs for slices that could not be had would leave them waiting."""


class Queues(pulumi.ComponentResource):
    """Deleted in the opposite order: a ClusterQueue stays `resource-in-use` while a workload holds quota, and a
    flavor while a queue names it, so the local queue goes first and nothing new can come in."""

    local_queue: CustomResource
    cluster_queue: CustomResource
    flavors: list[CustomResource]

    def __init__(self, name: str, args: QueuesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:queue:Queues", name, None, opts)
        queue = args.queue
        self.flavors = [
            self._object(f"{name}-{flavor.name}", resource_flavor(flavor), args, args.after) for flavor in queue.flavors
        ]
        self.cluster_queue = self._object(
            f"{name}-{queue.cluster_queue}", _awaited(cluster_queue(queue)), args, self.flavors
        )
        self.local_queue = self._object(
            f"{name}-{queue.local_queue}",
            _awaited(local_queue(queue)),
            args,
            [self.cluster_queue, *self._namespace(name, args)],
        )
        self.register_outputs({"cluster_queue": queue.cluster_queue, "local_queue": queue.local_queue})

    def _object(
        self, name: str, manifest: Mapping[str, Any], args: QueuesArgs, after: Sequence[pulumi.Resource]
    ) -> CustomResource:
        return CustomResource(
            name,
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=child(self, after, args.timeouts.queues, args.timeouts.deletion, hooks=args.gate.binding()),
        )

    def _namespace(self, name: str, args: QueuesArgs) -> list[pulumi.Resource]:
        """`default` is always there; any other namespace is ours to make."""
        if args.queue.namespace == "default":
            return []
        metadata = {"name": args.queue.namespace}
        return [
            Namespace(
                f"{name}-namespace", metadata=metadata, opts=child(self, args.after, None, args.timeouts.deletion)
            )
        ]


def _awaited(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": UNTIL_ACTIVE}}
