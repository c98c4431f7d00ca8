"""The flavors of a job: of one queue, in its order, and such that the job is the same on each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.catalogue.accelerators import SliceShape
from settings.plan.job_flavors import common, selected
from settings.plan.job_queues import (
    AnyJob,
    JobQueue,
    PlacedJob,
    job_entries,
    job_queues,
    names_flavors_once,
    placed_jobs,
    queue_of,
)
from settings.plan.queues import node_labels
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.validation.problem import MISSING, Problem, duplicates


def check(settings: Settings) -> Iterator[Problem]:
    for path, job in job_entries(settings):
        queue = queue_of(job, settings)
        yield from _stated(path, job, queue, settings)
        if queue is not None and names_flavors_once(job):
            yield from _offered(path, job, queue, settings)
    for placed in placed_jobs(settings):
        yield from _in_order(placed, settings)
        yield from _distinguishable(placed, settings)
        if isinstance(placed.job, WorkloadSection):
            yield from _alike(placed, settings)


def _stated(path: str, job: AnyJob, queue: JobQueue | None, settings: Settings) -> Iterator[Problem]:
    """Of `flavor` and `flavors` a job has one, which lists something, each once."""
    known = [section.flavor for section in settings.slices]
    names = job.flavors if job.flavors is not None else []
    if job.flavors is None and job.flavor is None and len(known) > 1 and isinstance(job, WorkloadSection):
        yield Problem(
            f"{path}.flavor", MISSING, f"one of the flavors in slices: {', '.join(known)}", f"write {known[0]}"
        )
    elif job.flavors is not None and job.flavor is not None:
        expected = "not set, because `flavors` lists all that will do"
        fix = "remove the key, or remove `flavors` if all of its shape will do"
        yield Problem(f"{path}.flavor", job.flavor, expected, fix)
    elif job.flavors == []:
        offered, where = (known, "in slices")
        if queue is not None:
            offered, where = [section.flavor for section in queue.sections(settings)], f"of {queue.label}"
        expected = f"at least one of the flavors {where}: {', '.join(offered)}"
        yield Problem(f"{path}.flavors", [], expected, f"write [{offered[0]}], or write `flavor` in its place")
    yield from duplicates([(f"{path}.flavors[{j}]", name) for j, name in enumerate(names)], "flavor", "remove it")


def _offered(path: str, job: AnyJob, queue: JobQueue, settings: Settings) -> Iterator[Problem]:
    """A job gets only what its one queue offers. A flavor that no queue offers is a problem of the queues."""
    offered = [section.flavor for section in queue.sections(settings)]
    everywhere = {name for other in job_queues(settings) for name in other.owner.flavors or ()}
    named = [(f"{path}.flavor", job.flavor, f"write {offered[0]}")] if job.flavor is not None else []
    for j, name in enumerate(job.flavors if job.flavors is not None else []):
        named.append((f"{path}.flavors[{j}]", name, "remove it"))
    for at, name, fix in named:
        if name in everywhere and name not in offered:
            expected = f"a flavor of {queue.label}: {', '.join(offered)}"
            yield Problem(at, name, expected, f"{fix}, or add {name} to {queue.label}")


def _in_order(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    order, label = [section.flavor for section in placed.sections], placed.queue.label
    if placed.job.flavors is not None and order != placed.job.flavors:
        expected = f"the order in which {label} tries them: {', '.join(order)}"
        fix = f"write [{', '.join(order)}], or change the order of {label}"
        yield Problem(f"{placed.path}.flavors", placed.job.flavors, expected, fix)


def _distinguishable(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    """A node selector cannot exclude a flavor whose nodes have all labels of a listed one. Only Autopilot has such flavors:
    spot nodes have a label of their own, and other nodes have none."""
    if placed.job.flavors is None:
        return
    labels = {s.flavor: tuple(node_labels(s, settings).items()) for s in placed.queue.sections(settings)}
    listed = placed.job.flavors
    mine = [labels[name] for name in listed]
    for name in labels:
        if name not in listed and selected(dict(labels[name]), mine):
            plain = next(own for own in listed if set(labels[own]) <= set(labels[name]))
            shown = ", ".join(f"{key}: {value}" for key, value in common([labels[name]]).items())
            expected = f"{name} too, which {placed.queue.label} offers: its nodes have all labels of {plain} ({shown})"
            yield Problem(f"{placed.path}.flavors", listed, expected, f"add {name}, or give {plain} a queue of its own")


def _alike(placed: PlacedJob, settings: Settings) -> Iterator[Problem]:
    """A job has one number of pods, each with all chips of its host, whichever flavor it gets; and its program expects one
    number of devices."""
    first, *others = placed.sections
    for other in others:
        index = settings.slices.index(other)
        yield from _like(placed, first, index, other)


def _like(placed: PlacedJob, first: SliceSection, index: int, other: SliceSection) -> Iterator[Problem]:
    shape, theirs = first.shape, other.shape
    if _pods(shape) != _pods(theirs):
        expected = f"flavors whose slices are alike: {_shown(first, shape)}; {_shown(other, theirs)}"
    elif shape.machine.devices_per_chip != theirs.machine.devices_per_chip:
        expected = f"flavors on which JAX shows as many devices: {_devices(first, shape)}, {_devices(other, theirs)}"
    else:
        return
    twin = _twin(shape, theirs)
    change = f", or write slices[{index}].topology: {twin}" if twin is not None else ""
    fix = f"remove {other.flavor}: a job on different slices is another job{change}"
    yield Problem(f"{placed.path}.flavors", placed.job.flavors, expected, fix)


def _pods(shape: SliceShape) -> tuple[int, int]:
    return shape.hosts, shape.machine.chips


def _shown(section: SliceSection, shape: SliceShape) -> str:
    hosts = "host" if shape.hosts == 1 else "hosts"
    return f"{section.flavor} has {shape.hosts} {hosts} with {shape.machine.chips} chips each"


def _devices(section: SliceSection, shape: SliceShape) -> str:
    return f"{section.flavor} {shape.machine.devices_per_chip} a chip"


def _twin(shape: SliceShape, other: SliceShape) -> str | None:
    """The topology in which the other machine type makes slices like the first, None if none does."""
    if shape.machine.devices_per_chip != other.machine.devices_per_chip:
        return None
    made: Sequence[SliceShape] = [SliceShape(other.machine, topology) for topology in other.machine.topologies()]
    return next((twin.topology for twin in made if _pods(twin) == _pods(shape)), None)
