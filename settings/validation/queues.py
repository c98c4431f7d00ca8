"""Queues: each flavor is given out by exactly one, under names that do not clash, in a namespace that is ours to make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from settings.plan.slices import is_autopilot
from settings.plan.system_quota import CPU_FLAVOR
from settings.schema.stack import QueueSection, Settings
from settings.validation.lists import copies, distinct, once, places
from settings.validation.problem import MISSING, Described, Problem, duplicates, rule, unknown_names
from settings.validation.system_nodes import room_for_jobs

_SYSTEM_PREFIXES = ("kube-", "gke-", "gmp-")
_SYSTEM = ("kueue-system", "jobset-system", "ray-system")

_REMOVE = "write at least one, or remove the key"

Entries = list[tuple[int, QueueSection]]


@rule
def check(settings: Settings) -> Iterator[Problem]:
    entries = distinct(settings.queues)
    yield from copies("queues[{}]", settings.queues)
    yield from _any(settings)
    yield from duplicates(places("queues[{}].clusterQueue", entries, "cluster_queue"), "cluster queue")
    yield from _local_names(entries)
    yield from _namespaces(entries)
    yield from _flavors(entries, settings)
    yield from _given_out_once(entries)
    yield from _given_out(entries, settings)
    yield from _cpu_names(entries, settings)
    yield from _one_cpu(entries)
    yield from _cpu_room(entries, settings)


def flavor_names(settings: Settings) -> list[str]:
    """The flavors in `slices`. Raises Unsound as `once`."""
    return once(settings.slices, "flavor")


@rule
def _local_names(entries: Entries) -> Iterator[Problem]:
    seen: dict[tuple[str, str], int] = {}
    for index, queue in entries:
        key = (queue.namespace, queue.local_queue)
        if key in seen:
            expected = f"a name of its own in namespace {queue.namespace}: queues[{seen[key]}] has it"
            yield Problem(f"queues[{index}].localQueue", queue.local_queue, expected, "rename one")
        seen.setdefault(key, index)


@rule
def _any(settings: Settings) -> Iterator[Problem]:
    if not settings.queues and not settings.teams:
        yield Problem("queues", [], "at least one entry, or teams, which have queues of their own", _REMOVE)


@rule
def _namespaces(entries: Entries) -> Iterator[Problem]:
    for path, namespace in places("queues[{}].namespace", entries, "namespace"):
        yield from namespace_of_system(path, namespace, "write default, or a name of your own")


def namespace_of_system(path: str, namespace: str, fix: str) -> Iterator[Problem]:
    """The namespace of a queue is made with the platform and deleted with it."""
    if namespace.startswith(_SYSTEM_PREFIXES) or namespace in _SYSTEM:
        expected = "a namespace for jobs: this one is the system's, and the platform deletes its queues' namespaces"
        yield Problem(path, namespace, expected, fix)


@rule
def _flavors(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """Names that are unknown are told with those in jobs (`job_rules.py`)."""
    known = list(dict.fromkeys(section.flavor for section in settings.slices))
    for path, flavors in places("queues[{}].flavors", entries, "flavors"):
        if flavors is None and len(entries) > 1:
            count = len(entries)
            expected = f"the flavors that this queue gives out, of {', '.join(known)}: there are {count} queues"
            yield Problem(path, MISSING, expected, "list them in the order in which they are to be tried")
        if flavors == []:
            yield Problem(
                path, [], "at least one flavor", f"write [{known[0]}], or leave the key out where there is one queue"
            )


@rule
def _given_out_once(entries: Entries) -> Iterator[Problem]:
    """Quota counts per queue: a flavor in two of them would be given out twice."""
    seen: dict[str, str] = {}
    for path, flavors in places("queues[{}].flavors", entries, "flavors"):
        for j, name in enumerate(flavors if flavors is not None else []):
            if name in seen:
                expected = f"a flavor of one queue only, once: {seen[name]} has it"
                yield Problem(f"{path}[{j}]", name, expected, "remove one")
            seen.setdefault(name, f"{path}[{j}]")


@rule
def _given_out(entries: Entries, settings: Settings) -> Iterator[Problem]:
    """A flavor that no queue gives out is never used. A queue with a fault in its list may have meant it."""
    known, given = flavor_names(settings), {flavor for team in settings.teams for flavor in team.flavors}
    for _, queue in entries:
        if not queue.flavors or not set(queue.flavors) <= set(known):
            return
        given |= set(queue.flavors)
    if not given or not given <= set(known):
        return
    for index, section in enumerate(settings.slices):
        if section.flavor not in given:
            expected = "a flavor that a queue gives out: no job can reach its chips otherwise"
            names = " or ".join([f"queues[{i}]" for i, _ in entries] or ["a team"])
            yield Problem(
                f"slices[{index}].flavor", section.flavor, expected, f"add {section.flavor} to the flavors of {names}"
            )


@rule
def unknown_flavors(settings: Settings) -> Iterator[Problem]:
    """Flavors that queues, teams and jobs name and that are not in `slices`."""
    queues = distinct(settings.queues)
    lists = places("queues[{}].flavors", queues, "flavors")
    named = [
        (f"{path}[{j}]", name) for path, names in lists for j, name in enumerate(names if names is not None else [])
    ]
    for path, jobs in (("workloads[{}]", settings.workloads), ("ray.jobs[{}]", settings.ray.jobs)):
        single = places(f"{path}.flavor", enumerate(jobs), "flavor")
        named += [(place, name) for place, name in single if name is not None]
        several = places(f"{path}.flavors", enumerate(jobs), "flavors")
        named += [(f"{at}[{j}]", name) for at, names in several if names is not None for j, name in enumerate(names)]
    maps = [
        *places("queues[{}].limits", queues, "limits"),
        *places("teams[{}].flavors", distinct(settings.teams), "flavors"),
    ]
    keys = [(f"{path}.{name}", name) for path, names in maps for name in names]
    for problem in unknown_names([*named, *keys], flavor_names(settings), "a flavor in slices"):
        is_key = problem.path in dict(keys)
        yield replace(problem, fix=problem.fix.replace("write ", "call it ", 1)) if is_key else problem


@rule
def _cpu_names(entries: Entries, settings: Settings) -> Iterator[Problem]:
    flavors = {name: path for path, name in places("slices[{}].flavor", enumerate(settings.slices), "flavor")}
    for path, cpu in places("queues[{}].cpu", entries, "cpu"):
        if cpu is not None and "flavor" in vars(cpu) and cpu.flavor in flavors:
            yield Problem(f"{path}.flavor", cpu.flavor, f"a name of its own: {flavors[cpu.flavor]} has it", "rename it")
    if all(queue.cpu is None for _, queue in entries) and CPU_FLAVOR in flavors:
        for path, cpu in list(places("teams[{}].cpu", distinct(settings.teams), "cpu")):
            if cpu is not None:
                expected = f"a name of its own: {path} gives out nodes without chips by it"
                yield Problem(flavors[CPU_FLAVOR], CPU_FLAVOR, expected, "rename it")
                return


@rule
def _one_cpu(entries: Entries) -> Iterator[Problem]:
    first = None
    for path, cpu in places("queues[{}].cpu", entries, "cpu"):
        if cpu is not None and first is not None:
            expected = f"one in all: {first} gives out the same nodes, which would count twice"
            yield Problem(path, Described("a second cpu flavor"), expected, "remove one of the two")
        first = path if cpu is not None and first is None else first


@rule
def _cpu_room(entries: Entries, settings: Settings) -> Iterator[Problem]:
    if room_for_jobs(settings) is not None:
        return
    why = f"how much cluster.defaultPool.machineType {settings.cluster.default_pool.machine_type} has cannot be told from its name"
    if is_autopilot(settings):
        why = "Autopilot brings nodes without an end, so that this is the only limit"
    parts = [
        *places("queues[{}].cpu", entries, "cpu"),
        *places("teams[{}].cpu", distinct(settings.teams), "cpu"),
    ]
    for path, cpu in parts:
        if cpu is not None and (cpu.cpu is None or cpu.memory is None):
            stated = ", ".join(key for key in ("cpu", "memory") if getattr(cpu, key) is not None)
            yield Problem(
                path,
                Described(f"{stated} only" if stated else "neither cpu nor memory"),
                f"both: {why}",
                "add `cpu` (cores) and `memory` (like 20Gi) that jobs may use of those nodes",
            )
