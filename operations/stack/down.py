"""`make down`: destroys the stack, checks that nothing is left, and stops the rehearsal."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.kubernetes import cluster_name, cluster_of
from operations.stack import preexisting
from operations.stack.blocked_deletions import blocked_deletions
from operations.stack.controllers import restore_missing
from operations.stack.engine import Engine, OperationError, run_operation
from operations.stack.recovery import recover
from rehearsal import lifecycle
from rehearsal.host import sandbox
from rehearsal.host.layout import Layout
from settings.catalogue.versions import KUEUE_API

WORKLOADS = f"/apis/{KUEUE_API}/workloads"


def main() -> int:
    return run_operation(run)


def run(layout: Layout) -> int:
    engine = Engine(layout)
    if not engine.exists() and sandbox.first_process(layout) is None:
        print("nothing is up in this checkout")
        return 0
    print("1/3  the stack as it was left", flush=True)
    lifecycle.up(layout)
    resources: list[dict[str, Any]] = []
    if engine.exists():
        resources = recover(engine, print)
        restore_missing(layout, resources, print)
        refuse_foreign(layout, resources)
        print("2/3  pulumi destroy", flush=True)
        # Resources that a failed run or someone else has already removed must not fail the destroy. A separate, quiet run: the
        # output of a refresh is about the engine's state, not about anything the user asked for.
        engine.run("refresh", "--yes", "--skip-preview", quiet=True)
        destroy(engine, resources)
        engine.run("stack", "rm", "--yes", "--preserve-config", quiet=True)
    print("3/3  what is left", flush=True)
    found, before = preexisting.present(layout), preexisting.remembered(layout)
    policies = lifecycle.google(layout, "GET", "/_rehearsal/state")["policies"]
    found["iam bindings"] = in_force(found["iam bindings"], policies)
    if cluster_name(resources) is None:
        # The cluster was deleted outside the stack, together with its objects.
        found["kubernetes objects of deleted clusters"] = []
    lifecycle.down(layout)
    kept = preexisting.beyond(found, preexisting.beyond(found, before))
    return report(preexisting.beyond(found, before), processes(layout), kept)


def destroy(engine: Engine, resources: Sequence[dict[str, Any]]) -> None:
    """Raises OperationError, which lists the objects stuck in deletion and what blocks each."""
    try:
        engine.run("destroy", "--yes", "--skip-preview")
    except OperationError as error:
        cluster = cluster_of(engine.layout, resources)
        lines = [f"\n    {line}" for line in (blocked_deletions(cluster) if cluster is not None else [])]
        holding = f"\n  Stuck in deletion, and what blocks each:{''.join(lines)}" if lines else ""
        raise OperationError(f"{error}{holding}\n  `make down` goes on from here.") from error


def refuse_foreign(layout: Layout, resources: Sequence[dict[str, Any]]) -> None:
    """Stops before anything is destroyed when jobs outside the stack use a queue: its deletion would wait for them.

    The stack's jobs are those in its state, whose `resources` these are: its file may have changed since, or be invalid. Raises
    OperationError with the list and the fix.
    """
    cluster = cluster_of(layout, resources)
    if cluster is None:
        return
    try:
        workloads = cluster.list(WORKLOADS)
    except (ApiException, HTTPError):
        return  # no Kueue in the cluster: nothing can block a queue
    foreign = foreign_jobs(workloads, resources)
    if foreign:
        listed = ", ".join(f"{kind} {namespace}/{name}" for namespace, kind, name in foreign)
        namespace, kind, name = foreign[0]
        raise OperationError(
            f"Jobs outside this stack are using its queue, so it cannot be deleted: {listed}\n"
            f"  Delete them and try again: make kubectl ARGS='delete {kind.lower()} -n {namespace} {name}'"
        )


def foreign_jobs(
    workloads: Sequence[dict[str, Any]], resources: Sequence[dict[str, Any]]
) -> list[tuple[str, str, str]]:
    """(namespace, kind, name) of each job that is not in the stack's state and whose Workload still has Kueue's finalizer: an
    unfinished one, and an elastic one even when it is done. Once Kueue is gone, nothing would remove the finalizer."""
    made = [r["inputs"] for r in resources if "metadata" in r.get("inputs", {})]
    own = {(i["metadata"].get("namespace", "default"), i["kind"], i["metadata"]["name"]) for i in made}
    unreleased = [w for w in workloads if w["metadata"].get("finalizers")]
    owners = [
        (w["metadata"]["namespace"], owner["kind"], owner["name"])
        for w in unreleased
        for owner in w["metadata"].get("ownerReferences", [])
    ]
    return sorted(set(owners) - own)


def in_force(bindings: Sequence[str], policies: Mapping[str, dict[str, Any]]) -> list[str]:
    """Of bindings (`RESOURCE: ROLE`), those that have a member.

    An account that somebody deleted beside the stack stays in the policies as `deleted:serviceAccount:...`: it grants nothing,
    the bindings of an account made again by the same name are others, and Google removes it within 60 days
    (cloud.google.com/iam/docs/service-accounts-delete-undelete).
    """
    gone = {
        f"{name}: {binding['role']}"
        for name, policy in policies.items()
        for binding in policy["bindings"]
        if all(member.startswith("deleted:") for member in binding["members"])
    }
    return [binding for binding in bindings if binding not in gone]


def processes(layout: Layout) -> list[str]:
    """Processes of this checkout's rehearsal that still run after its end."""
    forwarder = sandbox.remembered(layout.run / "forwarder.json")
    first = sandbox.first_process(layout)
    return [
        f"{name} (process {pid})"
        for name, pid in (("the sandbox", first), ("the forwarder", forwarder))
        if pid is not None
    ]


def report(left: Mapping[str, list[Any]], running: list[str], kept: Mapping[str, list[Any]]) -> int:
    """Prints what is left; returns 0 when only `kept` resources are, which existed before the stack."""
    found = {kind: things for kind, things in left.items() if things}
    for kind in left:
        print(f"  {kind}: {'nothing' if kind not in found else json.dumps(found[kind])}")
    print(f"  processes: {', '.join(running) if running else 'nothing'}")
    for kind, things in kept.items():
        if things:
            print(f"  {kind} that were there before: {json.dumps(things)}")
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
