"""What happened to each job, from the cluster's own state: who waited, who ran where, and for how long.

Everything here is computed from objects (JobSets, Kueue's Workloads, pods, nodes) as they read at one moment, so the same
functions serve the follower that prints the timeline and the tests that assert it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

POOL_LABEL = "cloud.google.com/gke-nodepool"
JOBSET_LABEL = "jobset.sigs.k8s.io/jobset-name"
SLICE_LABEL = "jobset.sigs.k8s.io/job-index"

Object = dict[str, Any]


@dataclass(frozen=True)
class JobLine:
    """One job. `slices` maps each slice's index to the pools that its pods were on; times are None until they happen."""

    name: str
    slices: dict[int, frozenset[str]]
    wanted: int
    queued: datetime | None
    admitted: datetime | None
    finished: datetime | None
    succeeded: bool
    note: str

    @property
    def pools(self) -> list[str]:
        return sorted({pool for pools in self.slices.values() for pool in pools})


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None


def condition(thing: Object, kind: str) -> Object | None:
    """The condition of that type when it is true."""
    return next(
        (c for c in thing.get("status", {}).get("conditions", []) if c["type"] == kind and c["status"] == "True"), None
    )


def job_line(jobset: Object, workload: Object | None, pods: Sequence[Object], pool_of: dict[str, str]) -> JobLine:
    """The timeline's row of one JobSet; `pool_of` maps node names to pools."""
    done, failed = condition(jobset, "Completed"), condition(jobset, "Failed")
    admitted = condition(workload, "Admitted") if workload else None
    ended = done or failed or (condition(workload, "Finished") if workload else None)
    return JobLine(
        name=jobset["metadata"]["name"],
        slices=_slices(pods, pool_of),
        wanted=sum(int(job.get("replicas", 1)) for job in jobset["spec"]["replicatedJobs"]),
        queued=moment(workload["metadata"]["creationTimestamp"]) if workload else None,
        admitted=moment(admitted["lastTransitionTime"]) if admitted else None,
        finished=moment(ended["lastTransitionTime"]) if ended else None,
        succeeded=done is not None,
        note=_note(workload, ended is not None),
    )


def _slices(pods: Sequence[Object], pool_of: dict[str, str]) -> dict[int, frozenset[str]]:
    found: dict[int, set[str]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        index = pod["metadata"].get("labels", {}).get(SLICE_LABEL)
        if node and index is not None:
            found.setdefault(int(index), set()).add(pool_of.get(node, f"(node {node})"))
    return {index: frozenset(pools) for index, pools in sorted(found.items())}


def _note(workload: Object | None, ended: bool) -> str:
    """Why a job that has not ended is where it is, in Kueue's words."""
    if ended:
        return ""
    if workload is None:
        return "not queued yet"
    waiting = [
        c
        for c in workload.get("status", {}).get("conditions", [])
        if c["type"] == "QuotaReserved" and c["status"] != "True"
    ]
    return waiting[0].get("message", "") if waiting else ""


# -- the promises -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Promise:
    """Something that the program's order and the queue promise, and whether it held."""

    text: str
    held: bool


def promises(
    lines: Sequence[JobLine], after: dict[str, Sequence[str]], chips: dict[str, int], capacity: int
) -> list[Promise]:
    """The promises of a set of jobs: `after` says whom each was submitted after, `chips` what it needs, `capacity` what there is.

    A job that was submitted after another and does not fit beside it must run after it; jobs that waited for the same one and
    fit together must run together; every slice must have a pool of its own; every job must succeed.
    """
    by_name = {line.name: line for line in lines}
    made = [Promise(f"{line.name} succeeded", line.succeeded) for line in lines]
    made += [
        Promise(f"{line.name}: each of its {line.wanted} slices had a pool of its own", own_pools(line))
        for line in lines
    ]
    for name, earlier in after.items():
        for other in earlier:
            if chips[name] + chips[other] > capacity:
                made.append(
                    Promise(f"{name} waited until {other} had finished", ran_after(by_name[name], by_name[other]))
                )
    for group in _together(after, chips, capacity):
        made.append(
            Promise(
                f"{' and '.join(group)} ran together",
                all(overlap(by_name[a], by_name[b]) for a in group for b in group if a < b),
            )
        )
    return made


def _together(after: dict[str, Sequence[str]], chips: dict[str, int], capacity: int) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, earlier in after.items():
        if earlier:
            groups.setdefault(tuple(sorted(earlier)), []).append(name)
    return [sorted(g) for g in groups.values() if len(g) > 1 and sum(chips[n] for n in g) <= capacity]


def own_pools(line: JobLine) -> bool:
    """Whether all pods of each slice were on one pool, and no two slices on the same."""
    pools = list(line.slices.values())
    return (
        len(pools) == line.wanted
        and all(len(p) == 1 for p in pools)
        and len(frozenset().union(*pools)) == line.wanted > 0
    )


def ran_after(line: JobLine, other: JobLine) -> bool:
    return line.admitted is not None and other.finished is not None and line.admitted >= other.finished


def overlap(line: JobLine, other: JobLine) -> bool:
    """Whether the two jobs were admitted at a common moment."""
    if line.admitted is None or other.admitted is None:
        return False
    ends = [t for t in (line.finished, other.finished) if t is not None]
    return not ends or max(line.admitted, other.admitted) < min(ends)


# -- printing ---------------------------------------------------------------------------------------------------------


def table(lines: Sequence[JobLine]) -> str:
    """The timeline, times in seconds from the first job's queueing."""
    start = min((line.queued for line in lines if line.queued), default=None)

    def at(time: datetime | None) -> str:
        return "-" if time is None or start is None else f"{(time - start).total_seconds():.0f} s"

    rows = [("job", "slices", "pools", "queued", "admitted", "finished")]
    rows += [
        (x.name, str(x.wanted), ", ".join(x.pools) or "-", at(x.queued), at(x.admitted), at(x.finished)) for x in lines
    ]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
