"""`make preview ENV=prod`: what `pulumi up` would make of an environment, with no account and no network.

The real engine previews the environment's stack file against a rehearsal of its own, with a state of its own that is thrown
away: no stack of the user's is read or changed, and neither a cluster nor a credential is needed.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from operations.preview.comment import comment
from operations.preview.comparison import Comparison, differences
from operations.preview.existing_cluster_fixture import make_existing
from operations.preview.report import comparison_lines, cost_lines, report
from operations.stack.engine import LAST_LINES, OperationError
from operations.stack.up import plan_of
from policies import check
from policies.steps import steps_of
from rehearsal import lifecycle
from rehearsal.errors import INTERRUPTED, KNOWN_ERRORS
from rehearsal.host.layout import Layout
from rehearsal.host.toolchain import Toolchain
from rehearsal.temporary import temporary_rehearsal
from settings.plan.cost import Cost, cost_of
from settings.plan.plan import Plan

PROJECT_FILE = "Pulumi.yaml"
Shown = dict[str, Any]
"""What `pulumi preview --json` prints."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make preview", description=__doc__)
    parser.add_argument("environment", help="the name of a stack file: prod for Pulumi.prod.yaml")
    parser.add_argument("--base", help="a revision in git to compare with, like main")
    parser.add_argument("--json", type=Path, help="a file to write the engine's own preview to")
    parser.add_argument(
        "--comment",
        type=Path,
        help="a file to add the report to, as Markdown (in GitHub Actions it stands in the job's summary as well)",
    )
    arguments = parser.parse_args()
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    comments = [Path(name) for name in (arguments.comment, summary) if name]
    try:
        return run(Layout.default(), arguments.environment, arguments.json, comments, arguments.base)
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OperationError, *KNOWN_ERRORS) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run(
    layout: Layout,
    environment: str,
    json_file: Path | None = None,
    comment_files: Sequence[Path] = (),
    base: str | None = None,
) -> int:
    """Prints the report; 0 unless a policy that must hold does not."""
    known(layout, environment)
    plan_of(layout, environment, charts=False)  # its faults, before anything is built
    Toolchain(layout).ensure()
    plan = plan_of(layout, environment)
    with revision(layout, base) as earlier:
        sources = [layout.checkout, *([earlier.checkout] if earlier is not None else [])]
        found = previews(layout, environment, sources, plan)
        against = compared(base, environment, earlier, found) if base is not None and earlier is not None else None
        before = (
            _cost_before(earlier, environment)
            if earlier is not None and against is not None and not against.why
            else None
        )
    shown = _certain(found[0])
    if json_file is not None:
        json_file.write_text(json.dumps(shown, indent=1))
    policies, cost = check.report(shown, environment), list(cost_lines(cost_of(plan), before))
    log_summary = (
        ["", f"against {base}", *(f"  {line}" for line in comparison_lines(against))] if against is not None else []
    )
    verdict = ["", "policies", *(f"  {line}" for line in policies.lines())]
    print("\n".join([*report(environment, plan, shown, cost), *log_summary, *verdict]))
    for comment_file in comment_files:
        comment_file.parent.mkdir(parents=True, exist_ok=True)
        with comment_file.open("a") as handle:
            handle.write(comment(environment, shown, cost, policies, against))
    return 0 if policies.holds else check.VIOLATED


@contextmanager
def revision(layout: Layout, name: str | None) -> Iterator[Layout | None]:
    """Another revision of the checkout in a folder of its own, for as long as a `with` lasts; None where none is named."""
    if name is None:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="revision-") as folder:
        _unpack(layout.checkout, name, Path(folder))
        # Charts that a stack file names by a folder are the same ones.
        (Path(folder) / layout.root.name).symlink_to(layout.root)
        yield Layout(layout.root, Path(folder))


def compared(base: str, environment: str, earlier: Layout, found: Sequence[Shown | OperationError]) -> Comparison:
    """What differs between the previews of this revision and of the `earlier` one. Raises OperationError if this one has none."""
    now, then = _certain(found[0]), found[1]
    if environment not in environments(earlier):
        return Comparison(base, why=f"there is no {environment} yet")
    if isinstance(then, OperationError):
        return Comparison(base, why=f"nothing to compare, as {environment} has no preview there: {then}")
    return Comparison(base, differences(steps_of(then), steps_of(now)))


def _cost_before(there: Layout, environment: str) -> Cost | None:
    """None where this program cannot read the other revision's stack file."""
    try:
        return cost_of(plan_of(there, environment))
    except OperationError:
        return None


