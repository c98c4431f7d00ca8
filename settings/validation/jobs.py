"""Jobs: whether their slices can ever be admitted, in an order that is possible, with names that fit."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from settings.catalogue.labels import REPLICATED_JOB
from settings.plan.borrowing import TEAMS
from settings.plan.job_queues import PlacedJob, first_flavor, job_entries, placed_jobs
from settings.plan.queues import offering_queue
from settings.plan.slices import count_of, is_queued, slices_of
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.validation.problem import MISSING, Problem, duplicates

_NAME_LIMIT = 63
"""A pod's host name is one DNS label."""
_POD_SUFFIX = 6
"""The job controller ends a pod's name with `-` and five characters."""


def check(settings: Settings) -> Iterator[Problem]:
    for path, job in job_entries(settings):
        named = [(f"{path}.after[{index}]", name) for index, name in enumerate(job.after)]
        yield from duplicates(named, "job to wait for", "remove it")
    for index, workload in enumerate(settings.workloads):
        path = f"workloads[{index}]"
        yield from _team(path, workload, settings)
        yield from _name(path, workload, settings)
        yield from _itself(path, workload)
    for placed in placed_jobs(settings):
        yield from _slices(placed, settings)
    yield from _cycles(settings)


def _team(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    """A job is in its team's queue, which must have a part of the (first) flavor, or in the one queue that offers the flavor."""
    flavor = first_flavor(job, settings)
    having = [team.name for team in settings.teams if flavor in team.flavors]
    if flavor is None:
        return
    if job.team is None and having and offering_queue(flavor, settings) is None:
        expected = f"one of {', '.join(having)}: teams have all of {flavor}, and no queue offers it"
        yield Problem(f"{path}.team", MISSING, expected, f"write {having[0]}")
    elif job.team is not None and job.team not in having:
        shown = f": {', '.join(having)}" if having else ""
        fix = f"write {having[0]}" if having else f"give {job.team} a part of {flavor}"
        yield Problem(f"{path}.team", job.team, f"a team with a part of {flavor}{shown}", fix)


def _slices(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    """At most one problem for the number of a job's slices; for the flavors that do not go with several, only where it fits."""
    several = isinstance(placed.job, RayJobSection) or (placed.job.flavors is not None and len(placed.sections) > 1)
    found = list(_slices_of_any(placed, settings) if several else _slices_of_one(placed, settings))
    yield from found or _not_queued(placed, settings)


def _slices_of_any(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    """A job has all its slices from one flavor, whichever of them it gets."""
    path, job = placed.path, placed.job
    if len({section.shape for section in placed.sections}) > 1 and isinstance(job, RayJobSection):
        return
    most = {section.flavor: _most(placed, section, settings) for section in placed.sections}
    best = max(most.values())
    shown = ", ".join(f"{flavor} {count}" for flavor, count in most.items())
    expected = f"at most {best}: a job runs on one flavor, a multi-host pool is one slice, and the flavors have {shown}"
    fix = f"write {best}, or list more pools for a flavor"
    if isinstance(job, WorkloadSection) and job.slices > 1 and (why := _alone(placed.sections)) is not None:
        yield Problem(f"{path}.slices", job.slices, *why)
    elif best == 0:
        yield _no_chips(placed, " or ".join(most))
    elif job.slices > best:
        yield Problem(f"{path}.slices", job.slices, expected, fix)
    elif isinstance(job, RayJobSection) and job.elastic and job.max_slices is not None and job.max_slices > best:
        yield Problem(f"{path}.maxSlices", job.max_slices, expected, fix)


def _alone(sections: tuple[SliceSection, ...]) -> tuple[str, str] | None:
    """(expected, fix) where one of several listed flavors makes no multislice."""
    alone = [why for section in sections if (why := _only_alone(section)) is not None]
    queued = [section.flavor for section in sections if is_queued(section)]
    if alone:
        return f"1: {alone[0]}", "write 1"
    if not queued:
        return None
    expected = f"1: {queued[0]} is queued, and one ProvisioningRequest can use one pool only, which is one slice"
    return expected, f"write 1, or remove {queued[0]} from its flavors"


def _most(placed: PlacedJob, section: SliceSection, settings: Settings) -> int:
    """The most slices of a flavor that a job can have."""
    chips = placed.queue.reachable_chips(section, settings)
    return min(slices_of(section), chips // section.shape.chips)


def _slices_of_one(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    path, job = f"{placed.path}.slices", placed.job
    index, section = _named(placed, settings)
    count, at, most = count_of(section), f"slices[{index}]", slices_of(section)
    shared = list(_within_queue(placed, section, settings))
    if job.slices > count and shared:
        yield from shared
    elif job.slices > count:
        has = f"has {count} pools, one slice each" if section.pools else f"counts {count}"
        more = f"list {job.slices - count} more names in {at}.pools"
        fix = more if section.pools else f"raise {at}.count to {job.slices}"
        yield Problem(path, job.slices, f"at most {count}: {at} {has}", f"write {count}, or {fix}")
    elif job.slices > 1 and (why := _only_alone(section)) is not None:
        yield Problem(path, job.slices, f"1: {why}", "write 1")
    elif job.slices > 1 and is_queued(section):
        expected = f"1: {at} is queued, and one ProvisioningRequest can use one pool only, which is one slice"
        yield Problem(path, job.slices, expected, f"write 1, or {at}.capacity: flex-start")
    elif job.slices > most:
        expected = f"at most {most}: {at}.quota is {section.quota} chips, {most} slices"
        yield Problem(path, job.slices, expected, f"write {most}, or raise {at}.quota")
    else:
        yield from shared


def _named(placed: PlacedJob, settings: Settings) -> tuple[int, SliceSection]:
    """The one flavor that a job names, with its place."""
    flavor = first_flavor(placed.job, settings)
    return next((index, section) for index, section in enumerate(settings.slices) if section.flavor == flavor)


def _within_queue(placed: PlacedJob, section: SliceSection, settings: Settings) -> Iterator[Problem]:
    """Where teams have parts of a flavor, a job gets at most what its own queue can have."""
    job, chips = placed.job, section.shape.chips
    most = placed.queue.reachable_chips(section, settings)
    if not settings.teams or job.slices * chips <= most:
        return
    if most == 0:
        yield _no_chips(placed, section.flavor)
        return
    limit = most // chips
    if job.team is not None:
        expected = f"at most {limit}: team {job.team} can have {most} chips of {section.flavor}"
        fix = f"write {limit}, or raise the team's chips, its borrow, or what others lend (a queue: cohort: {TEAMS})"
    else:
        expected = f"at most {limit}: beside the teams its queue can have {most} chips of {section.flavor}"
        fix = f"write {limit}, or let the queue borrow from the teams: cohort: {TEAMS}"
    yield Problem(f"{placed.path}.slices", job.slices, expected, fix)


def _no_chips(placed: PlacedJob, flavor: str) -> Problem:
    """A job whose queue has no chips and can borrow none."""
    expected = f"chips to run on: its queue or team has none of {flavor} of its own, and can borrow none"
    fix = f"give it chips of {flavor}, or let it borrow (`borrow`) what another of its cohort lends (`lend`)"
    return Problem(f"{placed.path}.slices", placed.job.slices, expected, fix)


def _not_queued(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    """A job of several slices must exclude the queued flavors whose quota would admit it. One whose only flavors are queued has
    another problem."""
    job = placed.job
    slices = job.slices
    if isinstance(job, RayJobSection) and job.elastic and job.max_slices is not None:
        slices = max(slices, job.max_slices)
    shapes = {section.shape for section in placed.sections}
    if slices == 1 or len(shapes) > 1:
        return
    (shape,) = shapes
    fitting = [s for s in placed.sections if placed.queue.reachable_chips(s, settings) >= slices * shape.chips]
    queued = [section.flavor for section in fitting if is_queued(section)]
    others = [section.flavor for section in placed.sections if not is_queued(section)]
    if queued and others:
        key, value = ("flavors", job.flavors) if job.flavors is not None else ("flavor", job.flavor)
        why = f"{queued[0]} has the same shape, quota for {slices} slices and is queued"
        expected = f"flavors without {queued[0]}: {why}, and one ProvisioningRequest can use one pool only"
        fix = f"write `flavors: [{', '.join(others)}]`"
        yield Problem(f"{placed.path}.{key}", value if value is not None else MISSING, expected, fix)


def _only_alone(section: SliceSection) -> str | None:
    """Why slices like these cannot train together, or None if they can (Google's page "Deploy TPU Multislices in GKE")."""
    shape = section.shape
    if not shape.machine.multislice:
        return f"{shape.machine.generation} has no multislice"
    if shape.hosts == 1:
        return f"a slice of {section.flavor} is one host, and GKE joins only slices of several hosts"
    return None


def _name(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    flavor = first_flavor(job, settings)
    if flavor is None:
        return
    section = next(section for section in settings.slices if section.flavor == flavor)
    longest = f"{job.name}-{REPLICATED_JOB}-{job.slices - 1}-{section.shape.hosts - 1}"
    room = _NAME_LIMIT - _POD_SUFFIX - (len(longest) - len(job.name))
    if len(job.name) > room:
        expected = f"at most {room} characters: its pods are called {longest}-xxxxx, and a host name has {_NAME_LIMIT}"
        yield Problem(f"{path}.name", job.name, expected, f"shorten it by {len(job.name) - room}")


def _itself(path: str, job: WorkloadSection) -> Iterator[Problem]:
    if job.name in job.after:
        expected = "another job: a job cannot wait for itself"
        yield Problem(f"{path}.after[{job.after.index(job.name)}]", job.name, expected, "remove it")


def _cycles(settings: Settings) -> Iterator[Problem]:
    """One problem for each cycle, at its first job."""
    names = [job.name for job in settings.workloads]
    waits = {job.name: {name for name in job.after if name != job.name} for job in settings.workloads}
    while True:
        try:
            TopologicalSorter(waits).prepare()
        except CycleError as error:
            cycle = list(reversed(error.args[1][1:]))
            first = min(cycle, key=names.index)
            start, index = cycle.index(first), names.index(first)
            shown = " -> ".join([*cycle[start:], *cycle[:start], first])
            expected = f"an order that is possible: these jobs wait for each other, {shown}"
            yield Problem(
                f"workloads[{index}].after", settings.workloads[index].after, expected, "remove one of the waits"
            )
            waits = {name: after - set(cycle) for name, after in waits.items() if name not in cycle}
        else:
            return
