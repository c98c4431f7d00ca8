"""The Cloud Storage JSON API: buckets, their policies and their objects (cloud.google.com/storage/docs/json_api).

A bucket's objects are files: all below the folder that `folder` names, by the objects' names. Whoever mounts a bucket as Cloud
Storage FUSE does, mounts that folder.
"""

from rehearsal.gcp.core import Service
from rehearsal.gcp.storage import access, buckets, objects
from rehearsal.gcp.storage.buckets import KIND, folder

SERVICE = Service(
    name="storage",
    versions=("v1",),
    handlers={**buckets.HANDLERS, **access.HANDLERS, **objects.HANDLERS},
    custom_endpoints={"STORAGE": "storage/v1/"},
    gcloud_path="storage/v1/",
    resources={KIND: KIND},
)

__all__ = ["KIND", "SERVICE", "folder"]
