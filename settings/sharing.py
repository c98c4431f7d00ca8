"""Who has how many chips of a flavor: teams what they state, the queue over the flavor the rest, and each in a cohort
what it may borrow beside its own."""

from __future__ import annotations

from collections.abc import Iterator

from settings.faults import Unsound
from settings.model import QueueSection, Settings, SliceSection
from settings.shapes import chips_of
from settings.team_model import LimitSection, TeamFlavorSection, TeamSection

TEAMS = "teams"
"""The cohort of all teams. A queue with `cohort: teams` lends to them and borrows from them."""
UNLIMITED = LimitSection()


def parts(flavor: str, settings: Settings) -> Iterator[tuple[TeamSection, TeamFlavorSection]]:
    """The teams that have a part of a flavor, even one of no chips."""
    for team in settings.teams:
        if flavor in team.flavors:
            yield team, team.flavors[flavor]


def chips_of_teams(flavor: str, settings: Settings) -> int:
    return sum(part.chips for _, part in parts(flavor, settings))


def chips_left(section: SliceSection, settings: Settings) -> int:
    """What the teams leave of a flavor to the queue over it. Raises Unsound as `chips_of`, and where the teams have more
    than there is."""
    left = chips_of(section) - chips_of_teams(section.flavor, settings)
    if left < 0:
        raise Unsound("chips")
    return left


def most_of_queue(queue: QueueSection, section: SliceSection, settings: Settings) -> int:
    """The most chips of a flavor that a queue's jobs can have at a time. Raises Unsound as `chips_of`."""
    own = chips_left(section, settings)
    return own if queue.cohort is None else _most(own, queue.limits.get(section.flavor, UNLIMITED), section)


def most_of_team(team: TeamSection, section: SliceSection) -> int:
    """The most chips of a flavor that a team's jobs can have at a time. Raises Unsound as `chips_of`."""
    part = team.flavors.get(section.flavor)
    return _most(part.chips, part, section) if part is not None else 0


def _most(own: int, limit: LimitSection, section: SliceSection) -> int:
    return chips_of(section) if limit.borrow is None else min(chips_of(section), own + limit.borrow)


def shares_fairly(settings: Settings) -> bool:
    """Whether Kueue divides what is borrowed by weight."""
    stated = settings.kueue.fair_sharing
    return stated if stated is not None else bool(settings.teams)
