"""Dynamic Workload Scheduler: what becomes of a ProvisioningRequest of GKE's own class. Pure functions; the autoscaler carries them out.

A request is queued in a pool with queued provisioning that would hold all its pods in one zone, waits there until the capacity table has
the chips, gets all its nodes at once, keeps them for a while whether they are used or not, and loses them at the end of its run.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from rehearsal.gcp import capacity
from rehearsal.gcp.capacity import UNLIMITED, FreeChips
from rehearsal.gcp.core import Object
from rehearsal.gcp.nodes.pool_nodes import Member
from rehearsal.gke.autoscaler import scale_up, scheduling
from rehearsal.gke.autoscaler.scale_up import Growth
from rehearsal.gke.provisioning import requests

LIVE = ("RUNNING", "RUNNING_WITH_ERROR")
_MOST_POOLS_NAMED = 10


@dataclass(frozen=True, kw_only=True)
class Observation:
    """The state that decides one request's next step. `pool` is None if its pool was deleted (at `missing_since`);
    `members` are its nodes by name, `ready` those of all nodes that are Ready, `fault` the fault that was drawn for it."""

    now: float
    seconds: Callable[[str], float]
    pool: Object | None = None
    members: dict[str, Member] = field(default_factory=dict)
    ready: set[str] = field(default_factory=set)
    room: FreeChips = UNLIMITED
    chips: int = 0
    fault: Object = field(default_factory=dict)
    missing_since: float = math.inf


@dataclass(frozen=True)
class Step:
    """What happens to a request next: conditions to set, nodes to bring, nodes to take away."""

    conditions: tuple[Object, ...] = ()
    grow: bool = False
    drop: bool = False


NOTHING = Step()


def next_step(request: Object, observation: Observation) -> Step:
    """For a request that has been queued: in the states Accepted, Provisioned and BookingExpired. The others are ends."""
    match requests.state(request):
        case "Accepted":
            return _queued(request, observation)
        case "Provisioned" | "BookingExpired" as state:
            return _provisioned(request, state, observation)
    return NOTHING


def _queued(request: Object, observation: Observation) -> Step:
    if observation.pool is None:
        late = observation.now - observation.missing_since >= observation.seconds("missing_s")
        text = "The corresponding Resize Request was missing."
        return Step((requests.failed("MissingResizeRequest", text),)) if late else NOTHING
    if observation.members:
        there = all(name in observation.ready for name in observation.members)
        return Step((requests.reached("Provisioned"),)) if there else NOTHING
    waited = observation.now - requests.since(request, "Accepted")
    if observation.fault.get("fault") == "dws-silent" or waited < observation.room.wait_s:
        return NOTHING
    if not observation.room.takes(observation.chips):
        return Step((requests.exhausted(_exhausted(request, observation.pool)),))
    return Step(grow=True)


def _exhausted(request: Object, pool: Object) -> str:
    project, zone = pool["_cluster"].split("/")[1], request["status"]["provisioningClassDetails"]["SelectedZone"]
    return (
        f"The zone 'projects/{project}/zones/{zone}' does not have enough resources available to fulfill the request.  "
        "'(resource type:compute)'."
    )


def _provisioned(request: Object, state: str, observation: Observation) -> Step:
    """Both times count from when the nodes were there (GKE's provisioningRequestFinalizer)."""
    age = observation.now - requests.since(request, "Provisioned")
    booking_s = observation.seconds("booking_s")
    expired, revoked = requests.reached("BookingExpired"), requests.reached("CapacityRevoked")
    if observation.fault.get("fault") == "dws-revoke" and age >= float(observation.fault.get("after_s", booking_s)):
        return Step((expired, revoked), drop=True)
    if state == "Provisioned":
        return Step((expired,)) if age >= booking_s else NOTHING
    longest = requests.longest_run(request, capacity.TIMES["run_s"])
    run_s = observation.seconds("run_s") * (longest if longest is not None else 0.0) / capacity.TIMES["run_s"]
    return Step((revoked,), drop=True) if age >= run_s else NOTHING


# -- which pool -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Refusal:
    """Why no pool can take a request, as its condition Failed says it."""

    reason: str
    message: str


def choose(request: Object, pod: Object, pools: list[Object], promised: Counter[str]) -> Growth | Refusal:
    """The pool and zone in which a request is queued. `pod` is made of its pod template; `promised` counts the nodes of each pool
    (full name) that requests wait for which are queued already."""
    count = int(request["spec"]["podSets"][0]["count"])
    found: dict[str, list[str]] = {}
    for pool in pools:
        if not (scale_up.is_queued(pool) and scale_up.is_scaled(pool)):
            continue
        for zone in scale_up.zones(pool):
            outcome = _in_zone(request, pod, count, pool, zone, promised[pool["_name"]])
            if isinstance(outcome, Growth):
                return outcome
            found.setdefault(outcome, []).append(pool["name"])
    return _refusal(found)


def _in_zone(request: Object, pod: Object, count: int, pool: Object, zone: str, promised: int) -> Growth | str:
    """The growth that holds all pods, or the kind of obstacle: a reason of _REASONS, or why a pod does not fit a node."""
    if pool.get("status") not in LIVE:
        return "NodepoolNotReady"
    each, why = _pods_in_a_node(request, pod, pool, zone, count)
    if why:
        return why
    free, whole = scale_up.space(pool, zone) - promised, scale_up.slice_hosts(pool)
    needed = math.ceil(count / each)
    if free <= 0 or (whole is not None and free < whole):
        return "NodepoolSizeReached"
    if needed > (free if whole is None else whole):
        return "ProvisioningRequestSingleZoneInfeasible"
    return Growth(pool, zone, needed if whole is None else whole)


def _pods_in_a_node(request: Object, pod: Object, pool: Object, zone: str, most: int) -> tuple[int, str]:
    node = scheduling.to_come(pool, zone, "to-come", requests.resize_request_of(request))
    for n in range(most):
        why = scheduling.why_not(node, pod, [node])
        if why:
            return n, "" if n else why
        node.put(pod)
    return most, ""


_REASONS = {
    "ProvisioningRequestSingleZoneInfeasible": "Provisioning Request cannot be scheduled in a single zone of a single nodepool",
    "NodepoolSizeReached": "Max nodepool size reached",
    "NodepoolNotReady": "Nodepool not ready for scale-up",
}
"""In the order in which GKE prefers them when pools differ."""


def _refusal(found: dict[str, list[str]]) -> Refusal:
    for reason, text in _REASONS.items():
        if reason in found:
            return Refusal(reason, f"{text}, affected nodepools: {', '.join(_names(found[reason]))}")
    if not found:
        text = "No nodepool with QueuedProvisioning enabled is available for scale up"
        return Refusal("NoQueuedNodepoolAvailable", text)
    errors = [f"{name} ({why})" for why, names in found.items() for name in _names(names)]
    text = f"Provisioning Request's pods cannot be scheduled in the nodepool. Predicate checking errors: {', '.join(sorted(errors))}"
    return Refusal("ProvisioningRequestNotSchedulableInNodepool", text)


def _names(pools: list[str]) -> list[str]:
    return sorted(set(pools))[:_MOST_POOLS_NAMED]


def enqueue(request: Object, outcome: Growth | Refusal, observation: Observation) -> tuple[Step, dict[str, str]]:
    """(step, details) for a request that is in no queue yet, after a pool was looked for."""
    if isinstance(outcome, Refusal):
        created = requests.created(request)
        young = observation.now - created < observation.seconds("retry_s")
        return (NOTHING if young else Step((requests.failed(outcome.reason, outcome.message),))), {}
    if requests.longest_run(request, 0.0) is None:
        text = "Additional parameter maxRunDurationSeconds could not be parsed."
        return Step((requests.failed("InvalidArgumentMaxRunDurationParseError", text),)), {}
    told = requests.details(request, outcome.pool, outcome.zone)
    if observation.fault.get("fault") == "dws-fail":
        text = (
            f"Could not enqueue the Provisioning Request due to insufficient capacity in zone {outcome.zone}. "
            "Try different locations or hardware."
        )
        return Step((requests.failed("QueuingInfeasibleNoCapacity", text),)), told
    return Step((requests.reached("Accepted"),)), told
