"""Monitoring: combinations that GKE refuses, and those that would leave the dashboard empty."""

from __future__ import annotations

from collections.abc import Iterator

from settings.plan.slices import is_autopilot
from settings.schema.stack import Settings
from settings.validation.problem import Described, Problem, not_with_existing_cluster

SYSTEM, JOBSET = "SYSTEM_COMPONENTS", "JOBSET"


def check(settings: Settings) -> Iterator[Problem]:
    yield from _components(settings)
    yield from _existing_cluster(settings)
    yield from _autopilot(settings)


def _components(settings: Settings) -> Iterator[Problem]:
    components = settings.monitoring.components
    if components is None or settings.cluster.existing:
        return
    path = "monitoring.components"
    if twice := sorted({name for name in components if components.count(name) > 1}):
        yield Problem(
            path, Described(f"{', '.join(twice)} more than once"), "each component only once", "remove the others"
        )
    if SYSTEM not in components:
        expected = f"a list with {SYSTEM}: without it GKE sends no other metrics"
        yield Problem(path, components, expected, f"add {SYSTEM}")
    elif settings.monitoring.dashboard and JOBSET not in components:
        expected = f"a list with {JOBSET}: the dashboard counts jobs by it (monitoring.dashboard)"
        yield Problem(path, components, expected, f"add {JOBSET}")


def _existing_cluster(settings: Settings) -> Iterator[Problem]:
    for name, value in (
        ("components", settings.monitoring.components),
        ("managedPrometheus", settings.monitoring.managed_prometheus),
    ):
        if settings.cluster.existing and value is not None:
            yield not_with_existing_cluster(f"monitoring.{name}", value)


def _autopilot(settings: Settings) -> Iterator[Problem]:
    """Google's page on Managed Service for Prometheus: it cannot be turned off in Autopilot clusters of GKE 1.25 and newer."""
    if settings.monitoring.managed_prometheus is False and is_autopilot(settings) and not settings.cluster.existing:
        expected = "true or not set: Autopilot always runs it"
        yield Problem("monitoring.managedPrometheus", False, expected, "remove the key")
