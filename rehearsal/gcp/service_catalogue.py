"""The APIs that a project can enable: data for the Service Usage API.

Titles are those of Google's own discovery documents; what needs what follows `gcloud services enable container.googleapis.com`,
which switches on the APIs on which clusters stand.
"""

from __future__ import annotations

ALWAYS_ON = ("cloudresourcemanager.googleapis.com", "serviceusage.googleapis.com")
"""Of every project here. On Google's side a fresh project may lack even these; clients could then do nothing at all."""

TITLES = {
    "artifactregistry.googleapis.com": "Artifact Registry API",
    "autoscaling.googleapis.com": "Cloud Autoscaling API",
    "cloudbuild.googleapis.com": "Cloud Build API",
    "cloudkms.googleapis.com": "Cloud Key Management Service (KMS) API",
    "cloudresourcemanager.googleapis.com": "Cloud Resource Manager API",
    "compute.googleapis.com": "Compute Engine API",
    "container.googleapis.com": "Kubernetes Engine API",
    "containerfilesystem.googleapis.com": "Container File System API",
    "containerregistry.googleapis.com": "Container Registry API",
    "dns.googleapis.com": "Cloud DNS API",
    "file.googleapis.com": "Cloud Filestore API",
    "gkebackup.googleapis.com": "Backup for GKE API",
    "gkeconnect.googleapis.com": "GKE Connect API",
    "gkehub.googleapis.com": "GKE Hub API",
    "iam.googleapis.com": "Identity and Access Management (IAM) API",
    "iamcredentials.googleapis.com": "IAM Service Account Credentials API",
    "logging.googleapis.com": "Cloud Logging API",
    "monitoring.googleapis.com": "Cloud Monitoring API",
    "networkconnectivity.googleapis.com": "Network Connectivity API",
    "networkmanagement.googleapis.com": "Network Management API",
    "oslogin.googleapis.com": "Cloud OS Login API",
    "pubsub.googleapis.com": "Cloud Pub/Sub API",
    "secretmanager.googleapis.com": "Secret Manager API",
    "servicenetworking.googleapis.com": "Service Networking API",
    "serviceusage.googleapis.com": "Service Usage API",
    "storage.googleapis.com": "Cloud Storage API",
    "storage-api.googleapis.com": "Google Cloud Storage JSON API",
    "tpu.googleapis.com": "Cloud TPU API",
}

NEEDS: dict[str, tuple[str, ...]] = {
    "compute.googleapis.com": ("oslogin.googleapis.com",),
    "container.googleapis.com": (
        "artifactregistry.googleapis.com",
        "autoscaling.googleapis.com",
        "compute.googleapis.com",
        "containerfilesystem.googleapis.com",
        "containerregistry.googleapis.com",
        "dns.googleapis.com",
        "gkebackup.googleapis.com",
        "iam.googleapis.com",
        "iamcredentials.googleapis.com",
        "logging.googleapis.com",
        "monitoring.googleapis.com",
        "networkconnectivity.googleapis.com",
        "oslogin.googleapis.com",
        "pubsub.googleapis.com",
        "storage-api.googleapis.com",
    ),
    "containerregistry.googleapis.com": ("pubsub.googleapis.com", "storage-api.googleapis.com"),
    "gkehub.googleapis.com": ("gkeconnect.googleapis.com",),
    "iam.googleapis.com": ("iamcredentials.googleapis.com",),
    "tpu.googleapis.com": ("compute.googleapis.com",),
}
"""Enabling the first enables the others with it, and those cannot be disabled under it."""


def with_needs(apis: set[str]) -> set[str]:
    """Those APIs and all that they stand on."""
    found, fresh = set(apis), set(apis)
    while fresh:
        fresh = {need for api in fresh for need in NEEDS.get(api, ())} - found
        found |= fresh
    return found


def standing_on(api: str, on: set[str]) -> set[str]:
    """Which of the enabled APIs would lose something if `api` went."""
    return {other for other in on - {api} if api in with_needs({other})}
