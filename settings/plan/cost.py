"""What a platform's chips add up to: chips, hosts and chip-hours, and money where the stack states prices.

Only the slices count: nodes for system pods, addresses and logs have prices of their own. No price is invented: an amount
that holds capacity without a stated price is not known, and says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from settings.catalogue.accelerators import SliceShape
from settings.catalogue.capacity import CapacityKind
from settings.plan.jobs import Job
from settings.plan.plan import Plan, PoolPlan
from settings.plan.slices import count_of, is_autopilot, max_run_seconds
from settings.schema.stack import PricesSection, SliceSection

HOURS_A_DAY = 24


@dataclass(frozen=True, order=True)
class Kind:
    """What a price is for: a generation of chips, and where the machines come from."""

    generation: str
    capacity: CapacityKind

    def __str__(self) -> str:
        return f"{self.generation} {self.capacity}"


@dataclass(frozen=True)
class Amount:
    """Chips that are there at a time. One hour of them is as many chip-hours as there are chips."""

    chips: int
    hosts: int
    hourly: Decimal | None
    """In the stack's currency; None where a price that it needs is not stated."""


@dataclass(frozen=True)
class JobAmount:
    """One job at its full size. It may run on any of `kinds`, and costs between `least` and `most` an hour."""

    name: str
    chips: int
    hosts: int
    kinds: tuple[Kind, ...]
    least: Decimal | None
    most: Decimal | None
    longest_hours: Decimal | None
    """After how long Google takes its nodes back, wherever it runs; None where nobody does."""


@dataclass(frozen=True)
class Cost:
    currency: str
    minimum: Amount
    """What is there while nothing runs: pools of a fixed size, and the fewest nodes of the others."""
    full: Amount
    """What is there when every pool is at its most."""
    jobs: tuple[JobAmount, ...]
    unpriced: tuple[Kind, ...]
    """What the platform may use and has no price for."""


def cost_of(plan: Plan) -> Cost:
    """Everything that is counted of a plan."""
    prices = plan.settings.prices
    slices = _slices(plan)
    kinds = {slice_.kind for slice_ in slices}
    return Cost(
        currency=prices.currency,
        minimum=_amount(((slice_, slice_.fewest) for slice_ in slices), prices),
        full=_amount(((slice_, slice_.shape.hosts) for slice_ in slices), prices),
        jobs=tuple(_job(job, plan) for job in plan.jobs),
        unpriced=tuple(sorted(kind for kind in kinds if _price(kind, prices) is None)),
    )


@dataclass(frozen=True)
class _Slice:
    """One slice of the platform, and the hosts of it that are there while nothing runs."""

    kind: Kind
    shape: SliceShape
    fewest: int


def _slices(plan: Plan) -> list[_Slice]:
    """One for each pool; on Autopilot, which makes nodes for the jobs that wait, as many as jobs may have."""
    if not is_autopilot(plan.settings):
        return [_Slice(_kind(pool.shape, pool.capacity.kind), pool.shape, _fewest(pool)) for pool in plan.pools]
    return [
        _Slice(_kind(section.shape, section.capacity), section.shape, 0)
        for section in plan.settings.slices
        for _ in range(count_of(section))
    ]


def _kind(shape: SliceShape, capacity: CapacityKind) -> Kind:
    return Kind(shape.machine.generation, capacity)


def _fewest(pool: PoolPlan) -> int:
    return pool.bounds[0] if pool.bounds is not None else pool.shape.hosts


def _amount(slices: Iterable[tuple[_Slice, int]], prices: PricesSection) -> Amount:
    counted = [(slice_.kind, hosts, hosts * slice_.shape.machine.chips) for slice_, hosts in slices]
    hourly: Decimal | None = Decimal(0)
    for kind, _, chips in counted:
        price = _price(kind, prices)
        if chips:
            hourly = hourly + price * chips if hourly is not None and price is not None else None
    return Amount(sum(chips for _, _, chips in counted), sum(hosts for _, hosts, _ in counted), hourly)


def _price(kind: Kind, prices: PricesSection) -> Decimal | None:
    """By its decimal digits, as it is written: 0.1 is a tenth."""
    stated = prices.chip_hour.get(kind.generation, {}).get(kind.capacity)
    return Decimal(str(stated)) if stated is not None else None


def _job(job: Job, plan: Plan) -> JobAmount:
    slices = job.most_slices
    sections = _sections(job, plan)
    kinds = tuple(dict.fromkeys(_kind(s.shape, s.capacity) for s in sections))
    stated = [_price(kind, plan.settings.prices) for kind in kinds]
    chips, known = slices * job.shape.chips, [price for price in stated if price is not None]
    complete = len(known) == len(kinds)
    return JobAmount(
        name=job.name,
        chips=chips,
        hosts=slices * job.shape.hosts,
        kinds=kinds,
        least=min(known) * chips if complete else None,
        most=max(known) * chips if complete else None,
        longest_hours=_longest_hours(sections),
    )


def _longest_hours(sections: Sequence[SliceSection]) -> Decimal | None:
    runs = [max_run_seconds(section) for section in sections]
    limits = [run for run in runs if run is not None]
    return Decimal(max(limits)) / 3600 if len(limits) == len(runs) else None


def _sections(job: Job, plan: Plan) -> list[SliceSection]:
    """The slices that a job may run on."""
    by_name = {section.flavor: section for section in plan.settings.slices}
    return [by_name[flavor] for flavor in job.flavors]
