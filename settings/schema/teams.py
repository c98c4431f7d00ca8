"""What a stack file says of priorities, cohorts and teams. What must hold between these values is in `priority_rules.py`,
`cohort_rules.py` and `team_rules.py`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from settings.schema.field_types import Memory, ObjectName
from settings.schema.section import Section


class PrioritySection(Section):
    """A class of jobs, by number: of two that wait, the higher goes first, and where a queue's preemption allows it the
    lower makes room. Kueue's WorkloadPriorityClass moves jobs in the queue only; with `pods` there is a PriorityClass of
    the same name too, which also moves pods in Kubernetes' own scheduler."""

    name: ObjectName
    value: int = Field(ge=-2_147_483_648, le=1_000_000_000)
    """The most that Kubernetes leaves to users; above it are the system's own classes."""
    description: str = Field(default="", max_length=2048)
    pods: bool = False


class BorrowingPreemption(Section):
    """Whether a job may evict others of the cohort for chips that its queue borrows (Kueue: borrowWithinCohort)."""

    policy: Literal["Never", "LowerPriority"] = "LowerPriority"
    max_priority_threshold: int | None = Field(default=None, ge=-2_147_483_648, le=2_147_483_647)
    """Only jobs up to this priority are evicted."""


class PreemptionSection(Section):
    """Whom a job may evict that finds no free quota: in its own queue, and in the cohort when its queue's own chips are lent."""

    within_cluster_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = "Never"
    reclaim_within_cohort: Literal["Never", "LowerPriority", "Any"] = "Never"
    borrow_within_cohort: BorrowingPreemption | None = None


TEAM_PREEMPTION = PreemptionSection.model_validate(
    {"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
)
"""What a team may evict if nothing is stated: its own lower jobs, and whoever has borrowed what is its own."""


class LimitSection(Section):
    """How many chips of a flavor a queue may borrow from its cohort and lend to it. Not stated: no limit."""

    borrow: int | None = Field(default=None, ge=0, le=1_000_000)
    lend: int | None = Field(default=None, ge=0, le=1_000_000)


class TeamFlavorSection(LimitSection):
    """A team's part of a flavor: `chips` are its own, whoever else uses them meanwhile."""

    chips: int = Field(ge=0, le=1_000_000)


class RoomSection(Section):
    """A part of the nodes for system pods, for pods of a job that need no chips: Ray's heads and submitters.

    Not stated, `cpu` and `memory` are what those nodes have left beside GKE's own pods and our controllers, in equal parts
    where several queues and teams have one.
    """

    cpu: int | None = Field(default=None, ge=0, le=1_000_000)
    memory: Memory | None = None


class MembersSection(Section):
    """Who may run jobs in a team's namespace, by the names that Kubernetes knows them under: of a Google account its
    address."""

    users: list[str] = Field(default_factory=list)
    groups: list[str] = Field(default_factory=list)


class TeamSection(Section):
    """A team: a namespace, a queue in the cohort of all teams, and what its members may do there."""

    name: ObjectName
    namespace: ObjectName | None = None
    """Not stated: the team's name, which its queues have as well."""
    members: MembersSection = MembersSection()
    flavors: dict[str, TeamFlavorSection] = Field(min_length=1)
    """In the order in which they are tried."""
    cpu: RoomSection | None = None
    """For Ray jobs, whose heads need nodes without chips. What is idle of it the cohort may use."""
    weight: int = Field(default=1, ge=0, le=1_000_000)
    """Of two teams that borrow, one of twice the weight may have twice the chips (Kueue's fair sharing)."""
    preemption: PreemptionSection = TEAM_PREEMPTION

    @property
    def home(self) -> str:
        """The team's namespace."""
        return self.namespace if self.namespace is not None else self.name
