"""The promises of a platform's jobs, derived from its plan, and whether they held. Pure: rows of the timeline in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from operations.jobs.timeline import JobLine
from settings.plan.jobs import Job, SliceJob
from settings.plan.plan import Plan
from settings.plan.queues import FlavorPlan, QueuePlan
from settings.plan.ray_jobs import RayJobPlan


@dataclass(frozen=True)
class Expectation:
    """Something that the program's order and the queue promise, and whether it held; None where nobody saw it."""

    text: str
    held: bool | None


def expectations_of(plan: Plan, lines: Sequence[JobLine]) -> list[Expectation]:
    """All promises of a plan's jobs. `lines` has a row for each of them."""
    by_name = {line.name: line for line in lines}
    made = [Expectation(f"{line.name} succeeded", line.succeeded) for line in lines]
    made += [Expectation(_own_pools_text(line), own_pools(line) if seen(line) else None) for line in lines]
    jobs = {job.name: job for job in plan.of(SliceJob) if _in_turn(plan, job)}
    chips = {name: job.slices * job.shape.chips for name, job in jobs.items()}
    after = {name: [other for other in job.after if other in jobs] for name, job in jobs.items()}
    flavors = {name: _flavor_of(plan, job) for name, job in jobs.items()}
    made += _turns(after, chips, flavors, by_name)
    for job in plan.of(RayJobPlan):
        made += _ray(plan, job, by_name)
    for each in plan.jobs:
        made += _from_logs(each, by_name[each.name])
    return made


def seen(line: JobLine) -> bool:
    """Whether it can be known where a job ran: the pods of a Ray job go when it succeeds, and so does where they were when
    nothing followed it (an `up` that was interrupted before)."""
    return bool(line.slices) or not line.succeeded


def _own_pools_text(line: JobLine) -> str:
    each = "its slice" if line.wanted == 1 else f"each of its {line.wanted} slices"
    return f"{line.name}: {each} had a pool of its own"


def _in_turn(plan: Plan, job: SliceJob) -> bool:
    """Whether a job's turn follows from its order and the quota alone: not where it can fall to another flavor, borrow or
    be lent, evict or be evicted, or where Ray jobs take from the same flavor."""
    queue = queue_of(plan, job.queue, job.namespace)
    rays = [other for other in plan.of(RayJobPlan) if (other.queue, other.namespace) == (job.queue, job.namespace)]
    disputed = any(job.flavors[0] in other.flavors for other in rays)
    return len(job.flavors) == 1 and queue.cohort is None and queue.preemption is None and not disputed


def _flavor_of(plan: Plan, job: SliceJob) -> FlavorPlan:
    found = queue_of(plan, job.queue, job.namespace)
    return next(flavor for flavor in found.flavors if flavor.name == job.flavors[0])


def queue_of(plan: Plan, queue: str, namespace: str) -> QueuePlan:
    return next(q for q in plan.queues if (q.local_queue, q.namespace) == (queue, namespace))


# -- what the programs say --------------------------------------------------------------------------------------------


def _from_logs(job: Job, line: JobLine) -> list[Expectation]:
    """Of a job that ran for real: every process counted the devices of all slices, and what it trained got better to the end."""
    if line.log_summary is None:
        return []
    made = []
    if isinstance(job, SliceJob):  # Ray takes lines for alike that differ in their numbers only
        processes = job.slices * job.shape.hosts
        counted = f"{job.name}: each of its {processes} processes counted {job.devices} devices"
        made.append(Expectation(counted, line.log_summary.devices == (job.devices,) * processes))
    if line.log_summary.losses:
        first, last = line.log_summary.losses
        made.append(
            Expectation(f"{job.name} trained to its end, and its loss fell", line.log_summary.complete and last < first)
        )
    return made


# -- multislice jobs --------------------------------------------------------------------------------------------------


