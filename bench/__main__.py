"""`make bench`: measures in a running rehearsal (`make up` first) and prints ratios.

- the training program (`bench/training.py`), for which nothing has to run: `make bench ARGS=training` for it alone;
- a warm `make up` against what its jobs themselves run;
- a first preview of the program against a first preview of the same resources registered bare;
- `make preview` of every environment, offline and from nothing, against the loading of Pulumi's packages alone.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench import training
from operations.jobs.watch import Watcher
from operations.kubernetes import Cluster
from operations.preview.preview import environments
from operations.stack.engine import Engine, OperationError
from operations.stack.up import plan_of
from rehearsal import lifecycle
from rehearsal.errors import KNOWN_ERRORS
from rehearsal.host.layout import CHECKOUT, Layout
from rehearsal.kubernetes.image_table import read_table

ROUNDS = 5
PACKAGES = ("pulumi_gcp.compute", "pulumi_gcp.container", "pulumi_kubernetes.core.v1")
BARE = CHECKOUT / "bench" / "bare"


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench")
    parser.add_argument("part", nargs="?", choices=["training"], help="only this part (all)")
    part = parser.parse_args().part
    layout = Layout.default()
    try:
        rows = training.rows()
        if part is None:
            rows += [*previews_against_packages(layout), *up_against_jobs(layout), *preview_against_bare(layout)]
    except (OperationError, *KNOWN_ERRORS) as error:
        print(f"error: {error}\n  The benchmark measures a platform that is up: `make up` first.", file=sys.stderr)
        return 1
    width = max(len(text) for text, _ in rows)
    for text, value in rows:
        print(f"{text:<{width}}  {value}")
    return 0


def previews_against_packages(layout: Layout) -> list[tuple[str, str]]:
    """Whole offline previews, one after the other. What they are measured by is what no preview can do without: a Python that
    loads the packages of Pulumi's that the program uses."""
    load = [sys.executable, "-W", "ignore", "-c", f"import {', '.join(PACKAGES)}"]
    packages = statistics.median(timed(lambda: subprocess.run(load, check=True)) for _ in range(ROUNDS))
    rows = [(f"loading {', '.join(PACKAGES)}", f"{packages:.2f} s")]
    for name in environments(layout):
        command = ["make", "preview", f"ENV={name}"]
        seconds = timed(lambda c=command: subprocess.run(c, cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL))  # type: ignore[misc]
        rows.append((f"`make preview ENV={name}`, and against that", f"{seconds:.1f} s, {seconds / packages:.1f}"))
    return rows


def up_against_jobs(layout: Layout) -> list[tuple[str, str]]:
    """`make down` and a warm `make up`, timed, against the time from the first admission to the last job's end."""
    subprocess.run(["make", "down"], cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL)
    seconds = timed(lambda: subprocess.run(["make", "up"], cwd=CHECKOUT, check=True, stdout=subprocess.DEVNULL))
    lines = Watcher(Cluster(layout), plan_of(layout, "local"), layout.run / "seen.json").lines()
    began = min(line.admitted for line in lines if line.admitted)
    ended = max(line.finished for line in lines if line.finished)
    jobs = (ended - began).total_seconds()
    _, played_ms = read_table(layout)
    return [
        ("warm `make up`", f"{seconds:.1f} s"),
        (f"its jobs, first admission to last end ({played_ms / 1000:.0f} s each, two in a row)", f"{jobs:.1f} s"),
        ("`make up` / jobs", f"{seconds / jobs:.2f}"),
    ]


def preview_against_bare(layout: Layout) -> list[tuple[str, str]]:
    """Median first previews of both, alternating, on stacks that have nothing yet."""
    engine = Engine(layout)
    resources = engine.resources()
    custom = [r for r in resources if r.get("custom") and not r["type"].startswith("pulumi:")]
    rows = [[r["type"], r["urn"].rsplit("::", 1)[-1], _inputs(r)] for r in custom]
    ours: list[float] = []
    bare: list[float] = []
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / "resources.json"
        listed.write_text(json.dumps(rows))
        extra = {
            "BARE_RESOURCES": str(listed),
            "PULUMI_BACKEND_URL": f"file://{scratch}",
        }
        commands = [_first_preview(layout, extra, folder, Path(scratch)) for folder in (CHECKOUT, BARE)]
        for _ in range(ROUNDS):
            for times, command in zip((ours, bare), commands, strict=True):
                times.append(timed(command))
    a, b = statistics.median(ours), statistics.median(bare)
    return [
        (f"first preview of the program ({len(rows)} resources)", f"{a:.2f} s"),
        ("first preview of the same resources, bare", f"{b:.2f} s"),
        ("program / bare", f"{a / b:.2f}"),
    ]


def _first_preview(layout: Layout, extra: dict[str, str], folder: Path, scratch: Path) -> Callable[[], None]:
    """A preview of a project's new stack, whose configuration lies beside it in the scratch folder."""
    own = scratch / folder.name
    own.mkdir()
    shutil.copy(folder / "Pulumi.yaml", own)
    _pulumi(layout, own, extra, "stack", "init", "first")
    config = own / "Pulumi.first.yaml"
    if folder == CHECKOUT:
        shutil.copy(CHECKOUT / "Pulumi.local.yaml", config)
    flags = ("--stack", "first", *(("--config-file", str(config)) if config.exists() else ()))
    return lambda: _pulumi(layout, folder, extra, "preview", *flags)


def _inputs(resource: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in resource["inputs"].items() if not key.startswith("__")}


def _pulumi(layout: Layout, folder: Path, extra: dict[str, str], *words: str) -> None:
    command = ["pulumi", *words, "--non-interactive", "--cwd", str(folder)]
    done = lifecycle.run_inside(layout, command, extra=extra, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise OperationError(f"pulumi {words[0]} in {folder.name} failed:\n{(done.stdout + done.stderr)[-1500:]}")


def timed(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main())
