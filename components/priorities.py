"""Classes of jobs, by priority, as resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi_kubernetes.scheduling.v1 import PriorityClass

from components.manifests.queues import priority_class, workload_priority_class
from components.options import child
from settings.schema.stack import TimeoutsSection
from settings.schema.teams import PrioritySection


@dataclass(frozen=True)
class PrioritiesArgs:
    priorities: Sequence[PrioritySection]
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """Kueue, whose kind they are."""


class WorkloadPriorityClass(pulumi.CustomResource):
    """Kueue's kind has no `spec`, and `pulumi_kubernetes.apiextensions.CustomResource` takes nothing else."""

    def __init__(self, name: str, manifest: Mapping[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(f"kubernetes:{manifest['apiVersion']}:{manifest['kind']}", name, dict(manifest), opts)


class Priorities(pulumi.ComponentResource):
    """There before the jobs: Kueue queues no job whose class is missing."""

    classes: dict[str, list[pulumi.Resource]]
    """By name."""

    def __init__(self, name: str, args: PrioritiesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:queue:Priorities", name, None, opts)
        self._name, self._args = name, args
        self.classes = {
            priority.name: [self._of_jobs(priority), *([self._of_pods(priority)] if priority.pods else [])]
            for priority in args.priorities
        }
        self.register_outputs({priority.name: priority.value for priority in args.priorities})

    def _of_jobs(self, priority: PrioritySection) -> WorkloadPriorityClass:
        timeouts = self._args.timeouts
        return WorkloadPriorityClass(
            f"{self._name}-{priority.name}",
            workload_priority_class(priority),
            child(self, self._args.after, timeouts.queues, timeouts.deletion),
        )

    def _of_pods(self, priority: PrioritySection) -> PriorityClass:
        manifest = priority_class(priority)
        return PriorityClass(
            f"{self._name}-{priority.name}-pods",
            metadata=manifest["metadata"],
            value=manifest["value"],
            description=manifest["description"],
            # Kubernetes does not let the value of a class change.
            opts=child(self, self._args.after, replace_on_changes=["value"], delete_before_replace=True),
        )
