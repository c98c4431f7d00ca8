"""The platform's dashboard in Cloud Monitoring."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pulumi
from pulumi_gcp import monitoring

from components.cluster import Cluster
from components.options import child
from components.project import ProjectServices
from settings.plan.dashboard import dashboard
from settings.plan.plan import Plan


@dataclass(frozen=True)
class MonitoringArgs:
    plan: Plan
    services: ProjectServices
    cluster: Cluster


class Monitoring(pulumi.ComponentResource):
    """What is sent is the cluster's own setting; this is where it is seen."""

    def __init__(self, name: str, args: MonitoringArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:monitoring:Monitoring", name, None, opts)
        made = monitoring.Dashboard(
            f"{name}-dashboard",
            project=args.plan.settings.project,
            dashboard_json=json.dumps(dashboard(args.plan)),
            opts=child(self, [*args.services.need("monitoring"), args.cluster.cluster]),
        )
        self.address = made.id.apply(lambda identity: address(identity, args.plan.settings.project))
        self.register_outputs({"address": self.address})


def address(identity: str, project: str) -> str:
    """Where a dashboard is seen: `projects/NUMBER/dashboards/ID` as a page of Google's console."""
    return f"https://console.cloud.google.com/monitoring/dashboards/builder/{identity.rsplit('/', 1)[-1]}?project={project}"
