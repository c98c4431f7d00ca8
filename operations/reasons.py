"""Why a job waits, where its own objects do not say it: in numbers, or in the words of Google's autoscaler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from operations.timeline import TPU, JobLine, Object, condition


def free_chips(queue: Object) -> dict[str, tuple[int, int]]:
    """(free, all) chips of each flavor of a ClusterQueue that has some."""
    quota = {
        flavor["name"]: int(resource["nominalQuota"])
        for group in queue["spec"]["resourceGroups"]
        for flavor in group["flavors"]
        for resource in flavor["resources"]
        if resource["name"] == TPU
    }
    used = {
        flavor["name"]: int(resource.get("total", 0))
        for flavor in queue.get("status", {}).get("flavorsReservation", [])
        for resource in flavor["resources"]
        if resource["name"] == TPU
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
