"""The two providers, built once and given to components explicitly. Default providers are disabled in Pulumi.yaml,
so that a resource that lost its provider fails instead of writing to whatever cluster or project is current."""

from __future__ import annotations

import pulumi_gcp
import pulumi_kubernetes

from components.cluster import Cluster
from components.manifests.kubeconfig import kubeconfig_of
from settings.schema.field_types import region_of
from settings.schema.stack import Settings


def google_provider(settings: Settings) -> pulumi_gcp.Provider:
    return pulumi_gcp.Provider("google", project=settings.project, region=region_of(settings.location))


def kubernetes_provider(cluster: Cluster) -> pulumi_kubernetes.Provider:
    """Server-side apply: the JobSet CRD is larger than client-side apply's annotation may be, fields that controllers
    own are left to them, and an `up` that was killed takes its own half-recorded objects up again."""
    return pulumi_kubernetes.Provider(
        "kubernetes",
        kubeconfig=kubeconfig_of(cluster),
        enable_server_side_apply=True,
        # Its client-side defaults would read the user's own kubeconfig and namespace.
        namespace="default",
    )
