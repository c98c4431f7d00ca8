"""Ray jobs: whether their workers can ever run, and whether what is asked of Kueue is something it can keep."""

from __future__ import annotations

import re
from collections.abc import Iterator

from settings.plan.ray_queue import RayHome, ray_home, ray_sections
from settings.plan.slices import slices_of
from settings.plan.system_nodes import Room, node_room
from settings.schema.field_types import mebibytes
from settings.schema.ray import RayJobSection
from settings.schema.stack import ELASTIC_JOBS, Settings
from settings.validation import ray_flavors
from settings.validation.jobs import after_once, nothing_to_have
from settings.validation.lists import copies, distinct, once, places
from settings.validation.problem import Problem, Unsound, duplicates, rule, unknown_names

_PINNED = re.compile(r"[A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?==[A-Za-z0-9.+!_-]+")
_NAME = re.compile(r"\s*([A-Za-z0-9._-]+(\[[A-Za-z0-9._,-]+\])?)")

Entries = list[tuple[int, RayJobSection]]


@rule
def check(settings: Settings) -> Iterator[Problem]:
    if settings.ray.jobs and not settings.ray.here:
        expected = "addon or helm: there are Ray jobs, and without KubeRay nothing runs them"
        yield Problem("ray.operator", settings.ray.operator, expected, "write addon, or remove ray.jobs")
    entries = distinct(settings.ray.jobs)
    yield from copies("ray.jobs[{}]", settings.ray.jobs)
    yield from duplicates(places("ray.jobs[{}].name", entries, "name"), "job name")
    yield from _other_names(entries, settings)
    yield from _after(entries)
    yield from _gate(entries, settings)
    yield from ray_flavors.unnamed(entries, settings)
    for index, job in entries:
        path = f"ray.jobs[{index}]"
        yield from after_once(path, job)
        yield from _requirements(path, job)
        yield from _elastic(path, job)
        yield from _flavors(path, job, settings)


def home_of(job: RayJobSection, settings: Settings) -> RayHome:
    """Where a Ray job waits, which has nodes for its head. Raises Unsound while there is no such place: a rule says so."""
    home = ray_home(job, settings)
    if home is None or home.owner.cpu is None:
        raise Unsound("queue")
    return home


@rule
def _other_names(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """A JobSet and a RayJob of one name would be two different kinds, but their pods and dashboards could not be told apart."""
    multislice = {name: path for path, name in places("workloads[{}].name", enumerate(settings.workloads), "name")}
    for path, name in places("ray.jobs[{}].name", entries, "name"):
        if name in multislice:
            yield Problem(path, name, f"a name of its own: {multislice[name]} has it", "rename one")


@rule
def _after(entries: Entries) -> Iterator[Problem]:
    """Only earlier jobs of the list can be waited for, so no circle is possible."""
    names = once([job for _, job in entries], "name")
    expected = "a Ray job that stands before this one in the list"
    unknown: dict[str, tuple[list[str], list[tuple[str, str]]]] = {}
    for position, (index, job) in enumerate(entries):
        for path, after in places("ray.jobs[{}].after", [(index, job)], "after"):
            for j, name in enumerate(after):
                if name not in names:
                    unknown.setdefault(name, (names[:position], []))[1].append((f"{path}[{j}]", name))
                elif name not in names[:position]:
                    itself = name == job.name
                    fix = "remove it: a job cannot wait for itself" if itself else "move this job behind it"
                    yield Problem(f"{path}[{j}]", name, expected, fix)
    for earlier, named in unknown.values():
        yield from unknown_names(named, earlier, expected)


@rule
def _gate(entries: Entries, settings: Settings) -> Iterator[Problem]:
    elastic = [path for path, on in places("ray.jobs[{}].elastic", entries, "elastic") if on]
    if elastic and settings.kueue.feature_gates.get(ELASTIC_JOBS) is False:
        expected = f"true: without it Kueue refuses the autoscaling of {', '.join(elastic)}"
        yield Problem(f"kueue.featureGates.{ELASTIC_JOBS}", False, expected, "write true, or remove `elastic`")


@rule
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
    """What to write for a requirement that is not pinned. One by an address has no version to tell."""
    named = re.fullmatch(r"\s*([A-Za-z0-9._-]+)\s*@.*", text)
    name = _NAME.match(text)
    if named is not None:
        return f"write {named.group(1)}==VERSION, a release of the package index"
    if "://" in text or name is None:
        return "pin it with ==, by its name in the package index: NAME==VERSION"
    return f"write {name.group(1)}==VERSION"


@rule
def _elastic(path: str, job: RayJobSection) -> Iterator[Problem]:
    most, slices = job.max_slices, job.slices
    if most is not None and most < slices:
        yield Problem(f"{path}.maxSlices", most, f"at least slices, {slices}", f"write {slices} or more")
    elif most is not None and most > slices and not job.elastic:
        expected = f"slices, {slices}: only an elastic job grows"
        yield Problem(f"{path}.maxSlices", most, expected, "add `elastic: true`, or remove the key")


@rule
def _flavors(path: str, job: RayJobSection, settings: Settings) -> Iterator[Problem]:
    home = home_of(job, settings)
    yield from ray_flavors.check(path, job, home, settings)
    yield from _worker(path, job, home, settings)
    yield from _slices(path, job, home, settings)


@rule
def _slices(path: str, job: RayJobSection, home: RayHome, settings: Settings) -> Iterator[Problem]:
    shape, sections = ray_flavors.shape(job, home, settings), ray_sections(job, home, settings)
    most = {
        section.flavor: min(slices_of(section), home.most(section, settings) // shape.chips) for section in sections
    }
    best = max(most.values())
    shown = ", ".join(f"{flavor} {count}" for flavor, count in most.items())
    expected = (
        f"at most {best}: a job stays on one flavor, a multi-host pool is one slice, and the flavors have {shown}"
    )
    fix = f"write {best}, or list more pools for a flavor"
    if best == 0:
        yield nothing_to_have(f"{path}.slices", job.slices, " or ".join(most))
    elif job.slices > best:
        yield Problem(f"{path}.slices", job.slices, expected, fix)
    elif job.elastic and job.max_slices is not None and job.max_slices > best:
        yield Problem(f"{path}.maxSlices", job.max_slices, expected, fix)
    else:
        yield from ray_flavors.not_queued(path, job, home, settings)


@rule
def _worker(path: str, job: RayJobSection, home: RayHome, settings: Settings) -> Iterator[Problem]:
    machine = ray_flavors.shape(job, home, settings).machine
    left = node_room(Room(machine.vcpus * 1000, machine.memory_gb * 1024))
    has = f"what a host of {machine.name} has left"
    cpu, memory = vars(job.worker).get("cpu"), vars(job.worker).get("memory")
    if cpu is not None and cpu * 1000 > left.millicores:
        cores = left.millicores // 1000
        yield Problem(f"{path}.worker.cpu", cpu, f"at most {cores}, {has}", f"write {cores} or less")
    if memory is not None and mebibytes(memory) > left.mib:
        yield Problem(
            f"{path}.worker.memory", memory, f"at most {left.mib}Mi, {has}", f"write {left.mib // 1024}Gi or less"
        )
