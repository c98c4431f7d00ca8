"""The report of a preview as a comment on a pull request: Markdown of the changes, the cost and the policies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from operations.preview.comparison import Comparison, ResourceChange
from policies.check import Report
from policies.steps import Step, steps_of

LONGEST = 60_000
"""Characters. GitHub refuses a comment of more than 65 536. The limits below keep every comment under this."""
MOST_NAMES, MOST_REASONS, MOST_KINDS, MOST_LINES = 30, 3, 50, 50
"""Limits on highlighted resources, reasons for each, rows of kinds, and lines of a block. Anything beyond is only counted."""
LONGEST_NAME, LONGEST_LINE = 100, 160

CHANGES = ("create", "update", "replace", "delete")
_CHANGE = {
    "import": "create",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
    **{change: change for change in CHANGES},
}
"""The kind of change by the engine's operation. A replacement is one step, or three with `--show-replacement-steps`."""


def comment(
    environment: str,
    preview: Mapping[str, Any],
    cost: Sequence[str],
    policies: Report,
    against: Comparison | None = None,
) -> str:
    """Markdown of at most LONGEST characters. `preview` is the engine's JSON, `cost` lines of text. With a comparison, its
    changes are shown, because a preview from an empty state only creates.

    Names and messages come from the branch and are untrusted: they are shown as code, where Markdown has no effect.
    """
    found = changes(steps_of(preview))
    compared = against is not None and against.why is None
    shown = list(against.changes) if against is not None and compared else found
    since = f" against {_code(against.base)}" if against is not None and compared else ""
    parts = [
        f"### {_code(environment)}{since}: {_headline(shown)}; policies: {_verdict(policies)}",
        *([f"Against {_code(against.base)}:", _block([against.why])] if against is not None and against.why else []),
        *_called_out(shown),
        *_kinds(shown),
        *([f"From nothing: {_headline(found)}."] if compared else []),
        "#### Chips and cost",
        _block(cost),
        "#### Policies",
        _block(policies.lines()),
    ]
    return "\n\n".join(parts) + "\n"


def changes(steps: Iterable[Step]) -> list[ResourceChange]:
    """Each changing resource once. Components and providers are left out."""
    found: dict[str, ResourceChange] = {}
    for step in steps:
        change = _CHANGE.get(step.operation)
        if change is None or not step.reaches_a_provider:
            continue
        earlier = found.get(step.urn)
        reasons = {*(earlier.reasons if earlier is not None else ()), *step.replace_reasons}
        found[step.urn] = ResourceChange(change, step.kind, step.name, tuple(sorted(reasons)))
    return sorted(found.values(), key=lambda change: (change.kind, change.name))


def _headline(found: Sequence[ResourceChange]) -> str:
    counts = Counter(change.change for change in found)
    log_summary = [f"{counts[change]} to {change}" for change in CHANGES if counts[change]]
    return ", ".join(log_summary) if log_summary else "no changes"


def _called_out(found: Sequence[ResourceChange]) -> Iterator[str]:
    """Destructive changes, before everything else."""
    for change, meaning in (("replace", "destroyed and made anew"), ("delete", "destroyed")):
        lost = [one for one in found if one.change == change]
        if lost:
            lines = [f"> - {_named(one)}" for one in lost[:MOST_NAMES]]
            if len(lost) > MOST_NAMES:
                lines.append(f"> - and {len(lost) - MOST_NAMES} more")
            yield "\n".join(["> [!CAUTION]", f"> {len(lost)} to {change} ({meaning}):", ">", *lines])


def _named(change: ResourceChange) -> str:
    because = f", for {', '.join(_code(reason) for reason in change.reasons[:MOST_REASONS])}" if change.reasons else ""
    return f"{_code(change.name)} ({_code(change.kind)}){because}"


def _kinds(found: Sequence[ResourceChange]) -> Iterator[str]:
    """A table of how many of each kind."""
    if not found:
        return
    kinds: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for change in found:
        kinds[change.kind][change.change] += 1
    rows = [
        f"| {_code(kind)} | {' | '.join(str(counts[change] or '') for change in CHANGES)} |"
        for kind, counts in list(kinds.items())[:MOST_KINDS]
    ]
    if len(kinds) > MOST_KINDS:
        rows.append(f"| and {len(kinds) - MOST_KINDS} more kinds |" + " |" * len(CHANGES))
    yield "\n".join([f"| kind | {' | '.join(CHANGES)} |", "|---" + "|--:" * len(CHANGES) + "|", *rows])


def _verdict(policies: Report) -> str:
    if not policies.holds:
        return f"{len(policies.mandatory)} broken"
    return "all hold" if not policies.advisory else f"all that must, {len(policies.advisory)} advice"


def _block(lines: Sequence[str]) -> str:
    """Text as it is, in a fence that nothing in it can close."""
    shown = [_clip(line, LONGEST_LINE) for part in lines for line in (part.splitlines() or [""])]
    if len(shown) > MOST_LINES:
        shown = [*shown[:MOST_LINES], f"... and {len(shown) - MOST_LINES} more lines"]
    fence = "`" * max(3, 1 + max((len(run) for line in shown for run in re.findall("`+", line)), default=0))
    return "\n".join([f"{fence}text", *shown, fence])


def _code(text: str) -> str:
    """A code span on one line, in or outside of a table: what would end either is replaced by what looks like it."""
    line = _clip(" ".join(text.split()), LONGEST_NAME).translate(_LOOKS_LIKE)
    return f"`{line}`" if line else "`(no name)`"


_LOOKS_LIKE = str.maketrans({"`": "'", "|": "\N{BROKEN BAR}"})


def _clip(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
