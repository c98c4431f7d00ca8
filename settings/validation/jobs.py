"""Jobs: whether they can ever run on the slices there are, in an order that can happen, under names that fit."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from settings.plan.borrowing import TEAMS, most_of_queue, most_of_team
from settings.plan.queues import queue_of_flavor
from settings.plan.slices import count_of, is_queued, machine_of, slices_of, sound_shape
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.validation import job_flavors
from settings.validation.lists import copies, distinct, once, places
from settings.validation.problem import MISSING, Problem, Unsound, duplicates, rule, unknown_names
from settings.validation.queues import flavor_names, unknown_flavors

REPLICATED_JOB = "slice"
_NAME_LIMIT = 63
"""A pod's host name is one DNS label."""
_POD_SUFFIX = 6
"""The job controller ends a pod's name with `-` and five characters."""


@rule
def check(settings: Settings) -> Iterator[Problem]:
    entries = distinct(settings.workloads)
    yield from copies("workloads[{}]", settings.workloads)
    yield from duplicates(places("workloads[{}].name", entries, "name"), "job name")
    yield from unknown_flavors(settings)
    yield from _unknown_teams(settings)
    for index, job in entries:
        path = f"workloads[{index}]"
        yield from job_flavors.check(path, job, settings)
        yield from _team(path, job, settings)
        yield from _slices(path, job, settings)
        yield from _name(path, job, settings)
        yield from after_once(path, job)
        yield from _itself(path, job)
    yield from _others(settings)
    yield from _circles(settings)


@rule
def _unknown_teams(settings: Settings) -> Iterator[Problem]:
    known = [team.name for _, team in distinct(settings.teams)]
    teams = [
        *places("workloads[{}].team", distinct(settings.workloads), "team"),
        *places("ray.jobs[{}].team", distinct(settings.ray.jobs), "team"),
    ]
    yield from unknown_names([(path, name) for path, name in teams if name is not None], known, "a team in teams")


