"""The flavors of a multislice job: known, of one queue, and such that the job is the same wherever it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.catalogue.accelerators import SliceShape
from settings.plan.job_flavors import common, named, selected
from settings.plan.queues import node_labels, queue_of_flavor, sections_of
from settings.plan.slices import shape_of, sound_shape
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.validation.lists import distinct, places
from settings.validation.problem import MISSING, Problem, Unsound, duplicates, rule
from settings.validation.queues import flavor_names

Places = list[tuple[int, SliceSection]]
"""Entries of `slices`, with where they stand."""


@rule
def check(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    yield from _stated(path, job, settings)
    yield from listed_once(path, job)
    yield from _of_one_queue(path, job, settings)
    yield from _as_the_queue_has_them(path, job, settings)
    yield from _alike(path, job, settings)


def sections(job: WorkloadSection, settings: Settings) -> Places:
    """Where a job may run as far as it says so: the flavors that it names. Raises Unsound while one of them has a fault, or
    their names."""
    found = named(job, settings)
    if job.flavors is None and job.flavor is None:
        return [(0, found[0])]
    names = [name for _, name in places("{}", distinct(settings.slices), "flavor")]
    twice = job.flavors is not None and (job.flavor is not None or len(set(job.flavors)) < len(job.flavors))
    if twice or any(names.count(section.flavor) != 1 for section in found):
        raise Unsound("flavor")
    return [(settings.slices.index(section), section) for section in found]


@rule
def _stated(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    known = list(dict.fromkeys(section.flavor for section in settings.slices))
    if job.flavors is None:
        if job.flavor is None and len(distinct(settings.slices)) > 1:
            expected = f"one of the flavors in slices: {', '.join(known)}"
            yield Problem(f"{path}.flavor", MISSING, expected, f"write {known[0]}")
    else:
        yield from one_key(path, job, "in slices", known)


@rule
def one_key(path: str, job: WorkloadSection | RayJobSection, where: str, known: Sequence[str]) -> Iterator[Problem]:
    """`flavors` stands in place of `flavor`, and lists something."""
    if job.flavors is not None and job.flavor is not None:
        expected = "nothing beside `flavors`, which lists all that will do"
        yield Problem(
            f"{path}.flavor", job.flavor, expected, "remove the key, or remove `flavors` if all of its shape will do"
        )
    elif job.flavors == []:
        expected = f"at least one of the flavors {where}: {', '.join(known)}"
        yield Problem(f"{path}.flavors", [], expected, f"write [{known[0]}], or write `flavor` in its place")


@rule
def listed_once(path: str, job: WorkloadSection | RayJobSection) -> Iterator[Problem]:
    names = job.flavors if job.flavors is not None else []
    yield from duplicates([(f"{path}.flavors[{j}]", name) for j, name in enumerate(names)], "flavor", "remove it")


def given_out_with(name: str, job: WorkloadSection, settings: Settings) -> tuple[str, list[str]]:
    """What gives a job its first flavor, in words, and all that it gives out. Raises Unsound while that is open."""
    if job.team is not None:
        team = next((team for team in settings.teams if team.name == job.team), None)
        if team is None or name not in team.flavors:
            raise Unsound("team")
        return f"team {team.name}", _known(list(team.flavors), settings)
    queue = queue_of_flavor(name, settings)
    if queue is None or (queue.flavors is None and len(settings.queues) > 1):
        raise Unsound("queues")
    _known(queue.flavors if queue.flavors is not None else [], settings)
    return f"queue {queue.local_queue}", [section.flavor for section in sections_of(queue, settings)]


def _known(names: list[str], settings: Settings) -> list[str]:
    """Raises Unsound for a list with a name that is unknown: it may have meant any."""
    if not set(names) <= set(flavor_names(settings)):
        raise Unsound("flavors")
    return names


def _others(job: WorkloadSection, settings: Settings) -> tuple[str, list[str], list[str]]:
    """Of a job that lists its flavors: what gives it the first, all that it gives out, and the list."""
    if job.flavors is None or not set(job.flavors) <= set(flavor_names(settings)):
        raise Unsound("flavors")
    sections(job, settings)
    return *given_out_with(job.flavors[0], job, settings), job.flavors


@rule
def _of_one_queue(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    """A job is in one queue, and gets what that gives out."""
    giver, given, expected = _others(job, settings)
    everywhere = {name for team in settings.teams for name in team.flavors}
    everywhere |= {name for queue in settings.queues if queue.flavors is not None for name in queue.flavors}
    for j, name in enumerate(expected):
        if name not in given and name in everywhere:  # one that nobody gives out is a fault of the queues
            rest = f"a flavor of {giver}, as {expected[0]} is: {', '.join(given)}"
            yield Problem(f"{path}.flavors[{j}]", name, rest, f"remove it, or let {giver} give out {name}")


@rule
def _as_the_queue_has_them(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    giver, given, expected = _others(job, settings)
    yield from in_turn(path, giver, given, expected)
    yield from told_apart(path, giver, given, expected, settings)


@rule
def in_turn(path: str, giver: str, given: list[str], expected: list[str]) -> Iterator[Problem]:
    order = [name for name in given if name in expected]
    if len(order) == len(expected) and order != expected:
        why = f"the order in which {giver} tries them: {', '.join(order)}"
        yield Problem(f"{path}.flavors", expected, why, f"write [{', '.join(order)}], or change the order of {giver}")


@rule
def _alike(path: str, job: WorkloadSection, settings: Settings) -> Iterator[Problem]:
    """A job has as many pods as its slices have hosts, each with all chips of its host, whichever flavor it gets; and its program
    counts on as many devices."""
    (_, first), *others = sections(job, settings)
    shape = sound_shape(first)
    for index, other in others:
        yield from _like(f"{path}.flavors", job.flavors, (first, shape), (index, other))


@rule
def _like(
    path: str, names: Sequence[str] | None, first: tuple[SliceSection, SliceShape], other: tuple[int, SliceSection]
) -> Iterator[Problem]:
    (section, shape), (index, against) = first, other
    theirs = sound_shape(against)
    if _pods(shape) != _pods(theirs):
        expected = f"flavors of slices alike in {_shown(section, shape)}; {_shown(against, theirs)}"
    elif shape.machine.devices_per_chip != theirs.machine.devices_per_chip:
        expected = (
            f"flavors on which JAX shows as many devices: {_devices(section, shape)}, {_devices(against, theirs)}"
        )
    else:
        return
    twin = _twin(shape, theirs)
    change = f", or write slices[{index}].topology: {twin}" if twin is not None else ""
    yield Problem(path, names, expected, f"remove {against.flavor}: what is different is another job{change}")


def _pods(shape: SliceShape) -> tuple[int, int]:
    return shape.hosts, shape.machine.chips


def _shown(section: SliceSection, shape: SliceShape) -> str:
    hosts = "host" if shape.hosts == 1 else "hosts"
    return f"{section.flavor} has {shape.hosts} {hosts} with {shape.machine.chips} chips each"


def _devices(section: SliceSection, shape: SliceShape) -> str:
    return f"{section.flavor} {shape.machine.devices_per_chip} a chip"


def _twin(shape: SliceShape, other: SliceShape) -> str | None:
    """The topology in which the other machine type makes slices like the first, if it makes such."""
    if shape.machine.devices_per_chip != other.machine.devices_per_chip:
        return None
    made = (SliceShape(other.machine, topology) for topology in other.machine.topologies())
    return next((twin.topology for twin in made if _pods(twin) == _pods(shape)), None)


@rule
def told_apart(path: str, giver: str, given: list[str], expected: list[str], settings: Settings) -> Iterator[Problem]:
    """What a pod selects by labels cannot leave out a flavor that has all labels of a listed one and more. Only Autopilot has
    such: what is spot there is marked, and what is not is not."""
    labels = {s.flavor: tuple(node_labels(s, settings).items()) for s in settings.slices if shape_of(s) is not None}
    if not set(given) <= set(labels):
        return
    mine = [labels[name] for name in expected]
    for name in given:
        if name not in expected and selected(dict(labels[name]), mine):
            plain = next(own for own in expected if set(labels[own]) <= set(labels[name]))
            why = f"{name} too, which {giver} gives out: by its nodes' labels it is {plain} as well ({_labels(labels[name])})"
            yield Problem(f"{path}.flavors", expected, why, f"add {name}, or give {plain} a queue of its own")


def _labels(labels: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in common([tuple(labels)]).items())
