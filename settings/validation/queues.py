"""Queues: each flavor is offered by exactly one, and nodes without chips by one cpu flavor of known size."""

from __future__ import annotations

from collections.abc import Iterator

from settings.plan.job_queues import job_queues
from settings.plan.slices import is_autopilot
from settings.plan.system_quota import CPU_FLAVOR, job_resources, nodes_carry_controllers
from settings.schema.stack import Settings
from settings.validation.problem import MISSING, Described, Problem


def check(settings: Settings) -> Iterator[Problem]:
    yield from _any(settings)
    yield from _flavors(settings)
    yield from _offered_once(settings)
    yield from _offered(settings)
    yield from _cpu_names(settings)
    yield from _one_cpu(settings)
    yield from _cpu_size(settings)


def _any(settings: Settings) -> Iterator[Problem]:
    if not settings.queues and not settings.teams:
        expected = "at least one entry, or teams, which have queues of their own"
        yield Problem("queues", [], expected, "write at least one, or remove the key")


def _flavors(settings: Settings) -> Iterator[Problem]:
    known = [section.flavor for section in settings.slices]
    for index, queue in enumerate(settings.queues):
        path = f"queues[{index}].flavors"
        if queue.flavors is None and len(settings.queues) > 1:
            expected = (
                f"the flavors that this queue offers, of {', '.join(known)}: there are {len(settings.queues)} queues"
            )
            yield Problem(path, MISSING, expected, "list them in the order in which Kueue is to try them")
        if queue.flavors == []:
            fix = f"write [{known[0]}], or leave the key out if this is the only queue"
            yield Problem(path, [], "at least one flavor", fix)


def _offered_once(settings: Settings) -> Iterator[Problem]:
    """Quota counts per queue: chips of a flavor in two of them would be admitted twice."""
    seen: dict[str, str] = {}
    for index, queue in enumerate(settings.queues):
        for j, name in enumerate(queue.flavors if queue.flavors is not None else []):
            path = f"queues[{index}].flavors[{j}]"
            if name in seen:
                yield Problem(path, name, f"a flavor of one queue only, once: {seen[name]} has it", "remove one")
            seen.setdefault(name, path)


def _offered(settings: Settings) -> Iterator[Problem]:
    """A flavor that no queue offers is never used. One that a queue without a list was meant to offer is not reported."""
    if any(not queue.flavors for queue in settings.queues):
        return
    offered = {flavor for queue in job_queues(settings) for flavor in queue.owner.flavors or ()}
    for index, section in enumerate(settings.slices):
        if offered and section.flavor not in offered:
            expected = "a flavor that a queue offers: no job can use its chips otherwise"
            names = " or ".join([f"queues[{i}]" for i in range(len(settings.queues))] or ["a team"])
            fix = f"add {section.flavor} to the flavors of {names}"
            yield Problem(f"slices[{index}].flavor", section.flavor, expected, fix)


def _cpu_names(settings: Settings) -> Iterator[Problem]:
    flavors = {section.flavor: f"slices[{index}].flavor" for index, section in enumerate(settings.slices)}
    for index, queue in enumerate(settings.queues):
        if queue.cpu is not None and queue.cpu.flavor in flavors:
            expected = f"a unique name: {flavors[queue.cpu.flavor]} has it"
            yield Problem(f"queues[{index}].cpu.flavor", queue.cpu.flavor, expected, "rename it")
    teams = [f"teams[{index}].cpu" for index, team in enumerate(settings.teams) if team.cpu is not None]
    if teams and CPU_FLAVOR in flavors and all(queue.cpu is None for queue in settings.queues):
        expected = f"a unique name: the flavor of the nodes without chips has it ({teams[0]})"
        yield Problem(flavors[CPU_FLAVOR], CPU_FLAVOR, expected, "rename it")


def _one_cpu(settings: Settings) -> Iterator[Problem]:
    first, *others = [f"queues[{i}].cpu" for i, queue in enumerate(settings.queues) if queue.cpu is not None] or [""]
    for path in others:
        expected = f"one cpu flavor in all queues: {first} offers the same nodes, which would count twice"
        yield Problem(path, Described("a second cpu flavor"), expected, "remove one of the two")


def _cpu_size(settings: Settings) -> Iterator[Problem]:
    if job_resources(settings) is not None or not nodes_carry_controllers(settings):
        return
    why = "Autopilot adds nodes without a limit, so this is the only one"
    if not is_autopilot(settings):
        why = f"the size of cluster.defaultPool.machineType {settings.cluster.default_pool.machine_type} is unknown"
    for queue in job_queues(settings):
        if queue.cpu is not None and (queue.cpu.cpu is None or queue.cpu.memory is None):
            stated = [key for key, value in (("cpu", queue.cpu.cpu), ("memory", queue.cpu.memory)) if value is not None]
            yield Problem(
                f"{queue.path}.cpu",
                Described(f"{stated[0]} only" if stated else "neither cpu nor memory"),
                f"both: {why}",
                "add `cpu` (cores) and `memory` (like 20Gi) that jobs may use of those nodes",
            )
