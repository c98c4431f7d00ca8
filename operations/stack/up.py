"""`make up`: builds everything from nothing to finished jobs, and checks the tutorials' expectations."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations import stack_file
from operations.jobs.expectations import expectations_of
from operations.jobs.timeline import JobLine, log_table, table
from operations.jobs.watch import Watcher
from operations.kubernetes import Cluster
from operations.stack import controllers, preexisting
from operations.stack.engine import Engine, OperationError, run_operation
from operations.stack.recovery import recover
from rehearsal import lifecycle
from rehearsal.host.layout import Layout
from rehearsal.host.ports import choose_ports
from rehearsal.host.toolchain import Toolchain
from settings.load import plan_from
from settings.plan.plan import Plan
from settings.validation.problem import ConfigurationError

FOLLOW_TIMEOUT_S = 1200.0
POLL_S = 1.0
ABSENT_TIMEOUT_S = 10.0
"""How long a job may be absent: `pulumi up` has just created it, so only someone else can have deleted it."""
PRINT_EVERY_S = 15.0
_VERDICTS = {True: "met    ", False: "FAILED ", None: "unknown"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    parser.add_argument("--kubectl-port", type=int, help="loopback port for kubectl (default: a free one)")
    arguments = parser.parse_args()
    return run_operation(lambda layout: run(layout, arguments.kubectl_port))


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
    controllers.restore_missing(layout, recover(engine, print), print)
    print("3/4  pulumi up", flush=True)
    # With a refresh: anything removed or changed outside the stack is restored.
    flags = ("--refresh", "--yes", "--skip-preview", "--suppress-outputs")
    engine.run(
        "up", *flags, remedy="Everything created so far stays: fix the cause, and `make up` continues from here."
    )
    controllers.check(layout, engine.resources())
    print("4/4  the jobs", flush=True)
    lines = follow(layout, plan)
    return report(plan, lines)


def plan_of(layout: Layout, stack: str, *, charts: bool = True) -> Plan:
    """The plan of a committed stack file. Raises OperationError with all its problems, before anything is started.

    Without `charts` the chart folders may be missing: the rehearsal's are built with the tools.
    """
    try:
        config = stack_file.read(layout.checkout / f"Pulumi.{stack}.yaml")
        return plan_from(config, layout.checkout if charts else None)
    except ConfigurationError as error:
        raise OperationError(str(error)) from error


def follow(layout: Layout, plan: Plan) -> list[JobLine]:
    """Reads the jobs until all have ended, and prints what changes. Raises OperationError on a timeout, and sooner for a job that
    was deleted."""
    watcher = Watcher(Cluster(layout, plan.settings.cluster.name), plan, layout.run / "seen.json")
    deadline, missing, printer = time.monotonic() + FOLLOW_TIMEOUT_S, MissingJob(time.monotonic()), ProgressPrinter()
    while True:
        reading = read(watcher)
        missing.check(reading.absent, time.monotonic())
        printer.show(reading, time.monotonic())
        if reading.ended:
            return list(reading.lines)
        if time.monotonic() > deadline:
            notes = "\n".join(f"    {x.name}: {x.note or _state(x)}" for x in reading.lines)
            raise OperationError(
                f"not all jobs ended within {FOLLOW_TIMEOUT_S:.0f} s\n{notes}\n  Look: make kubectl ARGS='describe workloads'"
            )
        time.sleep(POLL_S)


@dataclass(frozen=True)
class Reading:
    """The jobs at one moment. Without lines if the cluster did not answer, or one of them was absent."""

    text: str
    lines: Sequence[JobLine] = ()
    absent: str | None = None
    complete: bool = False

    @property
    def ended(self) -> bool:
        return self.complete and all(line.finished or line.deactivated for line in self.lines)


def read(watcher: Watcher) -> Reading:
    try:
        lines = watcher.lines()
    except (ApiException, HTTPError) as error:
        absent = absentee(error)
        return Reading(absent or f"the cluster does not answer: {str(error).splitlines()[0]}", absent=absent)
    return Reading(", ".join(f"{x.name} {_state(x)}" for x in lines), lines, complete=True)


class MissingJob:
    """Stops for a job that stays absent."""

    def __init__(self, now: float) -> None:
        self._complete_at = now

    def check(self, absent: str | None, now: float) -> None:
        """Raises OperationError after ABSENT_TIMEOUT_S without a reading in which nothing was absent."""
        if absent is None:
            self._complete_at = now
        elif now - self._complete_at > ABSENT_TIMEOUT_S:
            raise OperationError(f"{absent}: it was deleted outside the stack\n  `make up` creates it again.")


class ProgressPrinter:
    """Prints a reading when it differs from the last one, and again after PRINT_EVERY_S, then with the reasons. News is printed
    once."""

    def __init__(self) -> None:
        self._text, self._at, self._news = "", float("-inf"), set[str]()

    def show(self, reading: Reading, now: float) -> None:
        if reading.text != self._text or now - self._at > PRINT_EVERY_S:
            why = reasons(reading.lines) if reading.text == self._text else ""
            print(f"  {time.strftime('%H:%M:%S')}  {reading.text}{why}", flush=True)
            self._text, self._at = reading.text, now
        for line in bad_news(reading.lines):
            if line not in self._news:
                print(f"            {line}", flush=True)
                self._news.add(line)


def reasons(lines: Sequence[JobLine]) -> str:
    """Why jobs are waiting, one line each, in Kueue's and Google's words."""
    waiting = [line for line in lines if line.note and not line.finished and not line.pools]
    return "".join(f"\n            {line.name}: {line.note}" for line in waiting)


def bad_news(lines: Sequence[JobLine]) -> list[str]:
    """Google's refusals and the reasons of failed jobs, one line each."""
    refused = [f"{x.name}: Google refused {words}" for x in lines for words in x.refusals]
    return refused + [f"{x.name} failed: {x.note}" for x in lines if x.finished and not x.succeeded and x.note]


