"""Where a Ray job waits for its nodes: in a queue of the stack file, or in a team's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from settings.plan.borrowing import TEAMS, most_of_queue, most_of_team
from settings.plan.queues import sections_of
from settings.plan.slices import sound_shape
from settings.plan.system_nodes import Room
from settings.plan.system_quota import cpu_part
from settings.schema.ray import RayJobSection
from settings.schema.stack import QueueSection, Settings, SliceSection
from settings.schema.teams import RoomSection, TeamSection
from settings.validation.lists import distinct
from settings.validation.problem import Unsound


@dataclass(frozen=True)
class RayHome:
    """A queue or a team, at `path` of the stack file."""

    path: str
    owner: QueueSection | TeamSection

    @property
    def noun(self) -> str:
        return "team" if isinstance(self.owner, TeamSection) else "queue"

    @property
    def namespace(self) -> str:
        return self.owner.home if isinstance(self.owner, TeamSection) else self.owner.namespace

    @property
    def local_queue(self) -> str:
        return self.owner.name if isinstance(self.owner, TeamSection) else self.owner.local_queue

    @property
    def cohort(self) -> str | None:
        return TEAMS if isinstance(self.owner, TeamSection) else self.owner.cohort

    @property
    def cpu(self) -> RoomSection:
        """Its part of the nodes for heads. Raises Unsound while it has none: a rule says so."""
        if self.owner.cpu is None:
            raise Unsound("cpu")
        return self.owner.cpu

    def sections(self, settings: Settings) -> list[SliceSection]:
        """The slices behind it. Raises Unsound while a queue's flavors are not stated where they must be."""
        if self.owner.flavors is None and len(settings.queues) > 1:
            raise Unsound("flavors")
        return sections_of(self.owner, settings)

    def most(self, section: SliceSection, settings: Settings) -> int:
        """The most chips of a flavor that its jobs can have at a time."""
        if isinstance(self.owner, TeamSection):
            return most_of_team(self.owner, section, settings)
        return most_of_queue(self.owner, section, settings)

    def reach(self, settings: Settings) -> Room:
        """What its jobs can have of the nodes for heads: with what its cohort lends, of which nothing is kept back."""
        own = cpu_part(self.cpu, settings)
        if self.cohort is None:
            return own
        alike = [home for home in homes(settings) if home.cohort == self.cohort and home.owner.cpu is not None]
        rooms = [cpu_part(home.cpu, settings) for home in alike]
        return Room(sum(room.millicores for room in rooms), sum(room.mib for room in rooms))


def ray_sections(job: RayJobSection, home: RayHome, settings: Settings) -> list[SliceSection]:
    """The slices that a job may run on, in the order in which Kueue tries them: those that it lists, all of the shape of the one
    that it names, or all that its queue gives out. Raises Unsound while what it names is not a choice among those."""
    there = home.sections(settings)
    if job.flavors is None and job.flavor is None:
        return there
    names = job.flavors if job.flavors is not None else [job.flavor]
    named = [section for section in there if section.flavor in names]
    if not names or len(named) != len(names) or (job.flavor is not None and job.flavors is not None):
        raise Unsound("flavors")
    if job.flavors is not None:
        return named
    return [section for section in there if sound_shape(section) == sound_shape(named[0])]


def homes(settings: Settings) -> Iterator[RayHome]:
    """All queues, then all teams."""
    yield from (RayHome(f"queues[{index}]", queue) for index, queue in distinct(settings.queues))
    yield from (RayHome(f"teams[{index}]", team) for index, team in distinct(settings.teams))


def ray_home(job: RayJobSection, settings: Settings) -> RayHome | None:
    """Where a job says that it waits, or the only queue that has nodes for its head; None when there is no such one."""
    all_ = list(homes(settings))
    if job.team is not None:
        found = [home for home in all_ if isinstance(home.owner, TeamSection) and home.owner.name == job.team]
    else:
        queues = [home for home in all_ if isinstance(home.owner, QueueSection)]
        if job.queue is None:
            found = [home for home in queues if home.owner.cpu is not None]
            return found[0] if len(found) == 1 else None
        found = [home for home in queues if home.local_queue == job.queue]
    return found[0] if found else None
