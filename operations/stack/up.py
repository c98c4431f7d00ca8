"""`make up`: everything from nothing to finished jobs, and whether the tutorials' promises held."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations import stack_file
from operations.jobs.expectations import promises
from operations.jobs.timeline import JobLine, sayings, table
from operations.jobs.watch import Watcher
from operations.kubernetes import Cluster
from operations.stack import controllers, preexisting
from operations.stack.engine import Engine, OperationError, carried_out
from operations.stack.recovery import recover
from rehearsal import lifecycle
from rehearsal.host.layout import Layout
from rehearsal.host.ports import choose_ports
from rehearsal.host.toolchain import Toolchain
from settings.plan.plan import Plan, plan_from
from settings.validation.problem import ConfigurationError

FOLLOW_TIMEOUT_S = 1200.0
POLL_S = 1.0
ABSENT_TIMEOUT_S = 10.0
"""How long what is followed may be gone: `pulumi up` has just made it, so that only somebody else can have deleted it."""
SAY_EVERY_S = 15.0
_VERDICTS = {True: "held  ", False: "BROKEN", None: "unseen"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    parser.add_argument("--kubectl-port", type=int, help="loopback port for kubectl (default: a free one)")
    arguments = parser.parse_args()
    return carried_out(lambda layout: run(layout, arguments.kubectl_port))


def run(layout: Layout, kubectl_port: int | None) -> int:
    engine = Engine(layout)
    choose_ports(layout, kubectl_port)
    plan_of(layout, engine.stack, charts=False)
    print("1/4  tools and rehearsal", flush=True)
    Toolchain(layout).ensure()
    plan = plan_of(layout, engine.stack)
    lifecycle.up(layout, kubectl_port=kubectl_port)
    print("2/4  the stack as it was left", flush=True)
    if not engine.exists():
        preexisting.remember(layout)
    engine.select()
    controllers.mend(layout, recover(engine, print), print)
    print("3/4  pulumi up", flush=True)
    # With a refresh: what somebody else has removed or changed is made again.
    flags = ("--refresh", "--yes", "--skip-preview", "--suppress-outputs")
    engine.run("up", *flags, remedy="What was made stays: when the cause is gone, `make up` goes on from here.")
    controllers.check(layout, engine.resources())
    print("4/4  the jobs", flush=True)
    lines = follow(layout, plan)
    return report(plan, lines)


def plan_of(layout: Layout, stack: str, *, charts: bool = True) -> Plan:
    """The plan of a committed stack file. Raises OperationError with all its faults, before anything is started.

    Without `charts` their folders may be missing: the rehearsal's are built with the tools.
    """
    try:
        config = stack_file.read(layout.checkout / f"Pulumi.{stack}.yaml")
        return plan_from(config, layout.checkout if charts else None)
    except ConfigurationError as error:
        raise OperationError(str(error)) from error


def follow(layout: Layout, plan: Plan) -> list[JobLine]:
    """Reads the jobs until all have ended, and says what changes. Raises OperationError on a timeout, and sooner for a job that
    is not there."""
    watcher = Watcher(Cluster(layout, plan.settings.cluster.name), plan, layout.run / "seen.json")
    deadline, said, said_at = time.monotonic() + FOLLOW_TIMEOUT_S, "", time.monotonic()
    lines: list[JobLine] | None
    news: set[str] = set()
    complete_at = time.monotonic()
    while True:
        try:
            lines, absent = watcher.lines(), None
        except (ApiException, HTTPError) as error:
            lines, absent = None, absentee(error)
            text = f"the cluster does not answer: {str(error).splitlines()[0]}" if absent is None else absent
        else:
            text = ", ".join(f"{x.name} {_state(x)}" for x in lines)
        if absent is None:
            complete_at = time.monotonic()
        elif time.monotonic() - complete_at > ABSENT_TIMEOUT_S:
            raise OperationError(f"{absent}: somebody has deleted it\n  `make up` makes it again.")
        if text != said or time.monotonic() - said_at > SAY_EVERY_S:
            # Said again, it has not changed for a while: then with the reasons.
            why = reasons(lines or []) if text == said else ""
            print(f"  {time.strftime('%H:%M:%S')}  {text}{why}", flush=True)
            said, said_at = text, time.monotonic()
        for told in bad_news(lines or []):
            if told not in news:
                print(f"            {told}", flush=True)
                news.add(told)
        if lines is not None and all(x.finished or x.deactivated for x in lines):
            return lines
        if time.monotonic() > deadline:
            notes = "\n".join(f"    {x.name}: {x.note or _state(x)}" for x in lines or [])
            raise OperationError(
                f"not all jobs ended within {FOLLOW_TIMEOUT_S:.0f} s\n{notes}\n  Look: make kubectl ARGS='describe workloads'"
            )
        time.sleep(POLL_S)


def reasons(lines: Sequence[JobLine]) -> str:
    """Why the jobs that wait do, one line each, in Kueue's and Google's words."""
    waiting = [line for line in lines if line.note and not line.finished and not line.pools]
    return "".join(f"\n            {line.name}: {line.note}" for line in waiting)


def bad_news(lines: Sequence[JobLine]) -> list[str]:
    """What Google has refused, and why jobs have failed, one line each."""
    refused = [f"{x.name}: Google refused {words}" for x in lines for words in x.refusals]
    return refused + [f"{x.name} failed: {x.note}" for x in lines if x.finished and not x.succeeded and x.note]


def absentee(error: ApiException | HTTPError) -> str | None:
    """`jobsets.jobset.x-k8s.io "name" is not there`, of an API server that answers and does not have it; None for anything else."""
    if not isinstance(error, ApiException) or error.status != 404:
        return None
    try:
        details = json.loads(error.reason)["details"]
        return f'{details["kind"]}.{details["group"]} "{details["name"]}" is not there'
    except (ValueError, KeyError):
        return None  # a kind that is not served, or a server that is not up yet


def _state(line: JobLine) -> str:
    if line.finished:
        return "succeeded" if line.succeeded else "failed"
    if line.deactivated:
        return "was given up by Kueue"
    if line.admitted:
        return f"runs on {', '.join(line.pools)}" if line.pools else "waits for nodes"
    if line.reserved:
        return f"waits for Plan B ({line.request.state.lower()})" if line.request else "has quota"
    return "waits" if line.queued else "is not queued yet"


def given_up(line: JobLine) -> str:
    """What happened to a job that Kueue has deactivated, and what to do."""
    return (
        f"{line.name} was given up: {line.note}\n"
        "  Its quota is free again, and the other jobs are not affected. When the cause is gone, delete its Workload: Kueue makes\n"
        "  it another and asks again (setting `active` once more is not enough for a job that an admission check has stopped):\n"
        f"    make kubectl ARGS='delete workload {line.workload}'"
    )


def report(plan: Plan, lines: list[JobLine]) -> int:
    """Prints the timeline and each promise; 0 when all held."""
    made = promises(plan, lines)
    print("\n" + table(lines) + "\n")
    if told := sayings(lines):
        print(told + "\n")
    for promise in made:
        print(f"  {_VERDICTS[promise.held]}  {promise.text}")
    for told in bad_news(lines):
        print(f"\n  {told}")
    for line in lines:
        if line.deactivated:
            print(f"\n  {given_up(line)}")
    if any(promise.held is None for promise in made):
        print("\n  Nobody saw it: the pods of a finished Ray job are gone, and no `make up` followed it to its end.")
    broken = [promise for promise in made if promise.held is False]
    if broken:
        print(
            f"\nerror: {len(broken)} of {len(made)} promises did not hold.\n"
            "  Look: make kubectl ARGS='get workloads,jobsets,rayjobs,pods -o wide'",
            file=sys.stderr,
        )
        return 1
    print(
        "\nThe platform stays up. Explore: make kubectl ARGS='get nodes,workloads,jobsets,rayjobs'\n"
        "  What it tells its users: make pulumi ARGS='stack output'   Clean up: make down"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
