"""A bucket as a folder of a pod, by GKE's driver for Cloud Storage FUSE: what a pod needs for it, as plain data.

Source: "Mount Cloud Storage buckets as CSI ephemeral volumes" and "Cloud Storage FUSE performance best practices" of GKE's
documentation. Nothing is stored on the way: who has written a file and closed it finds it in the bucket.
"""

from __future__ import annotations

from typing import Any

MOUNT = "/checkpoints"
VOLUME = "checkpoints"
ANNOTATIONS = {"gke-gcsfuse/volumes": "true"}
"""On such a pod: GKE's webhook then adds the container that runs the file system."""
DRIVER = "gcsfuse.csi.storage.gke.io"
_OPTIONS = (
    "implicit-dirs",
    # Our program renames nothing. One that does, as Orbax by default, can in a bucket with a hierarchical namespace in one step;
    # in any other Cloud Storage FUSE does it file by file, and only for folders of at most so many.
    "rename-dir-limit=200000",
    # Hosts wait for what others write, so none may remember for a minute what there was.
    "metadata-cache:ttl-secs:0",
    "metadata-cache:negative-ttl-secs:0",
)


def checkpoint_mount() -> dict[str, Any]:
    """For a container's `volumeMounts`."""
    return {"name": VOLUME, "mountPath": MOUNT}


def checkpoint_volume(
    bucket: str, *, owner: tuple[int, int] | None = None, host_network: bool = False
) -> dict[str, Any]:
    """For a pod's `volumes`. `owner` is the user and group that the pod's processes run as, where that is not root: the files
    are theirs then. A pod in the host's network would be taken for its node: `host_network` has it show its own account."""
    options = [*_OPTIONS, *(f"{key}={value}" for key, value in zip(("uid", "gid"), owner or (), strict=False))]
    attributes = {"bucketName": bucket, "mountOptions": ",".join(options)}
    if host_network:
        attributes["hostNetworkPodKSA"] = "true"
    return {"name": VOLUME, "csi": {"driver": DRIVER, "readOnly": False, "volumeAttributes": attributes}}


def checkpoint_folder(namespace: str, job: str) -> str:
    """Where a job's checkpoints are: the same for every attempt, so that the next one goes on from the last."""
    return f"{MOUNT}/{namespace}/{job}"


def checkpoint_address(bucket: str, namespace: str, job: str) -> str:
    """The same folder, as Cloud Storage names it."""
    return f"gs://{bucket}{checkpoint_folder(namespace, job).removeprefix(MOUNT)}"
