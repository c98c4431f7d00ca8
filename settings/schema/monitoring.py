"""What is measured of a cluster, and where it is seen, in a stack file."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from settings.schema.section import Section

MonitoringComponent = Literal[
    "SYSTEM_COMPONENTS", "APISERVER", "SCHEDULER", "CONTROLLER_MANAGER", "STORAGE", "HPA", "POD", "DAEMONSET", "DEPLOYMENT", "STATEFULSET",
    "CADVISOR", "KUBELET", "DCGM", "JOBSET",
]  # fmt: skip
"""GKE's names (container.googleapis.com, MonitoringComponentConfig) but for WORKLOADS, which is deprecated."""


class MonitoringSection(Section):
    """What GKE sends to Cloud Monitoring, and a dashboard over it. Of what is not stated, GKE's own choice stands."""

    components: list[MonitoringComponent] | None = Field(default=None, min_length=1)
    """All groups of metrics that are sent. JOBSET counts the replicas of JobSets by their state (new clusters have it on)."""
    managed_prometheus: bool | None = None
    """Whether GKE collects what pods offer to Prometheus, where a PodMonitoring asks for it. Always on in Autopilot clusters."""
    dashboard: bool = False
    """A dashboard in the project, of this cluster's slices and jobs."""
