"""The documents that are made from the program and its tests: `make docs`. Each is current or a test fails."""

from __future__ import annotations

import difflib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from settings.catalogue.labels import NAMESPACE  # noqa: E402
from settings.load import plan_from  # noqa: E402
from settings.validation.problem import Problem  # noqa: E402
from tests.support.catalogue import catalogue  # noqa: E402
from tests.support.platforms import run_platform  # noqa: E402
from tests.support.problems import only_problem  # noqa: E402
from tests.support.recording import Recording, Registered, record  # noqa: E402

MADE = "<!-- Made by `make docs`. Do not edit. -->"

# -- bad inputs -------------------------------------------------------------------------------------------------------

BAD_INPUTS = f"""# Bad inputs, and what is said about them

{MADE}

Each row is a test: a configuration with this one mistake, and the report it gives. All faults of a file are reported
together, before anything is created. The key is below `{NAMESPACE}:`.
"""


def bad_inputs() -> str:
    """Every case of the tests of faults, by test module."""
    parts = [BAD_INPUTS]
    for path in sorted((ROOT / "tests/settings/validation").glob("test_*problems.py")):
        module = importlib.import_module(f"tests.settings.validation.{path.stem}")
        rows = [_row(name, only_problem(values)) for name, values in faulty_values(module)]
        title = str(module.__doc__).strip().splitlines()[0].rstrip(".")
        parts.append("\n".join([f"## {title} ({len(rows)})", "", *_HEAD, *rows, ""]))
    return "\n".join(parts)


_HEAD = ("| mistake | key | got | wanted | fix |", "|---|---|---|---|---|")


def faulty_values(module: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, values of a stack file) of each case. A module whose cases state less than a whole file completes them."""
    complete: Callable[[dict[str, Any]], dict[str, Any]] = getattr(module, "complete", lambda values: values)
    for name, values, *_ in module.CASES:
        yield name, complete(values)


def _row(name: str, problem: Problem) -> str:
    key, got, expected, fix = (line.strip() for line in str(problem).splitlines())
    cells = (name, key.removeprefix(problem.prefix), *(text.split(":", 1)[1].strip() for text in (got, expected, fix)))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


# -- changes ----------------------------------------------------------------------------------------------------------


DEV = "Pulumi.dev.yaml"


@dataclass(frozen=True)
class Change:
    """A change of a stack file, as a user would make it."""

    title: str
    text: str
    before: str
    after: str
    """Stands in place of `before`, which stands in the file once."""
    file: str = DEV

    @property
    def content(self) -> str:
        return (ROOT / self.file).read_text()

    def of(self, content: str) -> str:
        """A stack file with the change made."""
        assert content.count(self.before) == 1, self.title
        return content.replace(self.before, self.after)


_OTHERS = "        dws: {chips: 16}\n        spare: {chips: 16}\n        v5p: {chips: 16}\n"
"""What a team of production has beside the reservation."""
CHANGES = (
    Change(
        "A fourth slice",
        "One more name in `pools` is one more slice of the same shape. The quota follows; the other pools stay.",
        "pools: [nodepool1, nodepool2, nodepool3]",
        "pools: [nodepool1, nodepool2, nodepool3, nodepool4]",
    ),
    Change(
        "Another generation",
        "A slice of TPU v5p beside the others, there while a job uses it, with a queue of its own.",
        "  tpu-platform:queues:\n",
        "    - {flavor: v5p, machineType: ct5p-hightpu-4t, topology: 2x2x2, zone: us-central1-a, pools: [v5p-pool],\n"
        "       autoscaling: {min: 0}}\n"
        "  tpu-platform:queues:\n"
        "    - {clusterQueue: v5p-cluster-queue, localQueue: v5p-queue, flavors: [v5p]}\n",
    ),
    Change(
        "Another generation for the jobs that there are",
        "The same queue falls through to it: slices of TPU v6e 2x4 have 2 hosts with 4 chips each, as those of v5e, so a job that lists\n"
        "`flavors: [vlp-24, v6e]` runs on either. Jobs that name one stay as they are.",
        "  tpu-platform:queues:\n    - clusterQueue: multislice-cluster-queue\n      localQueue: multislice-queue\n"
        "      flavors: [vlp-24]\n",
        "    - {flavor: v6e, machineType: ct6e-standard-4t, topology: 2x4, zone: us-central1-b, pools: [v6e-pool],\n"
        "       autoscaling: {min: 0}}\n"
        "  tpu-platform:queues:\n    - clusterQueue: multislice-cluster-queue\n      localQueue: multislice-queue\n"
        "      flavors: [vlp-24, v6e]\n",
    ),
    Change(
        "A team",
        "One of the three slices becomes a team's own; the queue over them keeps the others, and borrows it while it is idle. With the\n"
        "first team come the fences around teams' namespaces, and fair sharing in Kueue.",
        "  tpu-platform:queues:\n    - clusterQueue: multislice-cluster-queue\n",
        "  tpu-platform:teams:\n"
        "    - {name: research, members: {users: [ann@example.com]}, flavors: {vlp-24: {chips: 8, borrow: 8}}}\n"
        "  tpu-platform:queues:\n    - clusterQueue: multislice-cluster-queue\n      cohort: teams\n",
    ),
    Change(
        "Another team",
        "A third team gets its part of the chips out of another's: a namespace, a queue, a ceiling and\n"
        "the members' rights come with it. Jobs that run stay, and give back what is no longer their team's when it is asked for.",
        f"        reserved: {{chips: 32}}\n{_OTHERS}",
        f"        reserved: {{chips: 16}}\n{_OTHERS}"
        "    - name: safety\n      members: {groups: [tpu-safety@example.com]}\n      flavors: {reserved: {chips: 16}}\n",
        "Pulumi.prod.yaml",
    ),
)

CHANGED = f"""# Changing a platform

