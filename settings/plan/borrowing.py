"""Chip quotas: each team's as stated, the queue's over a flavor from what the teams leave, and what each may borrow in its cohort.

A value with a problem of its own (not whole slices, more than exists) limits nobody here: it has one problem, and no consequences.
"""

from __future__ import annotations

from collections.abc import Iterator

from settings.plan.slices import chips_of
from settings.schema.stack import QueueSection, Settings, SliceSection
from settings.schema.teams import LimitSection, TeamFlavorSection, TeamSection

TEAMS = "teams"
"""The cohort of all teams. A queue with `cohort: teams` lends to them and borrows from them."""
UNLIMITED = LimitSection()


def nominal_quota(section: SliceSection, settings: Settings) -> int:
    """The chips of a flavor that the teams leave to the queue over it."""
    total, chips = chips_of(section), [part.chips for part in _parts(section, settings)]
    usable = all(_whole(each, section) for each in chips) and sum(chips) <= total
    return total - sum(chips) if usable else total


def reachable_chips(owner: QueueSection | TeamSection, section: SliceSection, settings: Settings) -> int:
    """The most chips of a flavor that the jobs of a queue or a team can have at a time: its own and what it can borrow."""
    if not _usable(section, settings):
        return chips_of(section)
    if isinstance(owner, TeamSection):
        part = owner.flavors.get(section.flavor)
        return part.chips + _borrowed(part, TEAMS, owner, section, settings) if part is not None else 0
    own = nominal_quota(section, settings)
    if owner.cohort is None:
        return own
    limit = owner.limits.get(section.flavor, UNLIMITED)
    return own + _borrowed(limit, owner.cohort, owner, section, settings)


def chip_quota(team: TeamSection, section: SliceSection) -> int:
    """The most chips that a team's limits allow, independent of the rest of the cohort: what another team lends, or a new team
    takes, does not change this quota."""
    part, total = team.flavors[section.flavor], chips_of(section)
    return total if part.borrow is None else min(total, part.chips + part.borrow)


def shares_fairly(settings: Settings) -> bool:
    """Whether Kueue divides borrowed chips by weight."""
    stated = settings.kueue.fair_sharing
    return stated if stated is not None else bool(settings.teams)


def _parts(section: SliceSection, settings: Settings) -> list[TeamFlavorSection]:
    return [team.flavors[section.flavor] for team in settings.teams if section.flavor in team.flavors]


def _usable(section: SliceSection, settings: Settings) -> bool:
    """Whether no value that divides this flavor has a problem of its own."""
    parts, total = _parts(section, settings), chips_of(section)
    own = nominal_quota(section, settings)
    queues = [queue for queue in settings.queues if _offers(queue, section)]
    limits = [(own, queue.limits.get(section.flavor, UNLIMITED)) for queue in queues]
    divided = [*limits, *((part.chips, part) for part in parts)]
    return (
        sum(part.chips for part in parts) <= total
        and all(queue.cohort is not None or not queue.limits for queue in queues)
        and all(_whole(part.chips, section) for part in parts)
        and all(_whole(chips, section) for _, limit in divided for chips in (limit.borrow, limit.lend))
        and all(limit.lend is None or limit.lend <= chips for chips, limit in divided)
    )


def _borrowed(
    limit: LimitSection, cohort: str, borrower: QueueSection | TeamSection, section: SliceSection, settings: Settings
) -> int:
    """What others of the cohort lend, up to the borrowing limit."""
    lent = sum(_lent(cohort, borrower, section, settings))
    return lent if limit.borrow is None else min(limit.borrow, lent)


def _lent(
    cohort: str, borrower: QueueSection | TeamSection, section: SliceSection, settings: Settings
) -> Iterator[int]:
    """What each other queue and team of a cohort lends: its own quota, up to its lending limit (Kueue, "Cohort")."""
    for queue in settings.queues:
        if queue is not borrower and queue.cohort == cohort and _offers(queue, section):
            own = nominal_quota(section, settings)
            limit = queue.limits.get(section.flavor, UNLIMITED)
            yield own if limit.lend is None else limit.lend
    for team in settings.teams:
        part = team.flavors.get(section.flavor)
        if team is not borrower and cohort == TEAMS and part is not None:
            yield part.chips if part.lend is None else part.lend


def _offers(queue: QueueSection, section: SliceSection) -> bool:
    return queue.flavors is None or section.flavor in queue.flavors


def _whole(chips: int | None, section: SliceSection) -> bool:
    return chips is None or chips % section.shape.chips == 0
