"""How the components follow each other. Every step takes what it needs of earlier ones, so this is the order of
`up`, and backwards that of `destroy`: jobs, queues, Kueue, JobSet, pools, cluster, network."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp
import pulumi_kubernetes

from components.cluster import Cluster, ClusterArgs
from components.controllers import ControllerArgs, JobSetController, KubeRay, Kueue
from components.gate import WebhookGate
from components.kubeconfig import kubeconfig_of
from components.network import Network, NetworkArgs
from components.node_identity import NodeIdentity, NodeIdentityArgs
from components.priorities import Priorities, PrioritiesArgs
from components.project import ProjectServices
from components.queues import Queues, QueuesArgs
from components.slice_pool import LANES, SlicePool, SlicePoolArgs
from components.teams import QueueFence, Team, TeamArgs
from components.turn import Followed, Turn
from settings.names import region_of, seconds
from settings.plan import JobPlan, Plan, RayJobPlan
from settings.sharing import shares_fairly
from workloads.multislice import MultisliceJob, MultisliceJobArgs
from workloads.pod_files import PodFiles, PodFilesArgs
from workloads.ray_job import RayTrainingJob, RayTrainingJobArgs
from workloads.ray_manifest import ray_code
from workloads.submission import Submission


@dataclass(frozen=True)
class Foundation:
    """What a cluster and its pools stand on."""

    services: ProjectServices
    network: Network
    identity: NodeIdentity


@dataclass(frozen=True)
class Controllers:
    jobset: JobSetController
    kueue: Kueue


def foundation(plan: Plan, google: pulumi_gcp.Provider) -> Foundation:
    """APIs, network and the nodes' account."""
    settings, opts = plan.settings, pulumi.ResourceOptions(providers=[google])
    services = ProjectServices("services", settings.project, opts)
    region = region_of(settings.location)
    wanted = settings.network if not settings.cluster.existing else None
    network = Network("network", NetworkArgs(settings.cluster.name, settings.project, region, wanted, services), opts)
    identity = NodeIdentity("nodes", NodeIdentityArgs(settings.cluster.name, settings.project, services), opts)
    return Foundation(services, network, identity)


def cluster_on(plan: Plan, base: Foundation, google: pulumi_gcp.Provider) -> Cluster:
    """The control plane and the pool for system pods."""
    args = ClusterArgs(plan.settings, plan.system_zones, base.network, base.identity, base.services)
    return Cluster("cluster", args, pulumi.ResourceOptions(providers=[google]))


def slice_pools(plan: Plan, base: Foundation, cluster: Cluster, google: pulumi_gcp.Provider) -> list[SlicePool]:
    """One pool a slice, in LANES lanes: each pool waits for the one LANES places before it."""
    pools: list[SlicePool] = []
    for index, pool in enumerate(plan.pools):
        after = [pools[index - LANES]] if index >= LANES else []
        args = SlicePoolArgs(pool, plan.settings, cluster, base.network, base.identity, base.services, after)
        pools.append(SlicePool(pool.name, args, pulumi.ResourceOptions(providers=[google])))
    return pools


def controllers_on(plan: Plan, cluster: Cluster, kubernetes: pulumi_kubernetes.Provider) -> Controllers:
    """JobSet and KubeRay first: Kueue registers the kinds of jobs that are there when it starts. All need a node to run on."""
    opts = pulumi.ResourceOptions(providers=[kubernetes])
    kubeconfig, settings = kubeconfig_of(cluster), plan.settings

    def args(chart: str, *after: pulumi.Resource) -> ControllerArgs:
        return ControllerArgs(chart, kubeconfig, settings.timeouts, [*cluster.system_nodes, *after])

    jobset = JobSetController("jobset", args(settings.charts.jobset), opts)
    earlier = [jobset.release]
    if settings.ray.operator == "helm":
        earlier.append(KubeRay("kuberay", args(settings.charts.kuberay), settings.ray, opts).release)
    kueue_args = args(settings.charts.kueue, *earlier)
    kueue = Kueue(
        "kueue",
        kueue_args,
        settings.kueue,
        ray=settings.ray.here,
        fair_sharing=shares_fairly(settings),
        opts=opts,
    )
    return Controllers(jobset, kueue)


def queues_over(
    plan: Plan, controllers: Controllers, pools: list[SlicePool], kubernetes: pulumi_kubernetes.Provider
) -> Queues:
    """Queues come after the pools whose chips they give out, and after the namespaces that they are in."""
    opts, timeouts = pulumi.ResourceOptions(providers=[kubernetes]), plan.settings.timeouts
    kueue = controllers.kueue
    after = [kueue.release, *(pool.pool for pool in pools)]
    fence = QueueFence("fence", [kueue.release], opts).bindings if plan.teams else []
    teams = {
        team.namespace: Team(f"team-{team.name}", TeamArgs(team, timeouts, fence), opts).namespace
        for team in plan.teams
    }
    return Queues("queue", QueuesArgs(plan.queues, kueue.gate, timeouts, teams, after), opts)


def priorities_of(
    plan: Plan, controllers: Controllers, kubernetes: pulumi_kubernetes.Provider
) -> dict[str, list[pulumi.Resource]]:
    """The classes of jobs, by name."""
    if not plan.settings.priorities:
        return {}
    args = PrioritiesArgs(plan.settings.priorities, plan.settings.timeouts, [controllers.kueue.release])
    return Priorities("priority", args, pulumi.ResourceOptions(providers=[kubernetes])).classes


def submit_jobs(
    plan: Plan, cluster: Cluster, controllers: Controllers, queues: Queues, kubernetes: pulumi_kubernetes.Provider
) -> None:
    """Each job after those its `after` names have been admitted. The plan's jobs are in such an order already."""
    opts, timeouts = pulumi.ResourceOptions(providers=[kubernetes]), plan.settings.timeouts
    kubeconfig, jobs = kubeconfig_of(cluster), dict[str, pulumi.Resource]()
    classes = priorities_of(plan, controllers, kubernetes)

    def submission(kind: str, job: JobPlan | RayJobPlan, gate: WebhookGate, *further: pulumi.Resource) -> Submission:
        followed = [Followed(kind, job.namespace, name) for name in job.after]
        turn = Turn(job.name, followed, kubeconfig, seconds(timeouts.admission))
        queue = queues.local_queues[job.namespace, job.queue]
        priority = classes[job.priority.name] if job.priority is not None else []
        after = [queue, *priority, *further, *(jobs[name] for name in job.after)]
        return Submission(gate, turn, timeouts, after)

    for job in plan.jobs:
        args = MultisliceJobArgs(job, submission("JobSet", job, controllers.jobset.gate))
        jobs[job.name] = MultisliceJob(job.name, args, opts).jobset
    files: dict[str, PodFiles] = {}
    for ray in plan.ray_jobs:
        if ray.namespace not in files:
            home = [queues.local_queues[ray.namespace, ray.queue]]
            files[ray.namespace] = PodFiles(
                f"ray-{ray.namespace}", PodFilesArgs(ray.namespace, [ray_code()], False, home), opts
            )
        ray_args = RayTrainingJobArgs(
            ray, submission("RayJob", ray, controllers.kueue.gate, *files[ray.namespace].made)
        )
        jobs[ray.name] = RayTrainingJob(ray.name, ray_args, opts).ray_job
