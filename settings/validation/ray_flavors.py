"""The flavors of a Ray job: of one shape, for which its workers are made.

A worker group has one number of hosts, and GKE's webhook for its workers and Ray both read one topology of it: Ray takes a slice by
its generation and topology (docs/ray.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from settings.plan.job_queues import PlacedJob, job_queues, placed_jobs
from settings.schema.ray import RayJobSection
from settings.schema.stack import Settings, SliceSection
from settings.validation.problem import MISSING, Problem


def check(settings: Settings) -> Iterator[Problem]:
    jobs = [placed for placed in placed_jobs(settings) if isinstance(placed.job, RayJobSection)]
    for placed in jobs:
        if placed.job.flavors is not None:
            yield from _one_shape(placed)
    unnamed = [placed for placed in jobs if placed.job.flavors is None and placed.job.flavor is None]
    for queue in job_queues(settings):
        yield from _unnamed([placed for placed in unnamed if placed.queue.path == queue.path])


def _one_shape(placed: PlacedJob) -> Iterator[Problem]:
    first = placed.sections[0].shape
    others = [section.flavor for section in placed.sections if section.shape != first]
    if others:
        shown = _shown(placed.sections)
        expected = f"flavors of one shape, for which a Ray job's workers are made; these have {shown}"
        fix = f"remove {', '.join(others)}: a job on different slices is another job"
        yield Problem(f"{placed.path}.flavors", placed.job.flavors, expected, fix)


def _unnamed(jobs: Sequence[PlacedJob]) -> Iterator[Problem]:
    """A job that names no flavor takes any that its queue offers. One problem for all such jobs of a queue."""
    if not jobs or len({section.shape for section in jobs[0].sections}) == 1:
        return
    first, *others = (f"{placed.path}.flavor" for placed in jobs)
    also = f" ({', '.join(others)} too)" if others else ""
    sections = jobs[0].sections
    expected = f"a flavor of {jobs[0].queue.label}, which has several shapes: {_shown(sections)}{also}"
    yield Problem(first, MISSING, expected, f"write {sections[0].flavor}: any flavor of its shape will do")


def _shown(sections: Sequence[SliceSection]) -> str:
    return ", ".join(f"{section.flavor} {section.machine_type} {section.topology}" for section in sections)
