"""Who the nodes are: a service account that may write logs and metrics and read images, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

import pulumi
from pulumi_gcp import projects, serviceaccount

from components.options import child
from components.project import ProjectServices
from settings.schema.field_types import shortened

ROLES = (
    "roles/logging.logWriter",
    "roles/monitoring.metricWriter",
    "roles/monitoring.viewer",
    "roles/stackdriver.resourceMetadata.writer",
    "roles/autoscaling.metricsWriter",
    # Images of the user's own. Older registries keep them in buckets; new projects have none of those.
    "roles/artifactregistry.reader",
)
"""What GKE's hardening guide asks for, in place of the Editor role of the default account."""

OAUTH_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
"""One scope, because the account's roles are the limit. gcloud sends six narrow scopes since its nodes run as the
default account, where scopes are all that holds back the Editor role; Google calls those legacy."""

_ACCOUNT_ID_LIMIT = 30


@dataclass(frozen=True)
class NodeIdentityArgs:
    cluster: str
    project: str
    services: ProjectServices


class NodeIdentity(pulumi.ComponentResource):
    email: pulumi.Output[str]
    roles: list[pulumi.Resource]
    """Nodes wait for these: a node that starts without them logs nothing."""

    def __init__(self, name: str, args: NodeIdentityArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:identity:NodeIdentity", name, None, opts)
        account = serviceaccount.Account(
            f"{name}-account",
            project=args.project,
            account_id=shortened(f"{args.cluster}-nodes", _ACCOUNT_ID_LIMIT),
            display_name=f"Nodes of {args.cluster}",
            opts=child(self, args.services.need("iam")),
        )
        self.email = account.email
        self.roles = [
            projects.IAMMember(
                f"{name}-{role.removeprefix('roles/')}",
                project=args.project,
                role=role,
                member=pulumi.Output.concat("serviceAccount:", account.email),
                opts=child(self, args.services.need("cloudresourcemanager")),
            )
            for role in ROLES
        ]
        self.register_outputs({"email": self.email})
