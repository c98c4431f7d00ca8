"""The flavors of a Ray job: of its queue, and of one shape, for which its workers are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.catalogue.accelerators import SliceShape
from settings.plan.ray_queue import RayHome, homes, ray_home, ray_sections
from settings.plan.slices import is_queued, sound_shape
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, SliceSection
from settings.validation.job_flavors import in_turn, listed_once, one_key, told_apart
from settings.validation.problem import MISSING, Problem, Unsound, rule
from settings.validation.queues import flavor_names

Entries = list[tuple[int, RayJobSection]]


def shape(job: RayJobSection, home: RayHome, settings: Settings) -> SliceShape:
    """What the workers of a job are made for. Raises Unsound while that is several shapes, or open."""
    shapes = _shapes(ray_sections(job, home, settings))
    if len(shapes) != 1:
        raise Unsound("flavors")
    return shapes[0]


@rule
def check(path: str, job: RayJobSection, home: RayHome, settings: Settings) -> Iterator[Problem]:
    given, giver = _given(home, settings), f"{home.noun} {home.local_queue}"
    yield from one_key(path, job, f"of {giver}", given)
    yield from listed_once(path, job)
    yield from _of_its_queue(path, job, giver, given, settings)
    yield from _of_a_list(path, job, home, giver, given, settings)


def _given(home: RayHome, settings: Settings) -> list[str]:
    """What a queue gives out. Raises Unsound where that is nothing, or has a name that is unknown and may have meant any."""
    names = home.owner.flavors if home.owner.flavors is not None else flavor_names(settings)
    if not names or not set(names) <= set(flavor_names(settings)):
        raise Unsound("flavors")
    return [section.flavor for section in home.sections(settings)]


@rule
def _of_its_queue(
    path: str, job: RayJobSection, giver: str, given: Sequence[str], settings: Settings
) -> Iterator[Problem]:
    """A job gets what its queue gives out. A flavor that is not in `slices`, or that nobody gives out, is another fault."""
    known = flavor_names(settings)
    everywhere = {flavor for team in settings.teams for flavor in team.flavors}
    everywhere |= {flavor for queue in settings.queues if queue.flavors is not None for flavor in queue.flavors}
    named = [(f"{path}.flavor", job.flavor)] if job.flavor is not None else []
    listed = [(f"{path}.flavors[{j}]", name) for j, name in enumerate(job.flavors if job.flavors is not None else [])]
    for at, name in [*named, *listed]:
        if name in known and name in everywhere and name not in given:
            expected = f"a flavor of {giver}: {', '.join(given)}"
            yield Problem(at, name, expected, f"write {given[0]}, or let {giver} give out {name}")


@rule
def _of_a_list(
    path: str, job: RayJobSection, home: RayHome, giver: str, given: list[str], settings: Settings
) -> Iterator[Problem]:
    """A worker group has one number of hosts, and GKE's webhook for its workers and Ray both read one topology of it: Ray takes
    a slice by its generation and topology (docs/ray.md)."""
    sections = ray_sections(job, home, settings)
    if job.flavors is None:
        return
    others = [section.flavor for section in sections if sound_shape(section) != sound_shape(sections[0])]
    if others:
        expected = f"flavors of one shape, for which a Ray job's workers are made; these have {_shown(sections)}"
        fix = f"remove {', '.join(others)}: what is different is another job"
        yield Problem(f"{path}.flavors", job.flavors, expected, fix)
    yield from in_turn(path, giver, given, job.flavors)
    yield from told_apart(path, giver, given, job.flavors, settings)


@rule
def unnamed(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """A job that names no flavor takes any of its queue's. One fault for all such jobs of a queue."""
    for home in homes(settings):
        yield from _unnamed_of(home, entries, settings)


@rule
def _unnamed_of(home: RayHome, entries: Entries, settings: Settings) -> Iterator[Problem]:
    paths = [
        f"ray.jobs[{index}].flavor"
        for index, job in entries
        if ray_home(job, settings) == home and job.flavor is None and job.flavors is None
    ]
    sections = home.sections(settings)
    if not paths or len(_shapes(sections)) < 2 or home.owner.cpu is None:
        return
    giver = f"{home.noun} {home.local_queue}"
    also = f" ({', '.join(paths[1:])} too)" if paths[1:] else ""
    expected = f"a flavor of {giver}, which has several shapes: {_shown(sections)}{also}"
    yield Problem(paths[0], MISSING, expected, f"write {sections[0].flavor}: any flavor of its shape will do")


@rule
def not_queued(path: str, job: RayJobSection, home: RayHome, settings: Settings) -> Iterator[Problem]:
    """A job of several slices does without the queued flavors that have the quota for it."""
    slices = max(job.slices, job.max_slices) if job.elastic and job.max_slices is not None else job.slices
    chips, sections = slices * shape(job, home, settings).chips, ray_sections(job, home, settings)
    queued = [s.flavor for s in sections if is_queued(s) and home.most(s, settings) >= chips]
    others = [section.flavor for section in sections if not is_queued(section)]
    if slices > 1 and queued:
        why = f"without {queued[0]}, which has quota for {slices} slices and is queued: GKE serves a ProvisioningRequest from one"
        key, got = ("flavors", job.flavors) if job.flavors is not None else ("flavor", job.flavor)
        expected, fix = f"flavors {why} pool, which is one slice", f"write `flavors: [{', '.join(others)}]`"
        yield Problem(f"{path}.{key}", got if got is not None else MISSING, expected, fix)


def _shapes(sections: Sequence[SliceSection]) -> list[SliceShape]:
    return list(dict.fromkeys(sound_shape(section) for section in sections))


def _shown(sections: Sequence[SliceSection]) -> str:
    return ", ".join(f"{section.flavor} {section.machine_type} {section.topology}" for section in sections)
