"""Cohorts: what may be borrowed, lent and taken back, in whole slices and in ways that Kueue can keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from settings.plan.borrowing import TEAMS, chips_left, shares_fairly
from settings.plan.queues import sections_of
from settings.plan.slices import sound_shape
from settings.schema.stack import QueueSection, Settings, SliceSection
from settings.schema.teams import LimitSection, PreemptionSection
from settings.validation.lists import distinct, places
from settings.validation.problem import MISSING, Described, Problem, rule
from settings.validation.queues import flavor_names

_COHORT = f"write cohort: {TEAMS}, or a name of your own"


@rule
def check(settings: Settings) -> Iterator[Problem]:
    for index, queue in distinct(settings.queues):
        path = f"queues[{index}]"
        yield from _alone(path, queue)
        yield from _limited(path, queue, settings)
        yield from _something_left(path, queue, settings)
    for path, preemption in _preemptions(settings):
        yield from _preemption(path, preemption)
        yield from _fair(path, preemption, settings)


@rule
def _alone(path: str, queue: QueueSection) -> Iterator[Problem]:
    """One fault for all that only a cohort makes possible. Kueue refuses limits without one."""
    if queue.cohort is not None:
        return
    preemption = queue.preemption
    asked = [
        *(["limits"] if queue.limits else []),
        *(["preemption.borrowWithinCohort"] if preemption is not None and preemption.borrow_within_cohort else []),
    ]
    if asked:
        expected = f"a cohort to borrow from and lend to, for {' and '.join(asked)}"
        yield Problem(f"{path}.cohort", MISSING, expected, f"{_COHORT}, or remove {' and '.join(asked)}")


@rule
def _limited(path: str, queue: QueueSection, settings: Settings) -> Iterator[Problem]:
    by_name = {section.flavor: section for section in sections_of(queue, settings)}
    known = flavor_names(settings)
    for flavor in queue.limits:
        if flavor in known and flavor not in by_name:
            expected = f"a flavor of this queue: {', '.join(by_name)}"
            yield Problem(f"{path}.limits.{flavor}", flavor, expected, "remove it, or list it in the queue's flavors")
    for flavor, limit in queue.limits.items():
        if flavor in by_name:
            section = by_name[flavor]
            yield from whole_slices(f"{path}.limits.{flavor}", limit, ("borrow", "lend"), section)
            yield from lent(f"{path}.limits.{flavor}", limit, chips_left(section, settings), section)


@rule
def whole_slices(path: str, limit: LimitSection, keys: tuple[str, ...], section: SliceSection) -> Iterator[Problem]:
    """Jobs run on whole slices, so any other number is one that nobody can use."""
    chips = sound_shape(section).chips
    for key in keys:
        value = vars(limit).get(key)
        if value is not None and value % chips != 0:
            near = sorted({value // chips * chips, (value // chips + 1) * chips})
            expected = f"whole slices of {chips} chips"
            yield Problem(f"{path}.{key}", value, expected, f"write {' or '.join(str(each) for each in near)}")


@rule
def lent(path: str, limit: LimitSection, own: int, section: SliceSection) -> Iterator[Problem]:
    """Kueue refuses to lend what is not there."""
    whole = own % sound_shape(section).chips == 0
    if whole and limit.lend is not None and limit.lend > own:
        yield Problem(f"{path}.lend", limit.lend, f"at most {own}, its own chips", f"write {own}, or remove the key")


@rule
def _something_left(path: str, queue: QueueSection, settings: Settings) -> Iterator[Problem]:
    """A queue that gives out nothing and borrows from nobody keeps its jobs waiting for ever."""
    if queue.cohort is not None or not settings.teams or (queue.flavors is None and len(settings.queues) > 1):
        return
    sections = sections_of(queue, settings)
    if sections and not any(chips_left(section, settings) for section in sections):
        names = ", ".join(section.flavor for section in sections)
        expected = f"chips to give out: teams have all of {names}"
        only = "write queues: [] if teams are to have all" if len(settings.queues) == 1 else "remove the queue"
        yield Problem(path, Described("a queue without chips"), expected, f"{only}, or add cohort: {TEAMS} to it")


def _preemptions(settings: Settings) -> Iterator[tuple[str, PreemptionSection]]:
    queues = places("queues[{}].preemption", distinct(settings.queues), "preemption")
    teams = places("teams[{}].preemption", distinct(settings.teams), "preemption")
    yield from ((path, preemption) for path, preemption in (*queues, *teams) if preemption is not None)


@rule
def _preemption(path: str, preemption: PreemptionSection) -> Iterator[Problem]:
    borrowing = preemption.borrow_within_cohort
    if borrowing is not None and borrowing.policy != "Never" and preemption.reclaim_within_cohort == "Never":
        expected = "LowerPriority or Any: Kueue takes borrowWithinCohort together with it only"
        got = MISSING if "reclaim_within_cohort" not in preemption.model_fields_set else "Never"
        yield Problem(f"{path}.reclaimWithinCohort", got, expected, "write Any, or remove borrowWithinCohort")


@rule
def _fair(path: str, preemption: PreemptionSection, settings: Settings) -> Iterator[Problem]:
    borrowing = preemption.borrow_within_cohort
    if borrowing is not None and borrowing.policy != "Never" and shares_fairly(settings):
        stated = settings.kueue.fair_sharing is not None
        why = "kueue.fairSharing is true" if stated else "where there are teams it is on"
        expected = f"no borrowWithinCohort with fair sharing, which Kueue does not take together: {why}"
        fix = "remove it, or write kueue.fairSharing: false"
        yield Problem(f"{path}.borrowWithinCohort", _shown(borrowing.model_dump()), expected, fix)


def _shown(values: Mapping[str, object]) -> Described:
    return Described(", ".join(f"{key}: {value}" for key, value in values.items() if value is not None))
