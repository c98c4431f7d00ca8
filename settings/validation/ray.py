"""Ray jobs: the operator, what they install, how they grow, and whether their workers fit their hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.plan.job_queues import placed_jobs
from settings.plan.system_nodes import Room, node_room
from settings.schema.field_types import mebibytes
from settings.schema.ray import RayJobSection
from settings.schema.stack import ELASTIC_JOBS, Settings
from settings.validation.problem import Problem

_PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9.+!_-]+")
_NAME = re.compile(r"\s*([A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?)")


def check(settings: Settings) -> Iterator[Problem]:
    if settings.ray.jobs and not settings.ray.here:
        expected = "addon or helm: the stack has Ray jobs, and without KubeRay nothing runs them"
        yield Problem("ray.operator", settings.ray.operator, expected, "write addon, or remove ray.jobs")
    yield from _after(settings)
    yield from _gate(settings)
    for index, job in enumerate(settings.ray.jobs):
        path = f"ray.jobs[{index}]"
        yield from _requirements(path, job)
        yield from _elastic(path, job)
    for placed in placed_jobs(settings):
        shapes = {section.shape for section in placed.sections}
        if isinstance(placed.job, RayJobSection) and len(shapes) == 1:
            machine = shapes.pop().machine
            left = node_room(Room(machine.vcpus * 1000, machine.memory_gb * 1024))
            yield from _worker(placed.path, placed.job, left, machine.name)


def _after(settings: Settings) -> Iterator[Problem]:
    """Only earlier jobs of the list can be waited for, so that no cycle is possible."""
    names = [job.name for job in settings.ray.jobs]
    for index, job in enumerate(settings.ray.jobs):
        for j, name in enumerate(job.after):
            if name not in names[:index]:
                fix = "remove it: a job cannot wait for itself" if name == job.name else "move this job behind it"
                yield Problem(f"ray.jobs[{index}].after[{j}]", name, "an earlier Ray job of the list", fix)


def _gate(settings: Settings) -> Iterator[Problem]:
    elastic = [f"ray.jobs[{index}].elastic" for index, job in enumerate(settings.ray.jobs) if job.elastic]
    if elastic and settings.kueue.feature_gates.get(ELASTIC_JOBS) is False:
        expected = f"true: without it Kueue refuses the autoscaling of {', '.join(elastic)}"
        yield Problem(f"kueue.featureGates.{ELASTIC_JOBS}", False, expected, "write true, or remove `elastic`")


def _requirements(path: str, job: RayJobSection) -> Iterator[Problem]:
    pinned: dict[str, tuple[str, str]] = {}
    for index, text in enumerate(job.requirements):
        here = f"{path}.requirements[{index}]"
        if _PINNED.fullmatch(text) is None:
            expected = "a pinned requirement like pandas==2.3.3, so that every run installs the same"
            yield Problem(here, text, expected, _pin(text))
            continue
        package, version = text.split("==", 1)
        name = re.sub(r"[-_.]+", "-", package.split("[", 1)[0]).lower()
        if name in pinned and pinned[name][1] != version:
            first, other = pinned[name]
            yield Problem(
                here, text, f"one version of {name}: {first} pins {other}, and pip installs neither", "remove one"
            )
        pinned.setdefault(name, (here, version))


def _pin(text: str) -> str:
    """What to write for a requirement that is not pinned. One by an address does not show its version."""
    named = re.fullmatch(r"\s*([A-Za-z0-9._-]+)\s*@.*", text)
    name = _NAME.match(text)
    if named is not None:
        return f"write {named.group(1)}==VERSION, a release of the package index"
    if "://" in text or name is None:
        return "pin it with ==, by its name in the package index: NAME==VERSION"
    return f"write {name.group(1)}==VERSION"


def _elastic(path: str, job: RayJobSection) -> Iterator[Problem]:
    most, slices = job.max_slices, job.slices
    if most is not None and most < slices:
        yield Problem(f"{path}.maxSlices", most, f"at least slices, {slices}", f"write {slices} or more")
    elif most is not None and most > slices and not job.elastic:
        expected = f"slices, {slices}: only an elastic job grows"
        yield Problem(f"{path}.maxSlices", most, expected, "add `elastic: true`, or remove the key")


def _worker(path: str, job: RayJobSection, left: Room, machine: str) -> Iterator[Problem]:
    """What a host has left beside GKE's own pods is the most that a worker can ask for."""
    cpu, memory, has = job.worker.cpu, job.worker.memory, f"what a host of {machine} has left"
    if cpu * 1000 > left.millicores:
        cores = left.millicores // 1000
        yield Problem(f"{path}.worker.cpu", cpu, f"at most {cores}, {has}", f"write {cores} or less")
    if mebibytes(memory) > left.mib:
        expected, fix = f"at most {left.mib}Mi, {has}", f"write {left.mib // 1024}Gi or less"
        yield Problem(f"{path}.worker.memory", memory, expected, fix)