def absentee(error: ApiException | HTTPError) -> str | None:
    """`jobsets.jobset.x-k8s.io "name" is not there`, if the API server answers that it has no such object; None for any other error."""
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
        return "was deactivated by Kueue"
    if line.admitted:
        return f"runs on {', '.join(line.pools)}" if line.pools else "waits for nodes"
    if line.reserved:
        return f"waits for Plan B ({line.request.state.lower()})" if line.request else "has quota"
    return "waits" if line.queued else "is not queued yet"


def given_up(line: JobLine) -> str:
    """What happened to a job that Kueue deactivated, and the fix."""
    return (
        f"{line.name} was given up: {line.note}\n"
        "  Its quota is free again, and the other jobs are not affected. When the cause is gone, delete its Workload: Kueue makes\n"
        "  it another and asks again (setting `active` once more is not enough for a job that an admission check has stopped):\n"
        f"    make kubectl ARGS='delete workload {line.workload}'"
    )


def report(plan: Plan, lines: list[JobLine]) -> int:
    """Prints the timeline and each expectation; returns 0 when none failed."""
    made = expectations_of(plan, lines)
    print("\n" + table(lines) + "\n")
    if told := log_table(lines):
        print(told + "\n")
    for promise in made:
        print(f"  {_VERDICTS[promise.held]}  {promise.text}")
    for told in bad_news(lines):
        print(f"\n  {told}")
    for line in lines:
        if line.deactivated:
            print(f"\n  {given_up(line)}")
    if any(promise.held is None for promise in made):
        print("\n  unknown: the finished Ray job's pods are gone, and no `make up` was watching when it ended.")
    broken = [promise for promise in made if promise.held is False]
    if broken:
        print(
            f"\nerror: {len(broken)} of {len(made)} expectations failed.\n"
            "  Look: make kubectl ARGS='get workloads,jobsets,rayjobs,pods -o wide'",
            file=sys.stderr,
        )
        return 1
    print(
        "\nThe platform stays up. Explore: make kubectl ARGS='get nodes,workloads,jobsets,rayjobs'\n"
        "  Its outputs: make pulumi ARGS='stack output'   Clean up: make down"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
