"""Ray training jobs as resources, and the script that they run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import ConfigMap

from components.gate import WebhookGate
from components.options import child
from components.turn import Turn
from settings.model import TimeoutsSection
from settings.ray_plan import RayJobPlan
from workloads.ray_manifest import SCRIPT, ray_job, script_name, training_script


@dataclass(frozen=True)
class TrainingScriptArgs:
    namespace: str
    after: Sequence[pulumi.Resource]
    """What makes the namespace."""


class TrainingScript(pulumi.ComponentResource):
    """The training program as a ConfigMap, once in each namespace with Ray jobs."""

    config_map: ConfigMap

    def __init__(self, name: str, args: TrainingScriptArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:TrainingScript", name, None, opts)
        self.config_map = ConfigMap(
            f"{name}-script",
            metadata={"name": script_name(), "namespace": args.namespace},
            data={SCRIPT: training_script()},
            immutable=True,
            opts=child(self, args.after),
        )
        self.register_outputs({"name": script_name()})


@dataclass(frozen=True)
class RayTrainingJobArgs:
    job: RayJobPlan
    gate: WebhookGate
    """Kueue's: it is the one that admits RayJobs."""
    turn: Turn
    timeouts: TimeoutsSection
    after: Sequence[pulumi.Resource]
    """The queue, the script, and the jobs that this one follows."""


class RayTrainingJob(pulumi.ComponentResource):
    """One RayJob in the queue. What a user sees of one that follows others is said at MultisliceJob."""

    ray_job: CustomResource

    def __init__(self, name: str, args: RayTrainingJobArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:workload:RayTrainingJob", name, None, opts)
        manifest = ray_job(args.job)
        self.ray_job = CustomResource(
            f"{name}-rayjob",
            api_version=manifest["apiVersion"],
            kind=manifest["kind"],
            metadata=manifest["metadata"],
            spec=manifest["spec"],
            opts=child(
                self,
                args.after,
                args.timeouts.admission,
                args.timeouts.deletion,
                hooks=args.turn.binding(args.gate.binding()),
                # KubeRay starts nothing anew when the spec of a running job changes, and Kueue owns parts of the object from
                # admission on, so that any update would be a conflict: another job is submitted in its place.
                replace_on_changes=["spec", "metadata"],
                delete_before_replace=True,
            ),
        )
        self.register_outputs({"name": args.job.name, "slices": args.job.slices})
