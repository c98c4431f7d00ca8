"""Who has how many chips of a flavor: teams what they state, the queue over the flavor the rest, and each in a cohort
what it may borrow beside its own."""

from __future__ import annotations

from settings.plan.slices import chips_of, sound_shape
from settings.schema.stack import QueueSection, Settings, SliceSection
from settings.schema.teams import LimitSection, TeamSection
from settings.validation.lists import distinct
from settings.validation.problem import Unsound

TEAMS = "teams"
"""The cohort of all teams. A queue with `cohort: teams` lends to them and borrows from them."""
UNLIMITED = LimitSection()


def chips_left(section: SliceSection, settings: Settings) -> int:
    """What the teams leave of a flavor to the queue over it. Raises Unsound as `chips_of`, and where a team's part is not of
    whole slices or the teams have more than there is."""
    parts = [team.flavors[section.flavor] for _, team in distinct(settings.teams) if section.flavor in team.flavors]
    left = chips_of(section) - sum(_whole(part.chips, section) for part in parts)
    if left < 0:
        raise Unsound("chips")
    return left


def most_of_queue(queue: QueueSection, section: SliceSection, settings: Settings) -> int:
    """The most chips of a flavor that a queue's jobs can have at a time. Raises Unsound as `chips_of`."""
    own = chips_left(section, settings)
    if queue.cohort is None and queue.limits:
        raise Unsound("cohort")
    if queue.cohort is None:
        return own
    limit = queue.limits.get(section.flavor, UNLIMITED)
    return own + _borrowed(limit, _lent_in(queue.cohort, queue, section, settings), section)


def most_of_team(team: TeamSection, section: SliceSection, settings: Settings) -> int:
    """The most chips of a flavor that a team's jobs can have at a time. Raises Unsound as `chips_of`."""
    part = team.flavors.get(section.flavor)
    if part is None:
        return 0
    return _whole(part.chips, section) + _borrowed(part, _lent_in(TEAMS, team, section, settings), section)


def ceiling_of_team(team: TeamSection, section: SliceSection) -> int:
    """The most chips that a team's limits let it have, whoever else is in the cohort: what another team lends or a new one takes
    is no change of this team's. Raises Unsound as `chips_of`."""
    part, there = team.flavors[section.flavor], chips_of(section)
    return there if part.borrow is None else min(there, _whole(part.chips, section) + _whole(part.borrow, section))


def _borrowed(limit: LimitSection, lent: int, section: SliceSection) -> int:
    return lent if limit.borrow is None else min(_whole(limit.borrow, section), lent)


def _lent_in(cohort: str, but: QueueSection | TeamSection, section: SliceSection, settings: Settings) -> int:
    """What the others of a cohort lend of a flavor: each its own quota, up to its lending limit (Kueue, "Cohort").
    Raises Unsound as `chips_of`, and while a flavor that a team names is not known."""
    known = [section.flavor for section in settings.slices]
    if any(not set(team.flavors) <= set(known) for _, team in distinct(settings.teams)):
        raise Unsound("flavors")
    queues = [queue for _, queue in distinct(settings.queues) if queue is not but and queue.cohort == cohort]
    lent = [
        _lent(chips_left(section, settings), queue.limits.get(section.flavor, UNLIMITED), section)
        for queue in queues
        if queue.flavors is None or section.flavor in queue.flavors
    ]
    others = [team for _, team in distinct(settings.teams) if team is not but] if cohort == TEAMS else []
    parts = [team.flavors[section.flavor] for team in others if section.flavor in team.flavors]
    return sum(lent) + sum(_lent(_whole(part.chips, section), part, section) for part in parts)


def _lent(own: int, limit: LimitSection, section: SliceSection) -> int:
    """Raises Unsound for more than there is, which has a fault of its own."""
    lent = own if limit.lend is None else _whole(limit.lend, section)
    if lent > own:
        raise Unsound("lend")
    return lent


def _whole(chips: int, section: SliceSection) -> int:
    """Chips that are whole slices. Raises Unsound for others, which have a fault of their own."""
    if chips % sound_shape(section).chips != 0:
        raise Unsound("chips")
    return chips


def shares_fairly(settings: Settings) -> bool:
    """Whether Kueue divides what is borrowed by weight."""
    stated = settings.kueue.fair_sharing
    return stated if stated is not None else bool(settings.teams)
