"""Who has how many chips of a flavor: teams what they state, the queue over the flavor the rest, and each in a cohort
what it may borrow beside its own."""

from __future__ import annotations

from settings.copies import distinct
from settings.faults import Unsound
from settings.model import QueueSection, Settings, SliceSection
from settings.shapes import chips_of, sound_shape
from settings.team_model import LimitSection, TeamSection

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
    return own if queue.cohort is None else _most(own, queue.limits.get(section.flavor, UNLIMITED), section)


def most_of_team(team: TeamSection, section: SliceSection) -> int:
    """The most chips of a flavor that a team's jobs can have at a time. Raises Unsound as `chips_of`."""
    part = team.flavors.get(section.flavor)
    return _most(_whole(part.chips, section), part, section) if part is not None else 0


def _most(own: int, limit: LimitSection, section: SliceSection) -> int:
    there = chips_of(section)
    return there if limit.borrow is None else min(there, own + _whole(limit.borrow, section))


def _whole(chips: int, section: SliceSection) -> int:
    """Chips that are whole slices. Raises Unsound for others, which have a fault of their own."""
    if chips % sound_shape(section).chips != 0:
        raise Unsound("chips")
    return chips


def shares_fairly(settings: Settings) -> bool:
    """Whether Kueue divides what is borrowed by weight."""
    stated = settings.kueue.fair_sharing
    return stated if stated is not None else bool(settings.teams)
