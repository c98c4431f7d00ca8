"""What a preview says, in lines for a terminal or a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from settings.cost import HOURS_A_DAY, Amount, Cost, JobAmount, cost_of
from settings.faults import NAMESPACE
from settings.plan import Plan

SHOWN_NAMES = 4
"""Names of resources of one type that are listed, in the order of the alphabet."""
_OURS = ("pulumi:", f"{NAMESPACE}:")


def report(environment: str, plan: Plan, preview: Mapping[str, Any]) -> list[str]:
    """`preview` is what the engine printed with `--json`."""
    return [
        f"{environment}: what `pulumi up` makes of an empty project ({plan.settings.project}, {plan.settings.location})",
        *(f"  {line}" for line in change_lines(preview["steps"])),
        "",
        "chips and cost",
        *(f"  {line}" for line in cost_lines(cost_of(plan))),
    ]


def change_lines(steps: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """For each operation how many resources there are, and below it their types with some names. Components and providers
    are not counted: they are how the program is built, not what Google or the cluster gets."""
    found: dict[str, dict[str, list[str]]] = {}
    for step in steps:
        # The last part of an URN is the name, which may have anything in it; a type has those of its parents before it.
        types, name = step["urn"].split("::", 3)[2:]
        kind = types.rsplit("$", 1)[-1]
        if not kind.startswith(_OURS):
            found.setdefault(step["op"], {}).setdefault(kind, []).append(name)
    for operation, kinds in found.items():
        yield f"{operation}: {sum(len(names) for names in kinds.values())} resources"
        for kind in sorted(kinds):
            shown = ", ".join(sorted(kinds[kind])[:SHOWN_NAMES])
            count = len(kinds[kind])
            yield f"  {count:>3} {kind:<54} {shown}{', ...' if count > SHOWN_NAMES else ''}"


def cost_lines(cost: Cost) -> Iterator[str]:
    """A table. Money stands only where every price it needs is stated."""
    heads = ("", "chips", "hosts", "chip-hours", cost.currency)
    rows = [
        heads,
        *_amount("at minimum, a day", cost.minimum),
        *_amount("at full scale, a day", cost.full),
        *(_job(job) for job in cost.jobs),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    for first, *numbers in rows:
        right = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *right)).rstrip()
    if cost.unpriced:
        listed = ", ".join(str(kind) for kind in cost.unpriced)
        yield f"no price for {listed}: state what your contract says in tpu-platform:prices"


Row = tuple[str, str, str, str, str]


def _amount(label: str, amount: Amount) -> Iterator[Row]:
    daily = amount.hourly * HOURS_A_DAY if amount.hourly is not None else None
    yield label, str(amount.chips), str(amount.hosts), str(amount.chips * HOURS_A_DAY), _money(daily)


def _job(job: JobAmount) -> Row:
    cost = _money(job.least) if job.least == job.most else f"{_money(job.least)} to {_money(job.most)}"
    return f"{job.name}, an hour", str(job.chips), str(job.hosts), str(job.chips), cost


def _money(amount: Decimal | None) -> str:
    return f"{amount:.2f}" if amount is not None else "-"
