"""What GKE refuses of monitoring, and what would leave a dashboard empty."""

from __future__ import annotations

from collections.abc import Iterator

from settings.faults import Described, Fault, of_its_owner, rule
from settings.model import Settings
from settings.shapes import is_autopilot

SYSTEM, JOBSET = "SYSTEM_COMPONENTS", "JOBSET"


@rule
def check(settings: Settings) -> Iterator[Fault]:
    yield from _components(settings)
    yield from _of_somebody_else(settings)
    yield from _autopilot(settings)


@rule
def _components(settings: Settings) -> Iterator[Fault]:
    components = settings.monitoring.components
    if components is None or settings.cluster.existing:
        return
    path = "monitoring.components"
    if twice := sorted({name for name in components if components.count(name) > 1}):
        yield Fault(path, Described(f"{', '.join(twice)} more than once"), "each component once", "remove the others")
    if SYSTEM not in components:
        wanted = f"{SYSTEM} among them: GKE sends no other metrics without the system's"
        yield Fault(path, components, wanted, f"add {SYSTEM}")
    elif settings.monitoring.dashboard and JOBSET not in components:
        wanted = f"{JOBSET} among them: the dashboard's jobs are counted by it (monitoring.dashboard)"
        yield Fault(path, components, wanted, f"add {JOBSET}")


@rule
def _of_somebody_else(settings: Settings) -> Iterator[Fault]:
    for name, value in (
        ("components", settings.monitoring.components),
        ("managedPrometheus", settings.monitoring.managed_prometheus),
    ):
        if settings.cluster.existing and value is not None:
            yield of_its_owner(f"monitoring.{name}", value)


@rule
def _autopilot(settings: Settings) -> Iterator[Fault]:
    """Google's page on Managed Service for Prometheus: it cannot be turned off in Autopilot clusters of GKE 1.25 and newer."""
    if settings.monitoring.managed_prometheus is False and is_autopilot(settings) and not settings.cluster.existing:
        wanted = "true, or nothing: Autopilot always runs it"
        yield Fault("monitoring.managedPrometheus", False, wanted, "remove the key")
