"""The Google APIs that the platform needs, enabled in the project."""

from __future__ import annotations

import pulumi
from pulumi_gcp import projects

from components.options import child

APIS = (
    "cloudresourcemanager",  # reads and writes the project's IAM policy
    "compute",
    "container",
    "containerfilesystem",  # image streaming
    "artifactregistry",  # images of the user's own
    "iam",
    "logging",
    "monitoring",
    "storage",  # checkpoints
    "tpu",
)


class ProjectServices(pulumi.ComponentResource):
    """Enables what we use and never disables it: others may use the same project, and disabling `container` would
    delete nothing of ours any faster but could take their things down."""

    services: dict[str, projects.Service]

    def __init__(self, name: str, project: str, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:project:ProjectServices", name, None, opts)
        self.services = {
            api: projects.Service(
                f"{name}-{api}",
                project=project,
                service=f"{api}.googleapis.com",
                disable_on_destroy=False,
                disable_dependent_services=False,
                opts=child(self),
            )
            for api in APIS
        }
        self.register_outputs({"apis": list(APIS)})

    def need(self, *apis: str) -> list[pulumi.Resource]:
        """The services that a resource must wait for."""
        return [self.services[api] for api in apis]
