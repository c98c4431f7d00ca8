"""What happened to each job, from the cluster's own state: who waited, who ran where, and for how long.

Everything here is computed from objects (JobSets, RayJobs, Kueue's Workloads, ProvisioningRequests, pods, nodes) as they
read at one moment, so the same functions serve the follower that prints the timeline and the tests that assert it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from operations.jobs.job_logs import END, LogSummary
from settings.catalogue.labels import NODEPOOL_LABEL, TPU_RESOURCE
from workloads.kinds import WorkloadKind
from workloads.status import Object, condition, moment, since


@dataclass(frozen=True)
class Request:
    """A ProvisioningRequest: how many pods each of its pod sets has, and its newest true condition."""

    name: str
    pod_sets: tuple[int, ...]
    state: str


@dataclass(frozen=True)
class Node:
    pool: str
    made: datetime


@dataclass(frozen=True)
class JobLine:
    """One job. Times are None until they happen.

    `slices` maps each slice's name to the pools that its pods were on; `flavors` are Kueue's for the pods with chips;
    `head` is the pool of Ray's head; `nodes` is when the first of the nodes under its pods was made.
    """

    name: str
    slices: dict[str, frozenset[str]]
    wanted: int
    queued: datetime | None
    reserved: datetime | None
    admitted: datetime | None
    finished: datetime | None
    succeeded: bool
    note: str
    flavors: frozenset[str] = frozenset()
    deactivated: bool = False
    """Kueue has given up on it: it stays where it is until somebody activates its workload again."""
    workload: str = ""
    expected: str | None = None
    """The flavor that the plan of its first reading promised, "" for none: a later plan is no judge of it."""
    head: str | None = None
    nodes: datetime | None = None
    slice_ends: tuple[datetime, ...] = ()
    """When each slice that is done was done, earliest first. Kueue gives a slice's chips to the next job at that moment."""
    request: Request | None = None
    refusals: tuple[str, ...] = ()
    """ProvisioningRequests that have failed, each with Google's words: the job may run elsewhere since."""
    log_summary: LogSummary | None = None
    """What its programs have told in their logs; None while it runs, and where its pods are played."""

    @property
    def pools(self) -> list[str]:
        return sorted({pool for pools in self.slices.values() for pool in pools})


def nodes_of(nodes: Sequence[Object]) -> dict[str, Node]:
    """Nodes by name."""
    return {
        node["metadata"]["name"]: Node(
            node["metadata"]["labels"].get(NODEPOOL_LABEL, ""), _certain(node["metadata"]["creationTimestamp"])
        )
        for node in nodes
    }


