"""The report of a preview, as lines for a terminal or for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from operations.preview.comparison import Comparison
from policies.steps import Step, steps_of
from settings.catalogue.labels import NAMESPACE
from settings.plan.cost import HOURS_A_DAY, Amount, Cost, JobAmount
from settings.plan.plan import Plan

SHOWN_NAMES = 4
"""Names of resources of one type that are listed, in the order of the alphabet."""
_OURS = ("pulumi:", f"{NAMESPACE}:")


def report(environment: str, plan: Plan, preview: Mapping[str, Any], cost: Sequence[str]) -> list[str]:
    """`preview` is what the engine printed with `--json`, `cost` lines of a table."""
    start = "an existing cluster" if plan.settings.cluster.existing else "an empty project"
    return [
        f"{environment}: what `pulumi up` makes of {start} ({plan.settings.project}, {plan.settings.location})",
        *(f"  {line}" for line in change_lines(steps_of(preview))),
        "",
        "chips and cost",
        *(f"  {line}" for line in cost),
    ]


def change_lines(steps: Sequence[Step]) -> Iterator[str]:
    """For each operation the number of resources, and below it their types with some names. Components and providers are not
    counted: they structure the program, and neither Google nor the cluster gets them."""
    found: dict[str, dict[str, list[str]]] = {}
    for step in steps:
        if not step.kind.startswith(_OURS):
            found.setdefault(step.operation, {}).setdefault(step.kind, []).append(step.name)
    for operation, kinds in found.items():
        yield f"{operation}: {sum(len(names) for names in kinds.values())} resources"
        for kind in sorted(kinds):
            shown = ", ".join(sorted(kinds[kind])[:SHOWN_NAMES])
            count = len(kinds[kind])
            yield f"  {count:>3} {kind:<54} {shown}{', ...' if count > SHOWN_NAMES else ''}"


def comparison_lines(compared: Comparison) -> Iterator[str]:
    """The changes, destructive ones first. Whether the rest can be changed in place, only a preview of the stack itself shows."""
    if compared.why is not None:
        yield compared.why
        return
    for one in compared.changes:
        because = f": {', '.join(one.reasons)}" if one.reasons else ""
        yield f"{one.change:<7}  {one.kind:<54} {one.name}{because}"
    if not compared.changes:
        yield "no difference"


def cost_lines(cost: Cost, before: Cost | None = None) -> Iterator[str]:
    """A table, with what was `before` where that was other. Money stands only where every price it needs is stated."""
    heads = ("", "chips", "hosts", "chip-hours", cost.currency)
    rows = _rows(cost) if before is None else _rows_since(_rows(before), _rows(cost))
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    for first, *numbers in (heads, *rows):
        right = (number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *right)).rstrip()
    if cost.unpriced:
        listed = ", ".join(str(kind) for kind in cost.unpriced)
        yield f"no price for {listed}: state what your contract says in tpu-platform:prices"


Row = tuple[str, str, str, str, str]


def _rows(cost: Cost) -> list[Row]:
    return [
        *_amount("at minimum, a day", cost.minimum),
        *_amount("at full scale, a day", cost.full),
        *(_job(job) for job in cost.jobs),
    ]


def _rows_since(before: Sequence[Row], after: Sequence[Row]) -> list[Row]:
    """Rows of both, by their labels. A money column of another currency is shown as it is."""
    old, new = {row[0]: row for row in before}, {row[0]: row for row in after}
    rows = [_since(old[label], row) if label in old else _marked(row, "new") for label, row in new.items()]
    return [*rows, *(_marked(row, "gone") for label, row in old.items() if label not in new)]


def _since(old: Row, new: Row) -> Row:
    label, *cells = (
        after if before == after else f"{before} -> {after}" for before, after in zip(old, new, strict=True)
    )
    chips, hosts, hours, money = cells
    return label, chips, hosts, hours, money


def _marked(row: Row, mark: str) -> Row:
    label, *cells = row
    chips, hosts, hours, money = cells
    return f"{label} ({mark})", chips, hosts, hours, money


def _amount(label: str, amount: Amount) -> Iterator[Row]:
    daily = amount.hourly * HOURS_A_DAY if amount.hourly is not None else None
    yield label, str(amount.chips), str(amount.hosts), str(amount.chips * HOURS_A_DAY), _money(daily)


def _job(job: JobAmount) -> Row:
    cost = _money(job.least) if job.least == job.most else f"{_money(job.least)} to {_money(job.most)}"
    return f"{job.name}, an hour", str(job.chips), str(job.hosts), str(job.chips), cost


def _money(amount: Decimal | None) -> str:
    return f"{amount:.2f}" if amount is not None else "-"
