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
        kind, name = _named(step["urn"])
        if not kind.startswith(_OURS):
            found.setdefault(step["op"], {}).setdefault(kind, []).append(name)
    for operation, kinds in found.items():
        yield f"{operation}: {sum(len(names) for names in kinds.values())} resources"
        for kind in sorted(kinds):
            shown = ", ".join(sorted(kinds[kind])[:SHOWN_NAMES])
            count = len(kinds[kind])
            yield f"  {count:>3} {kind:<54} {shown}{', ...' if count > SHOWN_NAMES else ''}"


def difference_lines(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What two previews from nothing ask for differently: what has come, what has gone, and of the rest which inputs are
    others. Whether an input can be changed in place, only a preview of the stack itself tells."""
    old, new = _inputs(before), _inputs(after)
    changes = [("create", urn, "") for urn in new if urn not in old]
    changes += [("change", urn, _other_keys(old[urn], new[urn])) for urn in new if urn in old and old[urn] != new[urn]]
    changes += [("delete", urn, "") for urn in old if urn not in new]
    for operation, urn, keys in changes:
        kind, name = _named(urn)
        yield f"{operation}  {kind:<54} {name}{keys}"
    if not changes:
        yield "no difference"


def _inputs(steps: Sequence[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Inputs by URN, of what is not only how the program is built."""
    found = {step["urn"]: step["newState"].get("inputs", {}) for step in steps}
    return {urn: inputs for urn, inputs in found.items() if not _named(urn)[0].startswith(_OURS)}


def _named(urn: str) -> tuple[str, str]:
    """(type, name). A URN's last part is the name, which may have anything in it; a type has those of its parents before it."""
    types, name = urn.split("::", 3)[2:]
    return types.rsplit("$", 1)[-1], name


def _other_keys(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    keys = sorted(key for key in {*old, *new} if old.get(key) != new.get(key))
    return f": {', '.join(keys)}"


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
