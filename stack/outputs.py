"""What a stack tells its user: where things are, and what to type next. No secret among them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pulumi

from components.cluster import Cluster
from components.monitoring import Monitoring
from components.slice_pool import SlicePool
from settings.catalogue.labels import QUEUE_LABEL
from settings.plan.cost import HOURS_A_DAY, Amount, Cost, JobAmount, cost_of
from settings.plan.jobs import SliceJob
from settings.plan.plan import FlavorPlan, Plan
from settings.schema.field_types import is_zone
from workloads.checkpoint_volume import checkpoint_address
from workloads.kinds import kind_of


def stack_outputs(
    plan: Plan, cluster: Cluster, pools: Sequence[SlicePool], monitoring: Monitoring | None
) -> dict[str, object]:
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
        "cost": cost_output(cost_of(plan)),
        "queues": {
            queue.cluster_queue: {
                "local_queue": f"{queue.namespace}/{queue.local_queue}",
                "flavors": {flavor.name: _gives(flavor) for flavor in queue.flavors},
            }
            for queue in plan.queues
        },
        "checkpoints": checkpoints_output(plan),
        **({"dashboard": monitoring.address} if monitoring is not None else {}),
        "jobs": [job.name for job in plan.jobs],
        "kubeconfig_command": cluster.name.apply(lambda name: kubeconfig_command(plan, name)),
        "watch_commands": watch_commands(plan),
        "next_steps": next_steps(plan),
    }


def checkpoints_output(plan: Plan) -> dict[str, str]:
    """Each training job's folder in the bucket, by the job's name."""
    folders = {
        job.name: checkpoint_address(job.training.bucket, job.namespace, job.name)
        for job in plan.of(SliceJob)
        if job.training is not None and job.training.bucket is not None
    }
    return {"bucket": f"gs://{plan.checkpoints.bucket}", **folders} if plan.checkpoints is not None else {}


def cost_output(cost: Cost) -> dict[str, object]:
    """Chips, hosts and chip-hours, and money where there are prices: numbers with two decimals, as text."""
    return {
        "currency": cost.currency,
        "at_minimum": _amount(cost.minimum),
        "at_full_scale": _amount(cost.full),
        "jobs": {job.name: _job_amount(job) for job in cost.jobs},
        "without_a_price": [str(kind) for kind in cost.unpriced],
    }


def _amount(amount: Amount) -> dict[str, object]:
    found: dict[str, object] = {"chips": amount.chips, "hosts": amount.hosts}
    found["chip_hours_a_day"] = amount.chips * HOURS_A_DAY
    if amount.hourly is not None:
        found |= {"an_hour": money(amount.hourly), "a_day": money(amount.hourly * HOURS_A_DAY)}
    return found


def _job_amount(job: JobAmount) -> dict[str, object]:
    found: dict[str, object] = {"chips": job.chips, "hosts": job.hosts, "chip_hours_an_hour": job.chips}
    if job.least is not None and job.most is not None:
        found |= {"an_hour_at_least": money(job.least), "an_hour_at_most": money(job.most)}
    if job.longest_hours is not None:
        found["chip_hours_at_most"] = float(job.longest_hours * job.chips)
    return found


def money(amount: Decimal) -> str:
    return f"{amount:.2f}"


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
    for kind in dict.fromkeys(type(job) for job in plan.jobs):
        first = plan.of(kind)[0]
        commands += kind_of(first).commands(first)
    return commands


def next_steps(plan: Plan) -> list[str]:
    """A line each, short enough for the engine, which cuts text of more than 150 characters when it prints outputs."""
    return [
        "Run kubeconfig_command, then any of watch_commands.",
        *(
            f"Submit jobs to namespace {queue.namespace} with the label `{QUEUE_LABEL}: {queue.local_queue}`."
            for queue in plan.queues
        ),
        "Or add them under `workloads` or `ray.jobs` and run `pulumi up`.",
        "`pulumi destroy` removes everything but the enabled APIs; jobs submitted by hand must be deleted first.",
    ]


def export(outputs: dict[str, object]) -> None:
    for name, value in outputs.items():
        pulumi.export(name, value)
