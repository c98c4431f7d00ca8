"""Quotas of queues and teams: in whole slices, with limits and preemption that Kueue accepts."""

from __future__ import annotations

from collections.abc import Iterator

from settings.plan.borrowing import TEAMS, nominal_quota, shares_fairly
from settings.plan.job_queues import job_queues
from settings.plan.queues import sections_of
from settings.schema.stack import QueueSection, Settings, SliceSection
from settings.schema.teams import LimitSection, PreemptionSection, TeamSection
from settings.validation.problem import MISSING, Described, Problem

_COHORT = f"write cohort: {TEAMS}, or a name of your own"


def check(settings: Settings) -> Iterator[Problem]:
    for index, queue in enumerate(settings.queues):
        path = f"queues[{index}]"
        yield from _alone(path, queue)
        yield from _limits(path, queue, settings)
        yield from _no_chips(path, queue, settings)
    for index, team in enumerate(settings.teams):
        yield from _parts(f"teams[{index}]", team, settings)
    for job_queue in job_queues(settings):
        if job_queue.owner.preemption is not None:
            path = f"{job_queue.path}.preemption"
            yield from _preemption(path, job_queue.owner.preemption)
            yield from _fair(path, job_queue.owner.preemption, settings)


def _alone(path: str, queue: QueueSection) -> Iterator[Problem]:
    """One problem for all keys that need a cohort. Kueue refuses limits without one."""
    if queue.cohort is not None:
        return
    borrows = queue.preemption is not None and queue.preemption.borrow_within_cohort is not None
    keys = [*(["limits"] if queue.limits else []), *(["preemption.borrowWithinCohort"] if borrows else [])]
    if keys:
        expected = f"a cohort to borrow from and lend to, for {' and '.join(keys)}"
        yield Problem(f"{path}.cohort", MISSING, expected, f"{_COHORT}, or remove {' and '.join(keys)}")


def _limits(path: str, queue: QueueSection, settings: Settings) -> Iterator[Problem]:
    by_name = {section.flavor: section for section in sections_of(queue, settings)}
    for flavor, limit in queue.limits.items():
        at = f"{path}.limits.{flavor}"
        if flavor in by_name:
            section = by_name[flavor]
            yield from _whole_slices(at, limit, ("borrow", "lend"), section)
            yield from _lent(at, limit, nominal_quota(section, settings), section)
        else:
            expected = f"a flavor of this queue: {', '.join(by_name)}"
            yield Problem(at, flavor, expected, "remove it, or list it in the queue's flavors")


def _parts(path: str, team: TeamSection, settings: Settings) -> Iterator[Problem]:
    by_name = {section.flavor: section for section in settings.slices}
    for flavor, part in team.flavors.items():
        at = f"{path}.flavors.{flavor}"
        yield from _whole_slices(at, part, ("chips", "borrow", "lend"), by_name[flavor])
        yield from _lent(at, part, part.chips, by_name[flavor])


def _whole_slices(path: str, limit: LimitSection, keys: tuple[str, ...], section: SliceSection) -> Iterator[Problem]:
    """Jobs run on whole slices, so the chips of part of a slice are of no use."""
    chips = section.shape.chips
    for key in keys:
        value = getattr(limit, key)
        if value is not None and value % chips != 0:
            near = sorted({value // chips * chips, (value // chips + 1) * chips})
            fix = f"write {' or '.join(str(each) for each in near)}"
            yield Problem(f"{path}.{key}", value, f"whole slices of {chips} chips", fix)


def _lent(path: str, limit: LimitSection, own: int, section: SliceSection) -> Iterator[Problem]:
    """Kueue refuses a lending limit above the quota. Chips of part of a slice are another problem."""
    chips = section.shape.chips
    if limit.lend is not None and limit.lend > own and own % chips == 0 and limit.lend % chips == 0:
        yield Problem(f"{path}.lend", limit.lend, f"at most {own}, its own chips", f"write {own}, or remove the key")


def _no_chips(path: str, queue: QueueSection, settings: Settings) -> Iterator[Problem]:
    """A queue without quota and without a cohort never admits a job."""
    if queue.cohort is not None or not settings.teams or (queue.flavors is None and len(settings.queues) > 1):
        return
    sections = sections_of(queue, settings)
    if sections and not any(nominal_quota(section, settings) for section in sections):
        names = ", ".join(section.flavor for section in sections)
        only = "write queues: [] if teams are to have all" if len(settings.queues) == 1 else "remove the queue"
        expected = f"chips to offer: teams have all of {names}"
        yield Problem(path, Described("a queue without chips"), expected, f"{only}, or add cohort: {TEAMS} to it")


def _preemption(path: str, preemption: PreemptionSection) -> Iterator[Problem]:
    borrowing = preemption.borrow_within_cohort
    if borrowing is not None and borrowing.policy != "Never" and preemption.reclaim_within_cohort == "Never":
        expected = "LowerPriority or Any: Kueue accepts borrowWithinCohort only together with it"
        value = MISSING if "reclaim_within_cohort" not in preemption.model_fields_set else "Never"
        yield Problem(f"{path}.reclaimWithinCohort", value, expected, "write Any, or remove borrowWithinCohort")


def _fair(path: str, preemption: PreemptionSection, settings: Settings) -> Iterator[Problem]:
    borrowing = preemption.borrow_within_cohort
    if borrowing is None or borrowing.policy == "Never" or not shares_fairly(settings):
        return
    stated = settings.kueue.fair_sharing is not None
    why = "kueue.fairSharing is true" if stated else "fair sharing is on because the stack has teams"
    expected = f"not set, because Kueue does not accept borrowWithinCohort with fair sharing: {why}"
    shown = Described(", ".join(f"{key}: {value}" for key, value in borrowing.model_dump(exclude_none=True).items()))
    yield Problem(f"{path}.borrowWithinCohort", shown, expected, "remove it, or write kueue.fairSharing: false")
