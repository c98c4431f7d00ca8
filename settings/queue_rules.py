"""Queues: each flavor is given out by exactly one, under names that do not clash."""

from __future__ import annotations

from collections.abc import Iterator

from settings.faults import MISSING, Fault, did_you_mean, duplicates
from settings.model import QueueSection, Settings
from settings.queue_plan import sections_of
from settings.shapes import system_zones
from settings.system_pool import pool_room


def check(settings: Settings) -> Iterator[Fault]:
    queues = settings.queues
    yield from duplicates("queues[{}].clusterQueue", [queue.cluster_queue for queue in queues], "cluster queue")
    yield from _local_names(settings)
    for index, queue in enumerate(queues):
        yield from _flavors(f"queues[{index}]", queue, settings)
    yield from _given_out_once(settings)
    yield from _cpu(settings)


def _local_names(settings: Settings) -> Iterator[Fault]:
    seen: dict[tuple[str, str], int] = {}
    for index, queue in enumerate(settings.queues):
        key = (queue.namespace, queue.local_queue)
        if key in seen:
            yield Fault(
                f"queues[{index}].localQueue",
                queue.local_queue,
                f"a name of its own in namespace {queue.namespace}: queues[{seen[key]}] has it",
                "rename one",
            )
        seen.setdefault(key, index)


def _flavors(path: str, queue: QueueSection, settings: Settings) -> Iterator[Fault]:
    known = [section.flavor for section in settings.slices]
    if queue.flavors is None:
        if len(settings.queues) > 1:
            wanted = (
                f"the flavors that this queue gives out, of {', '.join(known)}: there are {len(settings.queues)} queues"
            )
            yield Fault(f"{path}.flavors", MISSING, wanted, "list them in the order in which they are to be tried")
        return
    for index, name in enumerate(queue.flavors):
        if name not in known:
            yield Fault(
                f"{path}.flavors[{index}]",
                name,
                f"a flavor in slices: {', '.join(known)}",
                did_you_mean(name, known, "remove it"),
            )
    if not queue.flavors:
        yield Fault(f"{path}.flavors", "[]", "at least one flavor", f"write [{known[0]}], or leave the key out")


def _given_out_once(settings: Settings) -> Iterator[Fault]:
    """Quota counts per queue: a flavor in two of them would be given out twice, one in none never."""
    if len(settings.queues) > 1 and any(queue.flavors is None for queue in settings.queues):
        return
    seen: dict[str, str] = {}
    for i, queue in enumerate(settings.queues):
        for j, name in enumerate(queue.flavors if queue.flavors is not None else []):
            path = f"queues[{i}].flavors[{j}]"
            if name in seen:
                yield Fault(path, name, f"a flavor of one queue only: {seen[name]} has it", "remove one")
            seen.setdefault(name, path)
    given = {section.flavor for queue in settings.queues for section in sections_of(queue, settings)}
    for index, section in enumerate(settings.slices):
        if section.flavor not in given:
            yield Fault(
                f"slices[{index}].flavor",
                section.flavor,
                "a flavor that a queue gives out: no job can reach its chips otherwise",
                f"add {section.flavor} to the flavors of a queue",
            )


def _cpu(settings: Settings) -> Iterator[Fault]:
    flavors = {section.flavor: f"slices[{index}].flavor" for index, section in enumerate(settings.slices)}
    room = pool_room(settings.cluster.default_pool, len(system_zones(settings)))
    first = None
    for index, queue in enumerate(settings.queues):
        if queue.cpu is None:
            continue
        path = f"queues[{index}].cpu"
        if queue.cpu.flavor in flavors:
            yield Fault(
                f"{path}.flavor",
                queue.cpu.flavor,
                f"a name of its own: {flavors[queue.cpu.flavor]} has it",
                "rename it",
            )
        if first is not None:
            yield Fault(
                path, "a second cpu flavor", f"one in all: {first} gives out the same nodes", "remove one of the two"
            )
        first = first if first is not None else path
        if room is None and (queue.cpu.cpu is None or queue.cpu.memory is None):
            machine = settings.cluster.default_pool.machine_type
            yield Fault(
                path,
                "no cpu and memory",
                f"both: how much {machine} has cannot be told from its name",
                "add `cpu` (cores) and `memory` (like 20Gi) that jobs may use of those nodes",
            )
