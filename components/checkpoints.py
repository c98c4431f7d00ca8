"""The bucket of the jobs' checkpoints, and who may use it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pulumi
from pulumi_gcp import storage

from components.cluster import Cluster
from components.options import child
from components.project import ProjectServices
from settings.catalogue.labels import SERVICE_ACCOUNT
from settings.plan.training import CheckpointsPlan
from settings.schema.field_types import region_of
from settings.schema.stack import Settings

ROLE = "roles/storage.objectUser"
"""Reads, writes and deletes objects and folders of this bucket, and changes nothing of the bucket: what Google's page on Cloud
Storage FUSE asks for where files are written."""


@dataclass(frozen=True)
class CheckpointsArgs:
    checkpoints: CheckpointsPlan
    settings: Settings
    namespaces: Sequence[str]
    """Those with jobs."""
    services: ProjectServices
    cluster: Cluster
    """With it comes the pool of identities that the jobs' accounts are in."""


class Checkpoints(pulumi.ComponentResource):
    """A bucket of the stack's own, or somebody else's, and the right of the jobs of each namespace to use it.

    The jobs are known to Google by their Kubernetes account (Workload Identity Federation): no key, and no Google account that
    other pods could borrow.
    """

    members: dict[str, pulumi.Resource]
    """By namespace: a job that starts before it has the right cannot mount the bucket."""

    def __init__(self, name: str, args: CheckpointsArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("tpu-platform:checkpoint:Checkpoints", name, None, opts)
        plan, project = args.checkpoints, args.settings.project
        bucket = self._bucket(name, args) if plan.made else self._existing(name, args)
        self.members = {
            namespace: storage.BucketIAMMember(
                f"{name}-{namespace}",
                bucket=bucket.name,
                role=ROLE,
                member=bucket.project_number.apply(lambda digits, of=namespace: principal(digits, project, of)),
                opts=child(self, [*args.services.need("storage"), args.cluster.cluster]),
            )
            for namespace in args.namespaces
        }
        self.register_outputs({"bucket": plan.bucket})

    def _existing(self, name: str, args: CheckpointsArgs) -> storage.Bucket:
        """Somebody else's bucket, read at every run and never written. Without such a bucket the run ends here."""
        bucket, project = args.checkpoints.bucket, args.settings.project
        found: storage.Bucket = storage.Bucket.get(
            f"{name}-bucket", bucket, opts=child(self, args.services.need("storage"))
        )
        found.project.apply(lambda of: must_be_of_project(bucket, of, project))
        return found

    def _bucket(self, name: str, args: CheckpointsArgs) -> storage.Bucket:
        """Its namespace is a hierarchical one: folders are things of their own, which are listed and renamed in one step, as a file
        system's are. Such a bucket keeps no versions of its objects; a job keeps its last checkpoints itself."""
        plan, settings = args.checkpoints, args.settings
        return storage.Bucket(
            f"{name}-bucket",
            name=plan.bucket,
            project=settings.project,
            # Beside the slices: checkpoints cross no region's border, which would be slow and be billed.
            location=region_of(settings.location).upper(),
            uniform_bucket_level_access=True,
            public_access_prevention="enforced",
            hierarchical_namespace=storage.BucketHierarchicalNamespaceArgs(enabled=True),
            soft_delete_policy=storage.BucketSoftDeletePolicyArgs(retention_duration_seconds=plan.soft_delete_seconds),
            lifecycle_rules=_lifecycle(plan.delete_after_days),
            labels=dict(settings.labels),
            force_destroy=not settings.deletion_protection,
            opts=child(self, args.services.need("storage"), protect=settings.deletion_protection),
        )


def must_be_of_project(bucket: str, found: str, wanted: str) -> None:
    """Raises RunError for a bucket of another project: its number is not that of the project whose clusters the jobs are in."""
    if found != wanted:
        text = f"the bucket {bucket} (checkpoints.existing) is in project {found}, and must be in {wanted}, as the cluster is"
        raise pulumi.RunError(text)


def principal(number: int, project: str, namespace: str) -> str:
    """A Kubernetes account of a project's clusters, as IAM knows it. Clusters of one project share a pool: a namespace and an
    account of the same names in another of them are the same to IAM."""
    pools = f"principal://iam.googleapis.com/projects/{number}/locations/global/workloadIdentityPools"
    return f"{pools}/{project}.svc.id.goog/subject/ns/{namespace}/sa/{SERVICE_ACCOUNT}"


def _lifecycle(days: int | None) -> list[storage.BucketLifecycleRuleArgs]:
    if days is None:
        return []
    return [
        storage.BucketLifecycleRuleArgs(
            action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
            condition=storage.BucketLifecycleRuleConditionArgs(age=days),
        )
    ]
