"""Jobs of `workloads` that are indexed Jobs (`kind: job`)."""

from __future__ import annotations

from collections.abc import Iterator

from settings.schema.stack import Settings
from settings.validation.problem import Problem


def check(settings: Settings) -> Iterator[Problem]:
    for index, job in enumerate(settings.workloads):
        if job.kind == "job" and job.slices > 1:
            expected = "jobset for a job of several slices: an indexed Job is one slice"
            yield Problem(f"workloads[{index}].kind", job.kind, expected, "write jobset, or 1 for its slices")
