"""What a stack tells its user: where things are, and what to type next. No secret among them."""

from __future__ import annotations

import pulumi

from components.cluster import Cluster
from settings.names import is_zone
from settings.plan import Plan


def stack_outputs(plan: Plan, cluster: Cluster) -> dict[str, object]:
    """Outputs by name."""
    settings, queue = plan.settings, plan.queue
    return {
        "project": settings.project,
        "location": settings.location,
        "cluster": cluster.name,
        "endpoint": cluster.endpoint,
        "pools": {pool.name: f"{pool.shape.machine.name} {pool.shape.topology} in {pool.zone}" for pool in plan.pools},
        "chips": sum(pool.shape.chips for pool in plan.pools),
        "queues": {
            "cluster_queue": queue.cluster_queue,
            "local_queue": f"{queue.namespace}/{queue.local_queue}",
            "flavors": {flavor.name: f"{flavor.chips} chips" for flavor in queue.flavors},
        },
        "jobs": [job.name for job in plan.jobs],
        "kubeconfig_command": cluster.name.apply(lambda name: kubeconfig_command(plan, name)),
        "watch_commands": watch_commands(plan),
        "next_steps": next_steps(plan),
    }


def kubeconfig_command(plan: Plan, cluster: str) -> str:
    """What makes the user's own kubectl speak to the cluster."""
    location = plan.settings.location
    flag = "--zone" if is_zone(location) else "--region"
    return f"gcloud container clusters get-credentials {cluster} {flag} {location} --project {plan.settings.project}"


def watch_commands(plan: Plan) -> list[str]:
    """How to see who is queued, who is admitted and what a job prints."""
    namespace = plan.queue.namespace
    commands = [
        f"kubectl get workloads -n {namespace} --watch",
        f"kubectl get jobsets -n {namespace}",
        f"kubectl describe clusterqueue {plan.queue.cluster_queue}",
    ]
    if plan.jobs:
        selector = f"jobset.sigs.k8s.io/jobset-name={plan.jobs[0].name}"
        commands.append(f"kubectl logs -n {namespace} -l {selector} --prefix --tail 5")
    return commands


def next_steps(plan: Plan) -> list[str]:
    label = f"kueue.x-k8s.io/queue-name: {plan.queue.local_queue}"
    return [
        "Run kubeconfig_command, then any of watch_commands.",
        f"Submit jobs of your own with the label `{label}` in namespace {plan.queue.namespace}, "
        "or add them under `workloads` and run `pulumi up`.",
        "`pulumi destroy` removes everything but the enabled APIs; jobs submitted by hand must be deleted first.",
    ]


def export(outputs: dict[str, object]) -> None:
    for name, value in outputs.items():
        pulumi.export(name, value)
