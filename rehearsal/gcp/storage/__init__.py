"""The Cloud Storage JSON API: buckets, their policies and their objects (cloud.google.com/storage/docs/json_api).

A bucket's objects are files: all below the folder that `folder` names, by the objects' names. Whoever mounts a bucket as Cloud
Storage FUSE does, mounts that folder.
"""

from rehearsal.gcp.core import Handler
from rehearsal.gcp.storage.access import HANDLERS as _ACCESS
from rehearsal.gcp.storage.buckets import HANDLERS as _BUCKETS
from rehearsal.gcp.storage.buckets import KIND, folder
from rehearsal.gcp.storage.objects import HANDLERS as _OBJECTS

HANDLERS: dict[str, Handler] = {**_BUCKETS, **_ACCESS, **_OBJECTS}

__all__ = ["HANDLERS", "KIND", "folder"]
