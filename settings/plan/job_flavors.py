"""On which flavors a multislice job may run: those that it lists, or all of the shape of the one that it names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from settings.plan.queues import QueuePlan, job_queue
from settings.plan.slices import certain_shape
from settings.schema.stack import Settings, SliceSection, WorkloadSection
from settings.validation.problem import Unsound

Labels = tuple[tuple[str, str], ...]


def named(job: WorkloadSection, settings: Settings) -> list[SliceSection]:
    """What a job names, as it stands in `slices`. Raises Unsound where it names nothing or what is not there, and so leaves
    open where it runs."""
    if job.flavors is None and job.flavor is None and len(settings.slices) == 1:
        return list(settings.slices)
    by_name = {section.flavor: section for section in settings.slices}
    names = job.flavors if job.flavors is not None else [job.flavor]
    found = [by_name[name] for name in names if name in by_name]
    if not found or len(found) < len(names):
        raise Unsound("flavor")
    return found


def choices(job: WorkloadSection, settings: Settings) -> tuple[QueuePlan, list[SliceSection]]:
    """The queue of a job that has passed the rules, and what it may get there, in the order in which Kueue tries it."""
    first = named(job, settings)[0]
    queue = job_queue(first.flavor, job.team, settings)
    by_name = {section.flavor: section for section in settings.slices}
    there = [by_name[flavor.name] for flavor in queue.flavors if flavor.name in by_name]
    if job.flavors is not None:
        return queue, [section for section in there if section.flavor in job.flavors]
    return queue, [section for section in there if certain_shape(section) == certain_shape(first)]


def common(labels: Iterable[Labels]) -> dict[str, str]:
    """The labels that all have, with the same value."""
    first, *others = (dict(each) for each in labels)
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in others)}


def selected(labels: Mapping[str, str], wanted: Iterable[Labels]) -> bool:
    """Whether a node with these labels is one that a job may run on."""
    return any(dict(each).items() <= labels.items() for each in wanted)