def _turns(
    after: Mapping[str, Sequence[str]],
    chips: Mapping[str, int],
    flavors: Mapping[str, FlavorPlan],
    lines: Mapping[str, JobLine],
) -> list[Expectation]:
    """A job that was submitted after another and does not fit beside it must wait until that has given back enough
    slices; jobs that waited for the same ones and fit together must run together."""
    made = []
    for name, earlier in after.items():
        for other in earlier:
            if flavors[name] != flavors[other] or not met(lines[name], lines[other]):
                continue
            lacking = chips[name] + chips[other] - flavors[name].chips
            slices = -(-lacking * lines[other].wanted // chips[other])
            if slices > 0:
                given = "all its slices" if slices == lines[other].wanted else f"{slices} of its slices"
                text = f"{name} waited until {other} had given back {given}"
                made.append(Expectation(text, waited_for(lines[name], lines[other], slices)))
    for group in _together(after, chips, flavors):
        if not all(met(lines[a], lines[b]) for a in group for b in group if a < b):
            continue
        held = all(overlap(lines[a], lines[b]) for a in group for b in group if a < b)
        made.append(Expectation(f"{' and '.join(group)} ran together", held))
    return made


def _together(
    after: Mapping[str, Sequence[str]], chips: Mapping[str, int], flavors: Mapping[str, FlavorPlan]
) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, earlier in after.items():
        if earlier:
            groups.setdefault((flavors[name].name, *sorted(earlier)), []).append(name)
    return [sorted(g) for g in groups.values() if len(g) > 1 and sum(chips[n] for n in g) <= flavors[g[0]].chips]


def own_pools(line: JobLine) -> bool:
    """Whether all pods of each slice were on one pool, and no two slices on the same."""
    pools = list(line.slices.values())
    return (
        len(pools) == line.wanted
        and all(len(p) == 1 for p in pools)
        and len(frozenset().union(*pools)) == line.wanted > 0
    )


def waited_for(line: JobLine, other: JobLine, slices: int) -> bool | None:
    """Whether a job was admitted only when that many slices of the other one were done; None where the other one's pods were gone
    before anybody saw their ends. Kueue does not wait for the end of the whole job: it counts down the quota of a JobSet as its
    pods finish."""
    if line.admitted is None:
        return False
    if len(other.slice_ends) < slices:
        return None if other.finished is not None else False
    return line.admitted >= other.slice_ends[slices - 1]


def met(line: JobLine, other: JobLine) -> bool:
    """Whether two jobs can have been in the queue at one time: not when one was submitted anew, by a later `up`, after the
    other's end. Then their order promises nothing."""
    if line.queued is None or other.queued is None:
        return True
    over = (line.finished is not None and line.finished < other.queued) or (
        other.finished is not None and other.finished < line.queued
    )
    return not over


def overlap(line: JobLine, other: JobLine) -> bool:
    """Whether the two jobs were admitted at a common moment."""
    if line.admitted is None or other.admitted is None:
        return False
    ends = [t for t in (line.finished, other.finished) if t is not None]
    return not ends or max(line.admitted, other.admitted) < min(ends)


# -- Ray jobs ---------------------------------------------------------------------------------------------------------


def _ray(plan: Plan, job: RayJobPlan, lines: Mapping[str, JobLine]) -> list[Expectation]:
    line = lines[job.name]
    made = []
    if job.system_pool is not None:
        head = line.head == job.system_pool if line.head is not None or seen(line) else None
        made.append(Expectation(f"{job.name}: Ray's head ran on {job.system_pool}", head))
    flavor = _promised(plan, job, line)
    if flavor is None or not all(met(line, lines[name]) for name in job.after):
        return made
    letter = _letter([f.name for f in _with_chips(plan, job)].index(flavor.name))
    # Autopilot's pools have no names beforehand.
    on = f", on {' or '.join(flavor.pools)}" if flavor.pools else ""
    there = set(line.pools) <= set(flavor.pools) if flavor.pools else True
    given = line.flavors == {flavor.name}
    told = given and bool(line.pools) and there if seen(line) or not given else None
    made.append(Expectation(f"{job.name} ran by Plan {letter}: flavor {flavor.name}{on}", told))
    pods = job.slices * job.shape.hosts
    if flavor.check is not None:
        # An `up` that follows only later may find the job done and its request gone.
        forgotten = line.request is None and line.succeeded
        asked = None if forgotten else line.request is not None and line.request.pod_sets == (pods,)
        made.append(
            Expectation(f"{job.name}: one ProvisioningRequest asked for its {pods} pods, in one pod set", asked)
        )
    scaling = {pool.name for pool in plan.pools if pool.bounds is not None and pool.bounds[0] == 0}
    if flavor.pools and set(flavor.pools) <= scaling and (given or not line.flavors):
        # On another flavor than was promised it may have met the nodes of the job before it.
        came = line.nodes is not None and line.reserved is not None and line.nodes >= line.reserved
        text = f"{job.name}: the nodes came when it had its quota, not before"
        made.append(Expectation(text, came if seen(line) else None))
    return made


def _letter(index: int) -> str:
    """A, B, ... Z, AA, AB, ... as columns of a table are called."""
    letters = ""
    while index >= 0:
        letters = chr(ord("A") + index % 26) + letters
        index = index // 26 - 1
    return letters


def _promised(plan: Plan, job: RayJobPlan, line: JobLine) -> FlavorPlan | None:
    """What was promised when the job was first seen: jobs and flavors of the stack file may have changed since."""
    if line.expected is None:
        return expected_flavor(plan, job)
    return next((flavor for flavor in _with_chips(plan, job) if flavor.name == line.expected), None)


def _with_chips(plan: Plan, job: RayJobPlan) -> list[FlavorPlan]:
    return [flavor for flavor in queue_of(plan, job.queue, job.namespace).flavors if flavor.shape is not None]


def expected_flavor(plan: Plan, job: RayJobPlan) -> FlavorPlan | None:
    """The first of its flavors with room beside the jobs that this one was submitted after; None where the order of the jobs
    leaves it open, where it has to wait, and where others may have lent chips of its queue or take them back. Jobs that are in no
    order with it, multislice ones among them, leave it open if they may take from what it or an earlier one may get."""
    queue = queue_of(plan, job.queue, job.namespace)
    if queue.cohort is not None or queue.preemption is not None:
        return None
    peers = {j.name: j for j in plan.of(RayJobPlan) if (j.queue, j.namespace) == (job.queue, job.namespace)}
    earlier = _closure(job, peers)
    later = {name for name, peer in peers.items() if job.name in _closure(peer, peers)}
    wanted = {flavor for name in {*earlier, job.name} for flavor in peers[name].flavors}
    unordered = [peer for name, peer in peers.items() if name not in {*earlier, *later, job.name}]
    multislice = [other for other in plan.of(SliceJob) if (other.queue, other.namespace) == (job.queue, job.namespace)]
    rivals: list[Job] = [*unordered, *multislice]
    if any(wanted & set(rival.flavors) for rival in rivals):
        return None
    left = {flavor.name: flavor.chips for flavor in _with_chips(plan, job)}
    for name in [*(n for n in peers if n in earlier), job.name]:
        need = peers[name].slices * peers[name].shape.chips
        fitting = next(
            (flavor for flavor, chips in left.items() if chips >= need and flavor in peers[name].flavors), None
        )
        if fitting is None:
            return None
        left[fitting] -= need
    return next(flavor for flavor in _with_chips(plan, job) if flavor.name == fitting)


def _closure(job: RayJobPlan, peers: Mapping[str, RayJobPlan]) -> set[str]:
    found: set[str] = set()
    frontier = [name for name in job.after if name in peers]
    while frontier:
        name = frontier.pop()
        if name not in found:
            found.add(name)
            frontier += [n for n in peers[name].after if n in peers]
    return found
