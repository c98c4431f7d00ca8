"""How the components follow each other. Every step takes what it needs of earlier ones, so this is the order of
`up`, and backwards that of `destroy`: jobs, queues, Kueue, JobSet, pools, cluster, network."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
import pulumi_gcp
import pulumi_kubernetes

from components.checkpoints import Checkpoints, CheckpointsArgs
from components.cluster import Cluster, ClusterArgs
from components.controllers import ControllerArgs, JobSetController, KubeRay, Kueue
from components.hooks.admission_order import AdmissionOrder, Predecessor
from components.manifests.kubeconfig import kubeconfig_of
from components.monitoring import Monitoring, MonitoringArgs
from components.network import Network, NetworkArgs
from components.node_identity import NodeIdentity, NodeIdentityArgs
from components.priorities import Priorities, PrioritiesArgs
from components.project import ProjectServices
from components.queues import Queues, QueuesArgs
from components.slice_pool import LANES, SlicePool, SlicePoolArgs
from components.teams import Team, TeamArgs, TpuAdmissionPolicies
from settings.plan.borrowing import shares_fairly
from settings.plan.plan import Plan
from settings.plan.ray_jobs import RayJobPlan
from settings.plan.slices import is_autopilot
from settings.schema.field_types import region_of, seconds
from workloads.component import SubmittedJob, SubmittedJobArgs
from workloads.kinds import kind_of
from workloads.pod_files import PodFiles, PodFilesArgs
from workloads.program_files import ProgramFiles
from workloads.submission import Submission
from workloads.training_pod import training_files


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


def create_foundation(plan: Plan, google: pulumi_gcp.Provider) -> Foundation:
    """APIs, network and the nodes' account."""
    settings, opts = plan.settings, pulumi.ResourceOptions(providers=[google])
    services = ProjectServices("services", settings.project, opts)
    region = region_of(settings.location)
    wanted = settings.network if not settings.cluster.existing else None
    network = Network("network", NetworkArgs(settings.cluster.name, settings.project, region, wanted, services), opts)
    identity = NodeIdentity("nodes", NodeIdentityArgs(settings.cluster.name, settings.project, services), opts)
    return Foundation(services, network, identity)


def create_cluster(plan: Plan, base: Foundation, google: pulumi_gcp.Provider) -> Cluster:
    """The control plane and the pool for system pods."""
    args = ClusterArgs(plan.settings, plan.system_zones, base.network, base.identity, base.services)
    return Cluster("cluster", args, pulumi.ResourceOptions(providers=[google]))


def create_slice_pools(plan: Plan, base: Foundation, cluster: Cluster, google: pulumi_gcp.Provider) -> list[SlicePool]:
    """One pool a slice, in LANES lanes: each pool waits for the one LANES places before it."""
    pools: list[SlicePool] = []
    for index, pool in enumerate(plan.pools):
        after = [pools[index - LANES]] if index >= LANES else []
        args = SlicePoolArgs(pool, plan.settings, cluster, base.network, base.identity, base.services, after)
        pools.append(SlicePool(pool.name, args, pulumi.ResourceOptions(providers=[google])))
    return pools


def create_controllers(plan: Plan, cluster: Cluster, kubernetes: pulumi_kubernetes.Provider) -> Controllers:
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
        autopilot=is_autopilot(settings),
        opts=opts,
    )
    return Controllers(jobset, kueue)


def create_queues(
    plan: Plan, controllers: Controllers, pools: list[SlicePool], kubernetes: pulumi_kubernetes.Provider
) -> Queues:
    """Queues come after the pools whose chips they give out, and after the namespaces that they are in."""
    opts, timeouts = pulumi.ResourceOptions(providers=[kubernetes]), plan.settings.timeouts
    kueue = controllers.kueue
    after = [kueue.release, *(pool.pool for pool in pools)]
    fence = TpuAdmissionPolicies("fence", [kueue.release], opts).bindings if plan.teams else []
    teams = {
        team.namespace: Team(f"team-{team.name}", TeamArgs(team, timeouts, fence), opts).namespace
        for team in plan.teams
    }
    return Queues("queue", QueuesArgs(plan.queues, kueue.gate, timeouts, teams, after), opts)


