"""Why a job waits or has failed, where its own objects do not say it: in numbers, in the words of Google's autoscaler, or by what its
programs ended with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from operations.jobs.timeline import JobLine
from settings.catalogue.labels import TPU_RESOURCE
from workloads.status import Object, condition

_STOPPED = (143, 137)
"""Of a program that was told to end, or was killed."""
_LONGEST = 400
"""Characters of a reason: Ray's has the end of a log in it."""


def free_chips(queue: Object) -> dict[str, tuple[int, int]]:
    """(free, all) chips of each flavor of a ClusterQueue that has some."""
    quota = {
        flavor["name"]: int(resource["nominalQuota"])
        for group in queue["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for resource in flavor["resources"]
        if resource["name"] == TPU_RESOURCE
    }
    used = {
        flavor["name"]: int(resource.get("total", 0))
        for flavor in queue.get("status", {}).get("flavorsReservation", [])
        for resource in flavor["resources"]
        if resource["name"] == TPU_RESOURCE
    }
    return {name: (chips - used.get(name, 0), chips) for name, chips in quota.items() if chips}


def with_room(line: JobLine, chips: int, free: Mapping[str, tuple[int, int]]) -> JobLine:
    """A row that waits for quota, with the reason in numbers. Kueue's own message may name another pod set's flavors: it
    tells the last of several tries."""
    if line.reserved or line.finished or line.deactivated or not line.queued:
        return line
    if any(left >= chips for left, _ in free.values()):
        return line
    shown = ", ".join(f"{name} {left} of {all_}" for name, (left, all_) in free.items())
    return replace(line, note=f"it waits for {chips} chips; free are: {shown}")


def refusals_of(requests: Sequence[Object]) -> tuple[str, ...]:
    """The failed ones among a job's ProvisioningRequests, oldest first, and why."""
    ordered = sorted(requests, key=lambda found: str(found["metadata"]["creationTimestamp"]))
    failed = [(found["metadata"]["name"], condition(found, "Failed")) for found in ordered]
    return tuple(f"{name}: {why.get('message', '')}" for name, why in failed if why is not None)


def with_scale_up(line: JobLine, pods: Sequence[Object], events: Sequence[Object]) -> JobLine:
    """A row whose pods wait for nodes, with what the autoscaler last said of them: a pool that cannot grow says it nowhere
    else. `events` are those of the reason FailedScaleUp."""
    waiting = {pod["metadata"]["uid"] for pod in pods if not pod["spec"].get("nodeName")}
    about = [event for event in events if event.get("involvedObject", {}).get("uid") in waiting]
    newest = max(about, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime") or ""), default=None)
    if newest is None or line.finished or line.deactivated:
        return line
    return replace(line, note="; ".join(text for text in (line.note, str(newest.get("message", ""))) if text))


def with_failure(line: JobLine, job: Object, pods: Sequence[Object]) -> JobLine:
    """A row that has failed, with the reason on one line: JobSet's or KubeRay's words, and what the first program that failed ended with
    (JobSet names a Job, and the exit code is the pod's)."""
    if line.succeeded or not line.finished:
        return line
    failed = condition(job, "Failed")
    words = failed.get("message", "") if failed is not None else job.get("status", {}).get("message", "")
    return replace(line, note=_short("; ".join(text for text in (words, _first_failure(pods)) if text)))


def _first_failure(pods: Sequence[Object]) -> str:
    """`NAME ended with 6: error: 4 devices are here, ...`; "" where no program has failed. One that was stopped (143, 137) is not the
    first when another ended by itself in the same second."""
    ended = [
        (end["finishedAt"], end["exitCode"] in _STOPPED, pod["metadata"]["name"], end)
        for pod in pods
        for status in pod.get("status", {}).get("containerStatuses", [])
        if (end := status.get("state", {}).get("terminated")) is not None and end["exitCode"] != 0
    ]
    if not ended:
        return ""
    _, _, name, end = min(ended, key=lambda each: each[:3])
    said = [text for text in end.get("message", "").splitlines() if text.strip()]
    return f"{name} ended with {end['exitCode']}" + (f": {said[-1].strip()}" if said else "")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
