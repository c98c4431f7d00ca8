"""Jobs: whether they can ever run on the slices there are, in an order that can happen, under names that fit."""

from __future__ import annotations

from collections.abc import Iterator

from settings.faults import MISSING, Fault, did_you_mean, duplicates
from settings.model import Settings, WorkloadSection
from settings.shapes import shape_of

REPLICATED_JOB = "slice"
_NAME_LIMIT = 63
"""A pod's host name is one DNS label."""
_POD_SUFFIX = 6
"""The job controller ends a pod's name with `-` and five characters."""


def check(settings: Settings) -> Iterator[Fault]:
    yield from duplicates("workloads[{}].name", [job.name for job in settings.workloads], "job name")
    for index, job in enumerate(settings.workloads):
        path = f"workloads[{index}]"
        yield from _fits(path, job, settings)
        yield from _name(path, job, settings)
        yield from _after(path, job, settings)
    yield from _cycles(settings)


def flavor_index(job: WorkloadSection, settings: Settings) -> int | None:
    """Which entry of `slices` a job runs on, or None when it names none or leaves a choice open."""
    if job.flavor is None:
        return 0 if len(settings.slices) == 1 else None
    return next((i for i, section in enumerate(settings.slices) if section.flavor == job.flavor), None)


def _fits(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    index = flavor_index(job, settings)
    flavors = list(dict.fromkeys(section.flavor for section in settings.slices))
    if index is None:
        wanted = f"one of the flavors in slices: {', '.join(flavors)}"
        first = f"write {flavors[0]}"
        if job.flavor is None:
            yield Fault(f"{path}.flavor", MISSING, wanted, first)
        else:
            yield Fault(f"{path}.flavor", job.flavor, wanted, did_you_mean(job.flavor, flavors, first))
        return
    section = settings.slices[index]
    shape = shape_of(section)
    if shape is None:
        return
    quota = section.quota if section.quota is not None else shape.chips * len(section.pools)
    most = min(quota // shape.chips, len(section.pools))
    if job.slices > most:
        yield Fault(
            f"{path}.slices",
            job.slices,
            f"at most {most}: slices[{index}] has {len(section.pools)} pools, one slice each, and quota {quota}",
            f"write {most}, or list {job.slices - len(section.pools)} more names in slices[{index}].pools"
            if job.slices > len(section.pools)
            else f"write {most}, or raise slices[{index}].quota",
        )
    if job.slices > 1 and not shape.machine.multislice:
        yield Fault(f"{path}.slices", job.slices, f"1: {shape.machine.generation} has no multislice", "write 1")


def _name(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    index = flavor_index(job, settings)
    shape = shape_of(settings.slices[index]) if index is not None else None
    last_host = (shape.hosts if shape is not None else 1) - 1
    longest = f"{job.name}-{REPLICATED_JOB}-{job.slices - 1}-{last_host}"
    room = _NAME_LIMIT - _POD_SUFFIX - (len(longest) - len(job.name))
    if len(job.name) > room:
        yield Fault(
            f"{path}.name",
            job.name,
            f"at most {room} characters: its pods are called {longest}-xxxxx, and a host name has {_NAME_LIMIT}",
            f"shorten it by {len(job.name) - room}",
        )


def _after(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Fault]:
    names = [other.name for other in settings.workloads]
    for index, name in enumerate(job.after):
        if name == job.name:
            yield Fault(f"{path}.after[{index}]", name, "another job: a job cannot wait for itself", "remove it")
        elif name not in names:
            yield Fault(
                f"{path}.after[{index}]",
                name,
                f"a job in workloads: {', '.join(names)}",
                did_you_mean(name, names, "remove it"),
            )


def _cycles(settings: Settings) -> Iterator[Fault]:
    waits = {job.name: [name for name in job.after if name != job.name] for job in settings.workloads}
    for index, job in enumerate(settings.workloads):
        if _reaches(job.name, job.name, waits):
            yield Fault(
                f"workloads[{index}].after",
                ", ".join(job.after),
                "an order that can happen: this job waits for itself through others",
                "remove one of the waits",
            )


def _reaches(start: str, goal: str, waits: dict[str, list[str]]) -> bool:
    seen: set[str] = set()
    frontier = list(waits.get(start, []))
    while frontier:
        name = frontier.pop()
        if name == goal:
            return True
        if name not in seen:
            seen.add(name)
            frontier.extend(waits.get(name, []))
    return False