def create_priorities(
    plan: Plan, controllers: Controllers, kubernetes: pulumi_kubernetes.Provider
) -> dict[str, list[pulumi.Resource]]:
    """The classes of jobs, by name."""
    if not plan.settings.priorities:
        return {}
    args = PrioritiesArgs(plan.settings.priorities, plan.settings.timeouts, [controllers.kueue.release])
    return Priorities("priority", args, pulumi.ResourceOptions(providers=[kubernetes])).classes


def create_checkpoints(
    plan: Plan, base: Foundation, cluster: Cluster, google: pulumi_gcp.Provider
) -> Checkpoints | None:
    """The bucket, open to the jobs of every namespace with a queue."""
    if plan.checkpoints is None:
        return None
    args = CheckpointsArgs(plan.checkpoints, plan.settings, plan.namespaces, base.services, cluster)
    return Checkpoints("checkpoints", args, pulumi.ResourceOptions(providers=[google]))


def create_monitoring(plan: Plan, base: Foundation, cluster: Cluster, google: pulumi_gcp.Provider) -> Monitoring | None:
    """The dashboard, where there is to be one."""
    if not plan.settings.monitoring.dashboard:
        return None
    args = MonitoringArgs(plan, base.services, cluster)
    return Monitoring("monitoring", args, pulumi.ResourceOptions(providers=[google]))


def create_pod_files(
    plan: Plan, queues: Queues, checkpoints: Checkpoints | None, kubernetes: pulumi_kubernetes.Provider
) -> dict[str, list[pulumi.Resource]]:
    """By namespace: what the pods of its jobs cannot start without."""
    opts, made = pulumi.ResourceOptions(providers=[kubernetes]), dict[str, list[pulumi.Resource]]()
    for namespace in plan.namespaces:
        code = _program_files(plan, namespace)
        made[namespace] = [checkpoints.members[namespace]] if checkpoints is not None else []
        if code or checkpoints is not None:
            args = PodFilesArgs(namespace, code, checkpoints is not None, queues.in_namespace(namespace))
            made[namespace] += PodFiles(f"files-{namespace}", args, opts).made
    return made


def _program_files(plan: Plan, namespace: str) -> list[ProgramFiles]:
    """The packages that jobs of a namespace take from ConfigMaps, each once."""
    jobs = [job for job in plan.jobs if job.namespace == namespace]
    trains = any(job.training is not None and not job.training.code_in_image for job in jobs)
    own = {files.package: files for job in jobs for files in kind_of(job).files(job)}
    return [*([training_files()] if trains else []), *own.values()]


def submit_jobs(
    plan: Plan,
    cluster: Cluster,
    controllers: Controllers,
    queues: Queues,
    checkpoints: Checkpoints | None,
    kubernetes: pulumi_kubernetes.Provider,
) -> None:
    """Each job after those its `after` names have been admitted. The plan's jobs are in such an order already."""
    opts, timeouts = pulumi.ResourceOptions(providers=[kubernetes]), plan.settings.timeouts
    kubeconfig, jobs = kubeconfig_of(cluster), dict[str, pulumi.Resource]()
    classes = create_priorities(plan, controllers, kubernetes)
    files = create_pod_files(plan, queues, checkpoints, kubernetes)

    kinds = {job.name: job.kind.kind for job in plan.jobs}
    webhooks = {"jobset": controllers.jobset.gate, "kueue": controllers.kueue.gate}
    for job in plan.jobs:
        predecessors = [Predecessor(kinds[name], job.namespace, name) for name in job.after]
        admission_order = AdmissionOrder(job.name, predecessors, kubeconfig, seconds(timeouts.admission))
        queue = queues.local_queues[job.namespace, job.queue]
        priority = classes[job.priority.name] if job.priority is not None else []
        after = [queue, *priority, *files[job.namespace], *(jobs[name] for name in job.after)]
        submission = Submission(webhooks[kind_of(job).webhook], admission_order, timeouts, after)
        # When GKE's add-on is switched off, its resource definitions go, and with them every RayJob: another operator means
        # another submission of what the engine takes for unchanged.
        operator = plan.settings.ray.operator if isinstance(job, RayJobPlan) else None
        jobs[job.name] = SubmittedJob(job.name, SubmittedJobArgs(job, submission, operator), opts).resource