{MADE}

What a change of a stack file does: the lines that change, and what the program then asks for of a stack that is up. A test
makes those of `{DEV}` in the rehearsal, where the engine's own preview must say the same.
"""


def changes() -> str:
    return "\n".join([CHANGED, *(_section(change) for change in CHANGES)])


def _section(change: Change) -> str:
    before, after = change.content.splitlines(), change.of(change.content).splitlines()
    compared = difflib.unified_diff(before, after, n=1, lineterm="")
    diff = [line for line in compared if not line.startswith(("---", "+++", "@@"))]
    return "\n".join([
        f"## {change.title}", "", change.text, f"In `{change.file}`:", "",
        "```diff", *diff, "```", "",
        "```", *(f"{step.operation:<8}{step.type:<76}{step.name}" for step in steps_of(change)), "```", "",
    ])  # fmt: skip


@dataclass(frozen=True, order=True)
class Step:
    operation: str
    type: str
    name: str


def steps_of(change: Change) -> list[Step]:
    """What a change makes of a stack that is up: by the program's requests, before and after."""
    before, after = (
        {r.urn: r for r in recorded(text).resources} for text in (change.content, change.of(change.content))
    )
    steps = [Step("create", r.type, r.name) for urn, r in after.items() if urn not in before]
    steps += [Step("delete", r.type, r.name) for urn, r in before.items() if urn not in after]
    steps += [
        Step(_operation(before[u], r), r.type, r.name)
        for u, r in after.items()
        if u in before and differs(before[u], r)
    ]
    return sorted(steps)


def differs(before: Registered, after: Registered) -> bool:
    return before.inputs != after.inputs


def _operation(before: Registered, after: Registered) -> str:
    """Whether what changed is among what the program says to replace for."""
    changed = {key for key in {*before.inputs, *after.inputs} if before.inputs.get(key) != after.inputs.get(key)}
    return "replace" if changed & {path.split(".")[0] for path in after.replace_on_changes} else "update"


def recorded(content: str) -> Recording:
    config = yaml.safe_load(content)["config"]
    flat = {key: value if isinstance(value, str) else json.dumps(value) for key, value in config.items()}
    plan = plan_from(flat, None)
    return record(lambda: run_platform(plan))


# -- all --------------------------------------------------------------------------------------------------------------

DOCUMENTS: dict[str, Callable[[], str]] = {
    "docs/bad-inputs.md": bad_inputs,
    "docs/changes.md": changes,
    "docs/catalogue.md": catalogue,
}


def main() -> int:
    for path, make in DOCUMENTS.items():
        (ROOT / path).write_text(make())
    return 0


if __name__ == "__main__":
    sys.exit(main())