def _certain(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def job_line(
    kind: WorkloadKind,
    job: Object,
    workload: Object | None,
    pods: Sequence[Object],
    nodes: Mapping[str, Node],
    request: Request | None,
) -> JobLine:
    """The row of one job. The pods of some kinds go when it ends: see `merged`."""
    status = kind.status(job, workload, pods)
    line = _line(job, status.wanted, workload, status.ended, status.succeeded, request)
    heads = [nodes.get(pod["spec"].get("nodeName", "")) for pod in status.head]
    return replace(
        _placed(line, status.pods, nodes), head=next((node.pool for node in heads if node is not None), None)
    )


def _line(
    job: Object, wanted: int, workload: Object | None, ended: datetime | None, succeeded: bool, request: Request | None
) -> JobLine:
    return JobLine(
        name=job["metadata"]["name"],
        slices={},
        wanted=wanted,
        queued=moment(workload["metadata"]["creationTimestamp"]) if workload else None,
        reserved=since(condition(workload, "QuotaReserved")),
        admitted=since(condition(workload, "Admitted")),
        finished=ended,
        succeeded=succeeded,
        note=_note(workload, ended is not None, request),
        flavors=chip_flavors(workload),
        deactivated=workload is not None and workload.get("spec", {}).get("active") is False and ended is None,
        workload=workload["metadata"].get("name", "") if workload else "",
        request=request,
    )


def chip_flavors(workload: Object | None) -> frozenset[str]:
    """The flavors from which Kueue gave a workload its chips."""
    admission = (workload or {}).get("status", {}).get("admission", {})
    given = (entry.get("flavors", {}).get(TPU_RESOURCE) for entry in admission.get("podSetAssignments", []))
    return frozenset(flavor for flavor in given if flavor)


def _placed(line: JobLine, pods: Sequence[tuple[str, Object]], nodes: Mapping[str, Node]) -> JobLine:
    found: dict[str, set[str]] = {}
    made = []
    ends: dict[str, list[datetime | None]] = {}
    for index, pod in pods:
        ends.setdefault(index, []).append(_pod_end(pod))
        name = pod["spec"].get("nodeName")
        if name in nodes:  # a node that is not there was made, or removed, between two readings
            found.setdefault(index, set()).add(nodes[name].pool)
            made.append(nodes[name].made)
    slices = {index: frozenset(pools) for index, pools in sorted(found.items())}
    over = [[end for end in times if end is not None] for times in ends.values()]
    done = sorted(max(times) for times, all_ in zip(over, ends.values(), strict=True) if len(times) == len(all_))
    return replace(line, slices=slices, nodes=min(made, default=None), slice_ends=tuple(done))


def _pod_end(pod: Object) -> datetime | None:
    """When a pod's last container ended, None while it runs."""
    states = [status.get("state", {}) for status in pod.get("status", {}).get("containerStatuses", [])]
    ends = [moment(state.get("terminated", {}).get("finishedAt")) for state in states]
    known = [end for end in ends if end is not None]
    return max(known) if known and len(known) == len(ends) else None


def request_of(found: Object) -> Request:
    """A ProvisioningRequest's row."""
    true = [c for c in found.get("status", {}).get("conditions", []) if c["status"] == "True"]
    newest = max(true, key=lambda c: str(c["lastTransitionTime"]), default=None)
    counts = tuple(int(pod_set["count"]) for pod_set in found["spec"]["podSets"])
    return Request(found["metadata"]["name"], counts, newest["type"] if newest else "Pending")


def merged(before: JobLine, now: JobLine) -> JobLine:
    """The newer row, with what the cluster has forgotten since: pods and nodes go, their places were seen."""
    kept = {
        field: getattr(before, field)
        for field in ("slices", "flavors", "head", "nodes", "request", "queued", "reserved", "admitted", "log_summary")
        if not getattr(now, field) and getattr(before, field)
    }
    if now.expected is None:
        kept["expected"] = before.expected
    if before.slices and len(before.slices) >= len(now.slices) and now.finished:
        kept["slices"] = before.slices
    if len(before.slice_ends) > len(now.slice_ends) and now.finished:
        kept["slice_ends"] = before.slice_ends  # the autoscaler takes idle nodes away, and their pods with them
    kept["refusals"] = tuple(dict.fromkeys((*before.refusals, *now.refusals)))
    return replace(now, **kept)


def _note(workload: Object | None, ended: bool, request: Request | None) -> str:
    """Why a job that has not ended is where it is, in Kueue's and Google's words."""
    if ended:
        return ""
    if workload is None:
        return "not queued yet"
    status = workload.get("status", {})
    checks = [
        f"{check['name']}: {check['message']}"
        for check in status.get("admissionChecks", [])
        if check.get("state") not in ("Ready", None) and check.get("message")
    ]
    gone = condition(workload, "Evicted") if workload.get("spec", {}).get("active") is False else None
    waiting = [c for c in status.get("conditions", []) if c["type"] == "QuotaReserved" and c["status"] != "True"]
    if not checks and not gone and request is not None and request.state in ("Pending", "Accepted"):
        checks = [
            f"its ProvisioningRequest {request.name} is {request.state} and waits for capacity at Google, for as long as it "
            "takes; delete the job to stop waiting"
        ]
    log_summary = [*checks, *(str(c.get("message", "")) for c in ([gone] if gone else waiting))]
    return "; ".join(dict.fromkeys(text for text in log_summary if text))


# -- printing ---------------------------------------------------------------------------------------------------------


def table(lines: Sequence[JobLine]) -> str:
    """The timeline, times in seconds from the first job's queueing."""
    start = min((line.queued for line in lines if line.queued), default=None)

    def at(time: datetime | None) -> str:
        return "-" if time is None or start is None else f"{(time - start).total_seconds():.0f} s"

    rows = [("job", "slices", "pools", "queued", "quota", "nodes", "admitted", "finished")]
    rows += [
        (
            x.name,
            str(x.wanted),
            ", ".join(x.pools) or "-",
            at(x.queued),
            at(x.reserved),
            "ready" if x.nodes and start and x.nodes < start else at(x.nodes),
            at(x.admitted),
            at(x.finished),
        )
        for x in lines
    ]
    return _aligned(rows)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def log_table(lines: Sequence[JobLine]) -> str:
    """What the jobs' programs have said, a line each for those that ran for real; "" when none did."""
    rows = [("job", "global device count", "loss", "")]
    rows += [
        (x.name, _counts(x.log_summary), _way(x.log_summary), END if x.log_summary.complete else "-")
        for x in lines
        if x.log_summary
    ]
    return _aligned(rows) if len(rows) > 1 else ""


def _counts(log_summary: LogSummary) -> str:
    """`24, by 6 processes`."""
    every = Counter(log_summary.devices)
    return "; ".join(f"{count}, by {n} process{'es' if n > 1 else ''}" for count, n in every.items()) or "-"


def _way(log_summary: LogSummary) -> str:
    return " -> ".join(f"{loss:.4g}" for loss in log_summary.losses) or "-"
