"""What a preview says on a pull request: Markdown of the engine's preview, the cost and the policies."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from operations.preview.comparison import Change, Comparison
from policies.check import Report

LONGEST = 60_000
"""Characters. GitHub refuses a comment of more than 65 536. What follows keeps every comment below it, whatever it is about."""
MOST_NAMES, MOST_REASONS, MOST_KINDS, MOST_LINES = 30, 3, 50, 50
"""Resources that are called out, reasons of each, rows of kinds, and lines of a block, before the rest is only counted."""
LONGEST_NAME, LONGEST_LINE = 100, 160

CHANGES = ("create", "update", "replace", "delete")
_CHANGE = {
    "import": "create",
    "create-replacement": "replace",
    "delete-replaced": "replace",
    "import-replacement": "replace",
    **{change: change for change in CHANGES},
}
"""The engine's steps by what they come to. A replacement is one, or three where `--show-replacement-steps` is given."""


def comment(
    environment: str,
    preview: Mapping[str, Any],
    cost: Sequence[str],
    policies: Report,
    against: Comparison | None = None,
) -> str:
    """Markdown of at most LONGEST characters. `preview` is the engine's JSON, `cost` lines of text for people. With a
    comparison it is that which is told, as a preview from nothing is all creation.

    Names and messages come from the branch, and so from anybody: they stand in code, where Markdown means nothing.
    """
    found = changes(preview["steps"])
    compared = against is not None and against.why is None
    told = list(against.changes) if against is not None and compared else found
    since = f" against {_code(against.base)}" if against is not None and compared else ""
    parts = [
        f"### {_code(environment)}{since}: {_headline(told)}; policies: {_verdict(policies)}",
        *([f"Against {_code(against.base)}:", _block([against.why])] if against is not None and against.why else []),
        *_called_out(told),
        *_kinds(told),
        *([f"From nothing: {_headline(found)}."] if compared else []),
        "#### Chips and cost",
        _block(cost),
        "#### Policies",
        _block(policies.lines()),
    ]
    return "\n\n".join(parts) + "\n"


def changes(steps: Iterable[Mapping[str, Any]]) -> list[Change]:
    """Each resource of a provider that changes, once. Components and providers are how the program is built, not what
    Google or the cluster gets."""
    found: dict[str, Change] = {}
    for step in steps:
        state = step.get("newState") or step.get("oldState") or {}
        change, kind = _CHANGE.get(step["op"]), state.get("type", "")
        if change is None or not state.get("custom", False) or kind.startswith("pulumi:"):
            continue
        urn = step["urn"]
        earlier = found.get(urn)
        reasons = {*(earlier.reasons if earlier is not None else ()), *_reasons(step)}
        found[urn] = Change(change, kind, urn.split("::", 3)[-1], tuple(sorted(reasons)))
    return sorted(found.values(), key=lambda change: (change.kind, change.name))


def _reasons(step: Mapping[str, Any]) -> Iterator[str]:
    yield from step.get("replaceReasons") or ()
    for path, diff in (step.get("detailedDiff") or {}).items():
        if str(diff.get("kind", "")).endswith("-replace"):
            yield path


def _headline(found: Sequence[Change]) -> str:
    counts = Counter(change.change for change in found)
    said = [f"{counts[change]} to {change}" for change in CHANGES if counts[change]]
    return ", ".join(said) if said else "no changes"


def _called_out(found: Sequence[Change]) -> Iterator[str]:
    """What is destroyed is said before everything else."""
    for change, meaning in (("replace", "destroyed and made anew"), ("delete", "destroyed")):
        lost = [one for one in found if one.change == change]
        if lost:
            lines = [f"> - {_named(one)}" for one in lost[:MOST_NAMES]]
            if len(lost) > MOST_NAMES:
                lines.append(f"> - and {len(lost) - MOST_NAMES} more")
            yield "\n".join(["> [!CAUTION]", f"> {len(lost)} to {change} ({meaning}):", ">", *lines])


def _named(change: Change) -> str:
    because = f", for {', '.join(_code(reason) for reason in change.reasons[:MOST_REASONS])}" if change.reasons else ""
    return f"{_code(change.name)} ({_code(change.kind)}){because}"


def _kinds(found: Sequence[Change]) -> Iterator[str]:
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
