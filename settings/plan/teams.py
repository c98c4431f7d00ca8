"""Teams in numbers: who they are, where their jobs are, and the most chips that these can have."""

from __future__ import annotations

from dataclasses import dataclass

from settings.plan.borrowing import chip_quota
from settings.schema.stack import Settings
from settings.schema.teams import TeamSection


@dataclass(frozen=True)
class TeamPlan:
    name: str
    namespace: str
    users: tuple[str, ...]
    groups: tuple[str, ...]
    chip_quota: int
    """Its own and what its limits let it borrow, over all of its flavors."""


def team_plans(settings: Settings) -> tuple[TeamPlan, ...]:
    return tuple(_plan(team, settings) for team in settings.teams)


def _plan(team: TeamSection, settings: Settings) -> TeamPlan:
    sections = [section for section in settings.slices if section.flavor in team.flavors]
    return TeamPlan(
        name=team.name,
        namespace=team.home,
        users=tuple(team.members.users),
        groups=tuple(team.members.groups),
        chip_quota=sum(chip_quota(team, section) for section in sections),
    )