def _unpack(checkout: Path, revision: str, folder: Path) -> None:
    """The files of a revision. Raises OperationError for one that git does not know."""
    # A revision that begins like an option must not become one.
    archive = ["git", "archive", "--format=zip", "--end-of-options", revision]
    done = subprocess.run(archive, cwd=checkout, capture_output=True, check=False)
    if done.returncode != 0:
        raise OperationError(f"git has no revision {revision}: {done.stderr.decode().strip()}")
    with zipfile.ZipFile(io.BytesIO(done.stdout)) as files:
        files.extractall(folder)


def environments(layout: Layout) -> list[str]:
    """The stack files of the checkout, by their stacks' names."""
    return sorted(path.name.split(".")[1] for path in layout.checkout.glob("Pulumi.*.yaml"))


def known(layout: Layout, environment: str) -> None:
    """Raises OperationError for an environment that has no stack file."""
    there = environments(layout)
    if environment not in there:
        raise OperationError(f"there is no Pulumi.{environment}.yaml; environments: {', '.join(there)}")


def preview(layout: Layout, environment: str) -> Shown:
    """The engine's preview of an environment as `pulumi preview --json` prints it. The programs of `layout` must be there."""
    return _certain(previews(layout, environment, [layout.checkout], plan_of(layout, environment))[0])


def previews(layout: Layout, environment: str, sources: Sequence[Path], plan: Plan) -> list[Shown | OperationError]:
    """Previews of several revisions of the program with their stack files, side by side: each takes little more than one core.
    The rehearsal, one for all, stays this one. The cluster that the `plan` may move into is there."""
    with temporary_rehearsal(layout) as rehearsal, ThreadPoolExecutor(len(sources)) as threads:
        if plan.settings.cluster.existing:
            lifecycle.await_google(rehearsal)
            make_existing(rehearsal, plan)
        return list(threads.map(lambda source: _preview(rehearsal, environment, source), sources))


def _preview(rehearsal: Layout, environment: str, source: Path) -> Shown | OperationError:
    try:
        with tempfile.TemporaryDirectory(dir=rehearsal.root) as folder:
            own = _project(source, environment, Path(folder))
            state = {"PULUMI_BACKEND_URL": f"file://{folder}"}
            _pulumi(rehearsal, state, "stack", "init", environment, "--cwd", folder)
            lifecycle.await_google(rehearsal)
            flags = ("--stack", environment, "--config-file", str(own), "--cwd", str(source))
            shown: Shown = json.loads(_pulumi(rehearsal, state, "preview", "--json", *flags))
            return shown
    except OSError as error:
        return OperationError(f"{source.name} has no stack file for {environment}: {error}")
    except OperationError as error:
        return error


def _certain(found: Shown | OperationError) -> Shown:
    if isinstance(found, OperationError):
        raise found
    return found


def _project(checkout: Path, environment: str, folder: Path) -> Path:
    """The project's description and the stack's configuration in a folder of their own, where the engine may write the
    salt of an empty passphrase. How the real stack keeps its secrets stays behind: that needs the cloud's key service."""
    shutil.copy(checkout / PROJECT_FILE, folder)
    name = f"Pulumi.{environment}.yaml"
    config = yaml.safe_load((checkout / name).read_text())["config"]
    (folder / name).write_text(yaml.safe_dump({"config": config}))
    return folder / name


def _pulumi(rehearsal: Layout, state: Mapping[str, str], *arguments: str) -> str:
    """What pulumi prints. Raises OperationError with its last lines."""
    command = ["pulumi", *arguments, "--non-interactive"]
    done = lifecycle.run_inside(
        rehearsal, command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, extra=state
    )
    if done.returncode != 0:
        raise OperationError(f"`pulumi {arguments[0]}` failed: {explained(done.stdout, done.stderr)}")
    return str(done.stdout)


def explained(stdout: str, stderr: str) -> str:
    """The last lines of what a failed engine says: of `--json`, its errors; of anything else, all that it printed."""
    try:
        diagnostics = json.loads(stdout)["diagnostics"]
        errors = [entry["message"].strip() for entry in diagnostics if entry["severity"] == "error"]
    except (ValueError, KeyError, TypeError):
        errors = []
    told = "\n".join(dict.fromkeys(errors)) if errors else stdout + stderr
    return "\n    ".join(told.strip().splitlines()[-LAST_LINES:])


if __name__ == "__main__":
    sys.exit(main())
