"""How the components follow each other. Every step takes what it needs of earlier ones, so this is the order of
`up`, and backwards that of `destroy`: jobs, queues, Kueue, JobSet, pools, cluster, network."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp
import pulumi_kubernetes

from components.cluster import Cluster, ClusterArgs
from components.controllers import ControllerArgs, JobSetController, KubeRay, Kueue
from components.kubeconfig import kubeconfig_of
from components.network import Network, NetworkArgs
from components.node_identity import NodeIdentity, NodeIdentityArgs
from components.project import ProjectServices
from components.queues import Queues, QueuesArgs
from components.slice_pool import LANES, SlicePool, SlicePoolArgs
from components.turn import Followed, Turn
from settings.names import region_of, seconds
from settings.plan import JobPlan, Plan, RayJobPlan
from workloads.multislice import MultisliceJob, MultisliceJobArgs
from workloads.ray_job import RayTrainingJob, RayTrainingJobArgs, TrainingScript, TrainingScriptArgs


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
    network = Network(
        "network", NetworkArgs(settings.cluster.name, settings.project, region, settings.network, services), opts
    )
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
        return ControllerArgs(chart, kubeconfig, settings.timeouts, [*cluster.nodes, *after])

    jobset = JobSetController("jobset", args(settings.charts.jobset), opts)
    earlier = [jobset.release]
    if settings.ray.operator == "helm":
        earlier.append(KubeRay("kuberay", args(settings.charts.kuberay), settings.ray, opts).release)
    kueue_args = args(settings.charts.kueue, *earlier)
    kueue = Kueue("kueue", kueue_args, settings.kueue, ray=settings.ray.here, opts=opts)
    return Controllers(jobset, kueue)


def queues_over(
    plan: Plan, controllers: Controllers, pools: list[SlicePool], kubernetes: pulumi_kubernetes.Provider
) -> Queues:
    """Queues come after the pools whose chips they give out."""
    after = [controllers.kueue.release, *(pool.pool for pool in pools)]
    args = QueuesArgs(plan.queues, controllers.kueue.gate, plan.settings.timeouts, after)
    return Queues("queue", args, pulumi.ResourceOptions(providers=[kubernetes]))


def submit_jobs(
    plan: Plan, cluster: Cluster, controllers: Controllers, queues: Queues, kubernetes: pulumi_kubernetes.Provider
) -> None:
    """Each job after those its `after` names have been admitted. The plan's jobs are in such an order already."""
    opts, timeouts = pulumi.ResourceOptions(providers=[kubernetes]), plan.settings.timeouts
    kubeconfig, jobs = kubeconfig_of(cluster), dict[str, pulumi.Resource]()

    def turn(kind: str, job: JobPlan | RayJobPlan) -> Turn:
        followed = [Followed(kind, job.namespace, name) for name in job.after]
        return Turn(job.name, followed, kubeconfig, seconds(timeouts.admission))

    for job in plan.jobs:
        after = [queues.local_queues[job.namespace, job.queue], *(jobs[name] for name in job.after)]
        args = MultisliceJobArgs(job, controllers.jobset.gate, turn("JobSet", job), timeouts, after)
        jobs[job.name] = MultisliceJob(job.name, args, opts).jobset
    scripts: dict[str, TrainingScript] = {}
    for ray in plan.ray_jobs:
        queue = queues.local_queues[ray.namespace, ray.queue]
        if ray.namespace not in scripts:
            name = f"ray-{ray.namespace}"
            scripts[ray.namespace] = TrainingScript(name, TrainingScriptArgs(ray.namespace, [queue]), opts)
        after = [queue, scripts[ray.namespace].config_map, *(jobs[name] for name in ray.after)]
        ray_args = RayTrainingJobArgs(ray, controllers.kueue.gate, turn("RayJob", ray), timeouts, after)
        jobs[ray.name] = RayTrainingJob(ray.name, ray_args, opts).ray_job
