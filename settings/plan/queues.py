"""Queues and flavors: the quota of each, and the labels that identify its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from settings.catalogue.accelerators import SliceShape
from settings.catalogue.capacity import CAPACITIES
from settings.catalogue.labels import DEFAULT_POOL, FLAVOR_LABEL, NODEPOOL_LABEL, TPU_RESOURCE
from settings.plan.autopilot_labels import autopilot_labels
from settings.plan.borrowing import TEAMS, UNLIMITED, nominal_quota
from settings.plan.slices import is_autopilot
from settings.plan.system_quota import cpu_flavor_name, cpu_quota
from settings.schema.stack import QueueSection, RetrySection, Settings, SliceSection
from settings.schema.teams import LimitSection, PreemptionSection, RoomSection, TeamSection

COVERED = (TPU_RESOURCE, "cpu", "memory")
"""What the queues have quota for. A job whose pods request anything that its queue does not cover stays pending."""


@dataclass(frozen=True)
class CheckPlan:
    """The admission check of a flavor whose nodes come by queued provisioning."""

    name: str
    config: str
    topology: str
    retry: RetrySection


@dataclass(frozen=True)
class FlavorPlan:
    """One kind of node in a queue. The quota counts what jobs may use at a time, by resource."""

    name: str
    labels: tuple[tuple[str, str], ...]
    shape: SliceShape | None
    """None: nodes without chips."""
    pools: tuple[str, ...]
    quota: tuple[tuple[str, str], ...]
    check: CheckPlan | None = None
    borrow: tuple[tuple[str, str], ...] | None = None
    """The most to borrow beside the quota, by resource; None: no limit, or no cohort."""
    lend: tuple[tuple[str, str], ...] | None = None

    @property
    def chips(self) -> int:
        return int(dict(self.quota)[TPU_RESOURCE])


@dataclass(frozen=True)
class QueuePlan:
    cluster_queue: str
    local_queue: str
    namespace: str
    strategy: str
    flavors: tuple[FlavorPlan, ...]
    """In the order in which Kueue tries them."""
    cohort: str | None = None
    preemption: PreemptionSection | None = None
    weight: int | None = None
    """For fair sharing; None: Kueue's own, 1."""
    team: str | None = None
    """Whose queue it is: no other namespace than the team's may use it."""


def queue_plans(settings: Settings) -> tuple[QueuePlan, ...]:
    """The queues of the stack file, then those of the teams."""
    return (
        *(_queue(queue, settings) for queue in settings.queues),
        *(_team_queue(team, settings) for team in settings.teams),
    )


def _queue(queue: QueueSection, settings: Settings) -> QueuePlan:
    flavors = [
        _flavor(section, settings, nominal_quota(section, settings), queue.limits.get(section.flavor, UNLIMITED))
        for section in sections_of(queue, settings)
    ]
    return QueuePlan(
        queue.cluster_queue,
        queue.local_queue,
        queue.namespace,
        queue.strategy,
        (*_cpu_flavors(queue.cpu, settings), *flavors),
        queue.cohort,
        queue.preemption,
    )


def _team_queue(team: TeamSection, settings: Settings) -> QueuePlan:
    by_name = {section.flavor: section for section in settings.slices}
    flavors = [_flavor(by_name[name], settings, part.chips, part) for name, part in team.flavors.items()]
    return QueuePlan(
        cluster_queue=team.name,
        local_queue=team.name,
        namespace=team.home,
        strategy="BestEffortFIFO",
        flavors=(*_cpu_flavors(team.cpu, settings), *flavors),
        cohort=TEAMS,
        preemption=team.preemption,
        weight=team.weight,
        team=team.name,
    )


def sections_of(queue: QueueSection | TeamSection, settings: Settings) -> list[SliceSection]:
    """The slices that a queue or a team offers, in the order in which Kueue tries them."""
    if queue.flavors is None:
        return list(settings.slices)
    by_name = {section.flavor: section for section in settings.slices}
    return [by_name[name] for name in queue.flavors if name in by_name]


def offering_queue(flavor: str, settings: Settings) -> QueueSection | None:
    """The queue that offers a flavor: the rules allow one at most, and none only where teams have all of it."""
    return next(
        (queue for queue in settings.queues if flavor in (section.flavor for section in sections_of(queue, settings))),
        None,
    )


def node_labels(section: SliceSection, settings: Settings) -> dict[str, str]:
    """The labels that distinguish a flavor's nodes from all others: GKE's labels of the shape; if another flavor has the same
    shape, also the pool's name for a single pool, or a label of our own for several.

    Always those of the shape: Kueue looks at what a job selects as far as any flavor of the queue has such a label, and passes
    over the flavors that lack it (`flavorSelector` in its `flavorassigner.go`).
    """
    shape = section.shape
    if is_autopilot(settings):
        return {**shape.node_labels, **autopilot_labels(section)}
    alike = [other for other in settings.slices if other.shape == shape]
    if len(alike) == 1:
        return shape.node_labels
    if len(section.pools) == 1:
        return {**shape.node_labels, NODEPOOL_LABEL: section.pools[0]}
    return {**shape.node_labels, FLAVOR_LABEL: section.flavor}


def _flavor(section: SliceSection, settings: Settings, chips: int, limit: LimitSection) -> FlavorPlan:
    shape, check = section.shape, None
    if CAPACITIES[section.capacity].queued:
        retry = section.retry if section.retry is not None else RetrySection()
        check = CheckPlan(f"{section.flavor}-prov", f"{section.flavor}-config", shape.topology, retry)
    labels = tuple(node_labels(section, settings).items())
    return FlavorPlan(
        section.flavor,
        labels,
        shape,
        tuple(section.pools),
        amounts(chips, shape),
        check,
        amounts(limit.borrow, shape) if limit.borrow is not None else None,
        amounts(limit.lend, shape) if limit.lend is not None else None,
    )


def _cpu_flavors(part: RoomSection | None, settings: Settings) -> list[FlavorPlan]:
    """The nodes for system pods, for a queue that has a part of them."""
    if part is None:
        return []
    name, room = cpu_flavor_name(settings), cpu_quota(part, settings)
    quota = ((TPU_RESOURCE, "0"), ("cpu", cores(room.millicores)), ("memory", memory(room.mib)))
    if is_autopilot(settings):
        return [FlavorPlan(name, (), None, (), quota)]
    return [FlavorPlan(name, ((NODEPOOL_LABEL, DEFAULT_POOL),), None, (DEFAULT_POOL,), quota)]


def amounts(chips: int, shape: SliceShape) -> tuple[tuple[str, str], ...]:
    """Chips, and the cores and memory of their hosts.

    cpu and memory are covered beside the chips, as the machines' sizes, so that chips are always what runs out first.
    Quantities are text in Kubernetes' own canonical form: any other form comes back changed and shows up as a difference.
    """
    hosts = chips // shape.machine.chips
    return (
        (TPU_RESOURCE, str(chips)),
        ("cpu", str(hosts * shape.machine.vcpus)),
        ("memory", memory(hosts * shape.machine.memory_gb * 1024)),
    )


def memory(mib: int) -> str:
    """MiB as Kubernetes writes them, in the largest unit that they are a whole number of: `768Gi`, `1Ti`."""
    for unit, size in (("Ti", 1024 * 1024), ("Gi", 1024)):
        if mib and mib % size == 0:
            return f"{mib // size}{unit}"
    return f"{mib}Mi" if mib else "0"


def cores(millicores: int) -> str:
    """`2500` -> 2500m, `2000` -> 2."""
    return str(millicores // 1000) if millicores % 1000 == 0 else f"{millicores}m"
