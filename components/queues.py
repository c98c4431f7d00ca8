"""Kueue's objects as resources: flavors, checks, cluster queues and local queues, in the order they need each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Namespace

from components.hooks.webhook_ready import WebhookGate
from components.manifests.queues import (
    admission_check,
    cluster_queue,
    local_queue,
    provisioning_config,
    resource_flavor,
)
from components.options import child
from settings.plan.queues import FlavorPlan, QueuePlan
from settings.schema.stack import TimeoutsSection

DEFAULT_NAMESPACE = "default"
UNTIL_ACTIVE = {"pulumi.com/waitFor": "condition=Active"}
"""The Kubernetes provider waits for this condition. A queue over a missing flavor is created without an error and
stays inactive; so `up` fails, with Kueue's reason, instead of every job pending for ever."""


@dataclass(frozen=True)
class QueuesArgs:
    queues: Sequence[QueuePlan]
    gate: WebhookGate
    timeouts: TimeoutsSection
    team_namespaces: Mapping[str, pulumi.Resource]
    """By name: made with their teams, not here."""
    after: Sequence[pulumi.Resource]
    """Kueue, and the pools: a queue that admits jobs for slices that could not be had would leave them waiting."""


class Queues(pulumi.ComponentResource):
    """All queues, those of the teams too: one flavor is one object, whoever gives it out.

    Deleted in the opposite order: a ClusterQueue stays `resource-in-use` while a workload holds quota, and a
    flavor or a check while a queue names it, so the local queues go first and nothing new can come in."""

    local_queues: dict[tuple[str, str], CustomResource]
    """By namespace and name."""

    def __init__(self, name: str, args: QueuesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:queue:Queues", name, None, opts)
        self._name, self._args = name, args
        namespaces = self._namespaces()
        self.local_queues = {}
        by_name = {flavor.name: flavor for queue in args.queues for flavor in queue.flavors}
        made = {name: self._flavor(flavor) for name, flavor in by_name.items()}
        for queue in args.queues:
            parts = [part for flavor in queue.flavors for part in made[flavor.name]]
            whole = self._object(queue.cluster_queue, _awaited(cluster_queue(queue)), parts)
            self.local_queues[queue.namespace, queue.local_queue] = self._object(
                resource_name(queue),
                _awaited(local_queue(queue)),
                [whole, *namespaces.get(queue.namespace, [])],
            )
        self.register_outputs({queue.cluster_queue: f"{queue.namespace}/{queue.local_queue}" for queue in args.queues})

    def in_namespace(self, namespace: str) -> list[pulumi.Resource]:
        """The local queues of a namespace: what waits for them finds the namespace too."""
        return [queue for (of, _), queue in self.local_queues.items() if of == namespace]

    def _flavor(self, flavor: FlavorPlan) -> list[pulumi.Resource]:
        """The flavor, and what brings its nodes when they are asked for by request."""
        found: list[pulumi.Resource] = [self._object(flavor.name, resource_flavor(flavor), self._args.after)]
        if flavor.check is not None:
            config = self._object(flavor.check.config, provisioning_config(flavor.check), self._args.after)
            found.append(self._object(flavor.check.name, _awaited(admission_check(flavor.check)), [config]))
        return found

    def _object(
        self,
        name: str,
        manifest: Mapping[str, Any],
        after: Sequence[pulumi.Resource],
    ) -> CustomResource:
        timeouts = self._args.timeouts
        options = child(self, after, timeouts.queues, timeouts.deletion, hooks=self._args.gate.binding())
        return CustomResource(
            f"{self._name}-{name}",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=options,
        )

    def _namespaces(self) -> dict[str, list[pulumi.Resource]]:
        """`default` is always there and a team's is made; any other namespace is ours to make, once."""
        there = {DEFAULT_NAMESPACE, *self._args.team_namespaces}
        wanted = dict.fromkeys(queue.namespace for queue in self._args.queues if queue.namespace not in there)
        teams = {name: [namespace] for name, namespace in self._args.team_namespaces.items()}
        return teams | {
            namespace: [
                Namespace(
                    f"{self._name}-{namespace}-namespace",
                    metadata={"name": namespace},
                    opts=child(self, self._args.after, None, self._args.timeouts.deletion),
                )
            ]
            for namespace in wanted
        }


def resource_name(queue: QueuePlan) -> str:
    """Of a local queue, whose name is its own in its namespace only. It depends on no other queue of the stack: one that came or
    went would otherwise rename this one. No namespace and no queue has a `/` in its name."""
    return queue.local_queue if queue.namespace == DEFAULT_NAMESPACE else f"{queue.namespace}/{queue.local_queue}"


def _awaited(manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "annotations": UNTIL_ACTIVE}}
