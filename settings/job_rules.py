"""Jobs: whether they can ever run on the slices there are, in an order that can happen, under names that fit."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from settings.accelerators import MachineType
from settings.copies import copies, distinct, places
from settings.faults import MISSING, Fault, Unsound, duplicates, rule, unknown_names
from settings.model import RayJobSection, Settings, SliceSection, WorkloadSection
from settings.queue_rules import unknown_flavors
from settings.shapes import count_of, is_queued, machine_of, slices_of, sound_shape

REPLICATED_JOB = "slice"
_NAME_LIMIT = 63
"""A pod's host name is one DNS label."""
_POD_SUFFIX = 6
"""The job controller ends a pod's name with `-` and five characters."""


@rule
def check(settings: Settings) -> Iterator[Fault]:
    entries = distinct(settings.workloads)
    yield from copies("workloads[{}]", settings.workloads)
    yield from duplicates(places("workloads[{}].name", entries, "name"), "job name")
    yield from unknown_flavors(settings)
    for index, job in entries:
        path = f"workloads[{index}]"
        yield from _flavor(path, job, settings)
        yield from _slices(path, job, settings)
        yield from _name(path, job, settings)
        yield from after_once(path, job)
        yield from _itself(path, job)
    yield from _others(settings)
    yield from _circles(settings)


def flavor_index(job: WorkloadSection, settings: Settings) -> int | None:
    """Which entry of `slices` a job runs on, or None when it names none or leaves a choice open."""
    if job.flavor is None:
        return 0 if len(settings.slices) == 1 else None
    return next((i for i, section in enumerate(settings.slices) if section.flavor == job.flavor), None)


def _section(job: WorkloadSection, settings: Settings) -> tuple[int, SliceSection]:
    """Where a job runs. Raises Unsound while that is open."""
    entries = distinct(settings.slices)
    named = [name for _, name in places("{}", entries, "flavor")]
    index = flavor_index(job, settings) if job.flavor is None or named.count(job.flavor) == 1 else None
    if index is None:
        raise Unsound("flavor")
    return index, settings.slices[index]


@rule
def _flavor(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    if job.flavor is None and len(distinct(settings.slices)) > 1:
        known = list(dict.fromkeys(section.flavor for section in settings.slices))
        yield Fault(f"{path}.flavor", MISSING, f"one of the flavors in slices: {', '.join(known)}", f"write {known[0]}")


@rule
def _slices(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    index, section = _section(job, settings)
    count = count_of(section)
    if job.slices > count:
        has = f"has {count} pools, one slice each" if section.pools else f"counts {count}"
        more = f"list {job.slices - count} more names in slices[{index}].pools"
        more = more if section.pools else f"raise slices[{index}].count to {job.slices}"
        yield Fault(
            f"{path}.slices", job.slices, f"at most {count}: slices[{index}] {has}", f"write {count}, or {more}"
        )
    elif job.slices > 1 and not _machine(section).multislice:
        yield Fault(f"{path}.slices", job.slices, f"1: {_machine(section).generation} has no multislice", "write 1")
    elif job.slices > 1 and is_queued(section):
        wanted = f"1: slices[{index}] is queued, and GKE serves a ProvisioningRequest from one pool, which is one slice"
        yield Fault(f"{path}.slices", job.slices, wanted, f"write 1, or slices[{index}].capacity: flex-start")
    elif job.slices > slices_of(section):
        most = slices_of(section)
        wanted = f"at most {most}: slices[{index}].quota is {section.quota} chips, {most} slices"
        yield Fault(f"{path}.slices", job.slices, wanted, f"write {most}, or raise slices[{index}].quota")


def _machine(section: SliceSection) -> MachineType:
    machine = machine_of(section)
    if machine is None:
        raise Unsound("machine_type")
    return machine


@rule
def _name(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    _, section = _section(job, settings)
    longest = f"{job.name}-{REPLICATED_JOB}-{job.slices - 1}-{sound_shape(section).hosts - 1}"
    room = _NAME_LIMIT - _POD_SUFFIX - (len(longest) - len(job.name))
    if len(job.name) > room:
        wanted = f"at most {room} characters: its pods are called {longest}-xxxxx, and a host name has {_NAME_LIMIT}"
        yield Fault(f"{path}.name", job.name, wanted, f"shorten it by {len(job.name) - room}")


@rule
def after_once(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Fault]:
    """A job is waited for once."""
    named = [(f"{path}.after[{index}]", name) for index, name in enumerate(job.after)]
    yield from duplicates(named, "job to wait for", "remove it")


@rule
def _itself(path: str, job: WorkloadSection) -> Iterator[Fault]:
    for index, name in enumerate(job.after):
        if name == job.name:
            yield Fault(f"{path}.after[{index}]", name, "another job: a job cannot wait for itself", "remove it")
            return


@rule
def _others(settings: Settings) -> Iterator[Fault]:
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
    """The jobs that can be waited for. Raises Unsound while a name is broken or there twice."""
    names = [job.name for _, job in distinct(settings.workloads)]
    if len(set(names)) < len(names):
        raise Unsound("name")
    return names


@rule
def _circles(settings: Settings) -> Iterator[Fault]:
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
            wanted = f"an order that can happen: these jobs wait for each other, {shown}"
            yield Fault(f"workloads[{index}].after", settings.workloads[index].after, wanted, "remove one of the waits")
            waits = {name: after - set(circle) for name, after in waits.items() if name not in circle}
        else:
            return
