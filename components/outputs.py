"""What a stack tells its user: where things are, and what to type next. No secret among them."""

from __future__ import annotations

from collections.abc import Sequence

import pulumi

from components.cluster import Cluster
from components.slice_pool import SlicePool
from settings.names import is_zone
from settings.plan import FlavorPlan, Plan


def stack_outputs(plan: Plan, cluster: Cluster, pools: Sequence[SlicePool]) -> dict[str, object]:
    """Outputs by name."""
    settings = plan.settings
    return {
        "project": settings.project,
        "location": settings.location,
        "cluster": cluster.name,
        "endpoint": cluster.endpoint,
        "pools": {
            pool.name: f"{pool.shape.machine.name} {pool.shape.topology} in {pool.zone}, {pool.capacity.kind}"
            for pool in plan.pools
        },
        # As GKE reads it back: a pool that was asked for as flex-start and is not one would never get its machines.
        "flex_start": {
            planned.name: made.flex_start
            for planned, made in zip(plan.pools, pools, strict=True)
            if planned.capacity.flex_start
        },
        "chips": plan.chips,
        "queues": {
            queue.cluster_queue: {
                "local_queue": f"{queue.namespace}/{queue.local_queue}",
                "flavors": {flavor.name: _gives(flavor) for flavor in queue.flavors},
            }
            for queue in plan.queues
        },
        "jobs": [*(job.name for job in plan.jobs), *(job.name for job in plan.ray_jobs)],
        "kubeconfig_command": cluster.name.apply(lambda name: kubeconfig_command(plan, name)),
        "watch_commands": watch_commands(plan),
        "next_steps": next_steps(plan),
    }


def _gives(flavor: FlavorPlan) -> str:
    if flavor.shape is not None:
        return f"{flavor.chips} chips"
    quota = dict(flavor.quota)
    return f"{quota['cpu']} cores, {quota['memory']} of memory"


def kubeconfig_command(plan: Plan, cluster: str) -> str:
    """What makes the user's own kubectl speak to the cluster."""
    location = plan.settings.location
    flag = "--zone" if is_zone(location) else "--region"
    return f"gcloud container clusters get-credentials {cluster} {flag} {location} --project {plan.settings.project}"


def watch_commands(plan: Plan) -> list[str]:
    """How to see who is queued, who is admitted and what a job prints."""
    commands = [f"kubectl get workloads -n {name} --watch" for name in dict.fromkeys(q.namespace for q in plan.queues)]
    commands += [f"kubectl describe clusterqueue {queue.cluster_queue}" for queue in plan.queues]
    if plan.jobs:
        job = plan.jobs[0]
        selector = f"jobset.sigs.k8s.io/jobset-name={job.name}"
        commands.append(f"kubectl get jobsets -n {job.namespace}")
        commands.append(f"kubectl logs -n {job.namespace} -l {selector} --prefix --tail 5")
    if plan.ray_jobs:
        ray = plan.ray_jobs[0]
        commands.append(f"kubectl get rayjobs,provisioningrequests -n {ray.namespace}")
        commands.append(f"kubectl logs -n {ray.namespace} job/{ray.name} --tail 20")
    return commands


def next_steps(plan: Plan) -> list[str]:
    labels = ", ".join(f"`kueue.x-k8s.io/queue-name: {q.local_queue}` in namespace {q.namespace}" for q in plan.queues)
    return [
        "Run kubeconfig_command, then any of watch_commands.",
        f"Submit jobs of your own with the label {labels}, "
        "or add them under `workloads` or `ray.jobs` and run `pulumi up`.",
        "`pulumi destroy` removes everything but the enabled APIs; jobs submitted by hand must be deleted first.",
    ]


def export(outputs: dict[str, object]) -> None:
    for name, value in outputs.items():
        pulumi.export(name, value)
