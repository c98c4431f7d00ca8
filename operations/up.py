"""`make up`: everything from nothing to three finished jobs, and whether the tutorial's promises held."""

from __future__ import annotations

import argparse
import json
import sys
import time

import yaml
from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from operations.engine import Engine, OperationError, alone
from operations.kube import Cluster
from operations.recovery import recover
from operations.timeline import JOBSET_LABEL, POOL_LABEL, JobLine, job_line, promises, table
from rehearsal import lifecycle
from rehearsal.cli import KNOWN_ERRORS
from rehearsal.layout import Layout
from rehearsal.toolchain import Toolchain
from settings.faults import ConfigurationError
from settings.plan import Plan, plan_from

FOLLOW_TIMEOUT_S = 600.0
POLL_S = 1.0
SAY_EVERY_S = 15.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="make up", description=__doc__)
    parser.add_argument("--kubectl-port", type=int, help="loopback port for kubectl (default: a free one)")
    arguments = parser.parse_args()
    layout = Layout.default()
    try:
        with alone(layout):
            return run(layout, arguments.kubectl_port)
    except (OperationError, *KNOWN_ERRORS) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run(layout: Layout, kubectl_port: int | None) -> int:
    engine = Engine(layout)
    lifecycle.choose_ports(layout, kubectl_port)
    print("1/4  tools and rehearsal", flush=True)
    Toolchain(layout).ensure()
    plan = plan_of(layout, engine.stack)
    lifecycle.up(layout, kubectl_port=kubectl_port)
    print("2/4  the stack as it was left", flush=True)
    engine.select()
    recover(engine, print)
    print("3/4  pulumi up", flush=True)
    engine.run("up", "--yes", "--skip-preview")
    print("4/4  the jobs", flush=True)
    lines = follow(layout, plan)
    return report(plan, lines)


def plan_of(layout: Layout, stack: str) -> Plan:
    """The plan of a committed stack file. Raises OperationError with all its faults, before anything is started."""
    written = yaml.safe_load((layout.checkout / f"Pulumi.{stack}.yaml").read_text())["config"]
    config = {key: value if isinstance(value, str) else json.dumps(value) for key, value in written.items()}
    try:
        return plan_from(config, layout.checkout)
    except ConfigurationError as error:
        raise OperationError(str(error)) from error


def read_lines(cluster: Cluster, plan: Plan) -> list[JobLine]:
    """The timeline's rows as the cluster is now, in the order of the plan."""
    nodes = cluster.list("/api/v1/nodes")
    pool_of = {node["metadata"]["name"]: node["metadata"]["labels"].get(POOL_LABEL, "") for node in nodes}
    lines = []
    for job in plan.jobs:
        jobset = cluster.call("GET", f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{job.namespace}/jobsets/{job.name}")
        workloads = cluster.list(f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{job.namespace}/workloads")
        pods = cluster.list(f"/api/v1/namespaces/{job.namespace}/pods", labelSelector=f"{JOBSET_LABEL}={job.name}")
        uid = jobset["metadata"]["uid"]
        own = [w for w in workloads if any(o["uid"] == uid for o in w["metadata"].get("ownerReferences", []))]
        lines.append(job_line(jobset, own[0] if own else None, pods, pool_of))
    return lines


def follow(layout: Layout, plan: Plan) -> list[JobLine]:
    """Reads the jobs until all have ended, and says what changes. Raises OperationError on a timeout."""
    cluster = Cluster(layout, plan.settings.cluster.name)
    deadline, said, said_at = time.monotonic() + FOLLOW_TIMEOUT_S, "", time.monotonic()
    lines: list[JobLine] | None
    while True:
        try:
            lines = read_lines(cluster, plan)
        except (ApiException, HTTPError) as error:
            lines, text = None, f"the cluster does not answer: {str(error).splitlines()[0]}"
        else:
            text = ", ".join(f"{x.name} {_state(x)}" for x in lines)
        if text != said or time.monotonic() - said_at > SAY_EVERY_S:
            print(f"  {time.strftime('%H:%M:%S')}  {text}", flush=True)
            said, said_at = text, time.monotonic()
        if lines is not None and all(x.finished for x in lines):
            return lines
        if time.monotonic() > deadline:
            notes = "\n".join(f"    {x.name}: {x.note or _state(x)}" for x in lines or [])
            raise OperationError(
                f"not all jobs ended within {FOLLOW_TIMEOUT_S:.0f} s\n{notes}\n  Look: make kubectl ARGS='describe workloads'"
            )
        time.sleep(POLL_S)


def _state(line: JobLine) -> str:
    if line.finished:
        return "succeeded" if line.succeeded else "failed"
    if line.admitted:
        return f"runs on {', '.join(line.pools) or '...'}"
    return "waits" if line.queued else "is not queued yet"


def report(plan: Plan, lines: list[JobLine]) -> int:
    """Prints the timeline and each promise; 0 when all held."""
    chips = {job.name: job.slices * job.shape.chips for job in plan.jobs}
    capacity = sum(pool.shape.chips for pool in plan.pools)
    made = promises(lines, {job.name: job.after for job in plan.jobs}, chips, capacity)
    print("\n" + table(lines) + "\n")
    for promise in made:
        print(f"  {'held  ' if promise.held else 'BROKEN'}  {promise.text}")
    broken = [promise for promise in made if not promise.held]
    if broken:
        print(
            f"\nerror: {len(broken)} of {len(made)} promises did not hold. Look: make kubectl ARGS='get workloads,jobsets,pods -o wide'",
            file=sys.stderr,
        )
        return 1
    print("\nThe platform stays up. Explore: make kubectl ARGS='get nodes,workloads,jobsets'   Clean up: make down")
    return 0


if __name__ == "__main__":
    sys.exit(main())