@rule
def _team(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    """A job is in its team's queue, which must have something of the (first) flavor, or in the one queue over the flavor."""
    flavor = job_flavors.sections(job, settings)[0][1].flavor
    having = [team.name for team in settings.teams if flavor in team.flavors]
    if any(not set(team.flavors) <= set(flavor_names(settings)) for team in settings.teams):
        return
    if job.team is None and having and queue_of_flavor(flavor, settings) is None:
        expected = f"one of {', '.join(having)}: teams have all of {flavor}, and no queue gives it out"
        yield Problem(f"{path}.team", MISSING, expected, f"write {having[0]}")
    elif job.team is not None and job.team not in having and job.team in [team.name for team in settings.teams]:
        shown = f": {', '.join(having)}" if having else ""
        fix = f"write {having[0]}" if having else f"give {job.team} a part of {flavor}"
        yield Problem(f"{path}.team", job.team, f"a team with a part of {flavor}{shown}", fix)


def _most(job: WorkloadSection, section: SliceSection, settings: Settings) -> int:
    """The most chips that a job's queue can give it. Raises Unsound while it has no queue."""
    if job.team is not None:
        team = next((team for team in settings.teams if team.name == job.team), None)
        if team is None or section.flavor not in team.flavors:
            raise Unsound("team")
        return most_of_team(team, section, settings)
    queue = queue_of_flavor(section.flavor, settings)
    if queue is None:
        raise Unsound("queues")
    return most_of_queue(queue, section, settings)


@rule
def _slices(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    found = job_flavors.sections(job, settings)
    if len(found) == 1:
        yield from _slices_of_one(path, job, found[0], settings)
    else:
        yield from _slices_of_any(path, job, found, settings)
    if job.flavor is not None and job.flavors is None and job.slices > 1:
        yield from _slices_of_a_shape(path, job, found[0][1], settings)


@rule
def _slices_of_any(path: str, job: WorkloadSection, found: job_flavors.Places, settings: Settings) -> Iterator[Problem]:
    """A job has all its slices from one flavor, whichever of them it gets."""
    most = {s.flavor: min(slices_of(s), _most(job, s, settings) // sound_shape(s).chips) for _, s in found}
    queued = [section.flavor for _, section in found if is_queued(section)]
    alone = [why for _, section in found if (why := _only_alone(section)) is not None]
    best = max(most.values())
    if job.slices > 1 and alone:
        yield Problem(f"{path}.slices", job.slices, f"1: {alone[0]}", "write 1")
    elif job.slices > 1 and queued:
        expected = f"1: {queued[0]} is queued, and GKE serves a ProvisioningRequest from one pool, which is one slice"
        yield Problem(f"{path}.slices", job.slices, expected, f"write 1, or take {queued[0]} out of its flavors")
    elif best == 0:
        yield nothing_to_have(f"{path}.slices", job.slices, " or ".join(most))
    elif job.slices > best:
        shown = ", ".join(f"{flavor} {count}" for flavor, count in most.items())
        expected = f"at most {best}: a job stays on one flavor, and of slices that it can have they give {shown}"
        yield Problem(f"{path}.slices", job.slices, expected, f"write {best}, or list more pools for a flavor")


@rule
def _slices_of_a_shape(path: str, job: WorkloadSection, section: SliceSection, settings: Settings) -> Iterator[Problem]:
    """A job that asks for a shape gets any flavor of it that has room, a queued one too."""
    _, given = job_flavors.given_out_with(section.flavor, job, settings)
    alike = [s for s in settings.slices if s.flavor in given and sound_shape(s) == sound_shape(section)]
    others = [s.flavor for s in alike if not is_queued(s)]
    for other in alike:
        fits = _most(job, other, settings) >= job.slices * sound_shape(other).chips
        if is_queued(other) and fits and section.flavor in others:
            why = f"without {other.flavor}, which is of its shape, has room for {job.slices} slices and is queued: GKE serves a"
            expected = f"flavors {why} ProvisioningRequest from one pool, which is one slice"
            fix = f"list what will do in its place, `flavors: [{', '.join(others)}]`"
            yield Problem(f"{path}.flavor", job.flavor, expected, fix)
            return


@rule
def _slices_of_one(
    path: str, job: WorkloadSection, found: tuple[int, SliceSection], settings: Settings
) -> Iterator[Problem]:
    index, section = found
    count = count_of(section)
    shared = list(_share(path, job, section, settings)) if job.slices > count else []
    if shared:
        yield from shared
    elif job.slices > count:
        has = f"has {count} pools, one slice each" if section.pools else f"counts {count}"
        more = f"list {job.slices - count} more names in slices[{index}].pools"
        more = more if section.pools else f"raise slices[{index}].count to {job.slices}"
        yield Problem(
            f"{path}.slices", job.slices, f"at most {count}: slices[{index}] {has}", f"write {count}, or {more}"
        )
    elif job.slices > 1 and (why := _only_alone(section)) is not None:
        yield Problem(f"{path}.slices", job.slices, f"1: {why}", "write 1")
    elif job.slices > 1 and is_queued(section):
        expected = (
            f"1: slices[{index}] is queued, and GKE serves a ProvisioningRequest from one pool, which is one slice"
        )
        yield Problem(f"{path}.slices", job.slices, expected, f"write 1, or slices[{index}].capacity: flex-start")
    elif job.slices > slices_of(section):
        most = slices_of(section)
        expected = f"at most {most}: slices[{index}].quota is {section.quota} chips, {most} slices"
        yield Problem(f"{path}.slices", job.slices, expected, f"write {most}, or raise slices[{index}].quota")
    else:
        yield from _share(path, job, section, settings)


@rule
def _share(path: str, job: WorkloadSection, section: SliceSection, settings: Settings) -> Iterator[Problem]:
    """Where teams have parts of a flavor, a job gets no more than its own queue may have."""
    chips = sound_shape(section).chips
    most = _most(job, section, settings)
    if not settings.teams or job.slices * chips <= most:
        return
    if most == 0:
        yield nothing_to_have(f"{path}.slices", job.slices, section.flavor)
        return
    if job.team is not None:
        expected = f"at most {most // chips}: team {job.team} can have {most} chips of {section.flavor}"
        fix = f"write {most // chips}, or raise the team's chips, its borrow, or what others lend (a queue: cohort: {TEAMS})"
    else:
        expected = f"at most {most // chips}: beside the teams its queue can have {most} chips of {section.flavor}"
        fix = f"write {most // chips}, or let the queue borrow from the teams: cohort: {TEAMS}"
    yield Problem(f"{path}.slices", job.slices, expected, fix)


def nothing_to_have(path: str, slices: int, flavor: str) -> Problem:
    """A job whose queue has no chips and can borrow none."""
    expected = f"chips to run on: its queue or team has none of {flavor} of its own, and can borrow none"
    fix = f"give it chips of {flavor}, or let it borrow (`borrow`) what another of its cohort lends (`lend`)"
    return Problem(path, slices, expected, fix)


def _only_alone(section: SliceSection) -> str | None:
    """Why slices like these cannot train together, or None if they can (Google's page "Deploy TPU Multislices in GKE")."""
    machine = machine_of(section)
    if machine is None:
        raise Unsound("machine_type")
    if not machine.multislice:
        return f"{machine.generation} has no multislice"
    if sound_shape(section).hosts == 1:
        return f"a slice of {section.flavor} is one host, and GKE joins only slices of several hosts"
    return None


@rule
def _name(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    section = job_flavors.sections(job, settings)[0][1]
    longest = f"{job.name}-{REPLICATED_JOB}-{job.slices - 1}-{sound_shape(section).hosts - 1}"
    room = _NAME_LIMIT - _POD_SUFFIX - (len(longest) - len(job.name))
    if len(job.name) > room:
        expected = f"at most {room} characters: its pods are called {longest}-xxxxx, and a host name has {_NAME_LIMIT}"
        yield Problem(f"{path}.name", job.name, expected, f"shorten it by {len(job.name) - room}")


@rule
def after_once(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Problem]:
    """A job is waited for once."""
    named = [(f"{path}.after[{index}]", name) for index, name in enumerate(job.after)]
    yield from duplicates(named, "job to wait for", "remove it")


@rule
def _itself(path: str, job: WorkloadSection) -> Iterator[Problem]:
    for index, name in enumerate(job.after):
        if name == job.name:
            yield Problem(f"{path}.after[{index}]", name, "another job: a job cannot wait for itself", "remove it")
            return


@rule
def _others(settings: Settings) -> Iterator[Problem]:
    names = job_names(settings)
    unknown: dict[str, list[tuple[str, str]]] = {}
    waiting: dict[str, str] = {}
    for index, job in distinct(settings.workloads):
        for path, after in places("workloads[{}].after", [(index, job)], "after"):
            for j, name in enumerate(after):
                if name not in names:
                    waiting.setdefault(name, job.name)
                    unknown.setdefault(name, []).append((f"{path}[{j}]", name))
    for name, named in unknown.items():
        others = [other for other in names if other != waiting[name]]
        yield from unknown_names(named, others, "a job in workloads")


def job_names(settings: Settings) -> list[str]:
    """The jobs that can be waited for. Raises Unsound as `once`."""
    return once(settings.workloads, "name")


@rule
def _circles(settings: Settings) -> Iterator[Problem]:
    """One fault for each circle, at its first job."""
    names = job_names(settings)
    waits = {job.name: {name for name in job.after if name != job.name} for job in settings.workloads}
    while True:
        try:
            TopologicalSorter(waits).prepare()
        except CycleError as error:
            circle = list(reversed(error.args[1][1:]))
            first = min(circle, key=names.index)
            start = circle.index(first)
            shown = " -> ".join([*circle[start:], *circle[:start], first])
            index = next(i for i, job in enumerate(settings.workloads) if job.name == first)
            expected = f"an order that can happen: these jobs wait for each other, {shown}"
            yield Problem(
                f"workloads[{index}].after", settings.workloads[index].after, expected, "remove one of the waits"
            )
            waits = {name: after - set(circle) for name, after in waits.items() if name not in circle}
        else:
            return
