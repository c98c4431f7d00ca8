"""`make down`: takes the stack down, checks that nothing is left anywhere, and stops the rehearsal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.engine import Engine, OperationError, alone
from operations.kube import Cluster
from operations.recovery import recover
from operations.up import plan_of
from rehearsal import lifecycle, sandbox
from rehearsal.cli import KNOWN_ERRORS
from rehearsal.layout import Layout
from settings.versions import JOBSET_API, RAY_API


def main() -> int:
    layout = Layout.default()
    try:
        with alone(layout):
            return run(layout)
    except (OperationError, *KNOWN_ERRORS) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run(layout: Layout) -> int:
    engine = Engine(layout)
    if not engine.exists() and sandbox.first_process(layout) is None:
        print("nothing is up in this checkout")
        return 0
    print("1/3  the stack as it was left", flush=True)
    lifecycle.up(layout)
    if engine.exists():
        recover(engine, print)
        refuse_foreign(layout, engine)
        print("2/3  pulumi destroy", flush=True)
        engine.run("destroy", "--yes", "--skip-preview")
        engine.run("stack", "rm", "--yes", "--preserve-config", quiet=True)
    print("3/3  what is left", flush=True)
    left = lifecycle.google(layout, "GET", "/_rehearsal/leftovers")
    lifecycle.down(layout)
    return report(left, processes(layout))


def refuse_foreign(layout: Layout, engine: Engine) -> None:
    """Stops before anything is destroyed when jobs that the stack does not know hold a queue: its deletion would wait for them.

    Raises OperationError with the list and the way out.
    """
    plan = plan_of(layout, engine.stack)
    own = {(job.namespace, job.name) for job in plan.jobs} | {(job.namespace, job.name) for job in plan.ray_jobs}
    try:
        cluster = Cluster(layout, plan.settings.cluster.name)
    except lifecycle.RehearsalError:
        return  # no cluster: nothing can hold a queue
    foreign = [
        f"{kind} -n {namespace} {name}" for kind, namespace, name in _jobs(cluster) if (namespace, name) not in own
    ]
    if foreign:
        raise OperationError(
            "these jobs are not the stack's, and their queue cannot be deleted while they use it: "
            + ", ".join(foreign)
            + f"\n  Delete them and try again: make kubectl ARGS='delete {foreign[0]}'"
        )


def _jobs(cluster: Cluster) -> Iterator[tuple[str, str, str]]:
    """(kind, namespace, name) of each job in the cluster; none where there is no cluster or no such kind in it."""
    for kind, api in (("jobset", JOBSET_API), ("rayjob", RAY_API)):
        try:
            found = cluster.list(f"/apis/{api}/{kind}s")
        except (ApiException, HTTPError):
            continue
        for job in found:
            yield kind, job["metadata"]["namespace"], job["metadata"]["name"]


def processes(layout: Layout) -> list[str]:
    """What still runs of this checkout's rehearsal after its end."""
    forwarder = sandbox.remembered(layout.run / "forwarder.json")
    first = sandbox.first_process(layout)
    return [
        f"{name} (process {pid})"
        for name, pid in (("the sandbox", first), ("the forwarder", forwarder))
        if pid is not None
    ]


def report(left: dict[str, Any], running: list[str]) -> int:
    """Prints what is left; 0 when nothing is."""
    found = {kind: things for kind, things in left.items() if things}
    for kind in left:
        print(f"  {kind}: {'nothing' if kind not in found else json.dumps(found[kind])}")
    print(f"  processes: {', '.join(running) if running else 'nothing'}")
    if found or running:
        print(
            "error: something is left; see above. State is kept: `make up` continues from it, `make clean` forgets it.",
            file=sys.stderr,
        )
        return 1
    print("\nNothing is left.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
