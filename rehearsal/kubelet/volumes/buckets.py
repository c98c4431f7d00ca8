"""Cloud Storage buckets as folders of pods, as GKE's driver for Cloud Storage FUSE offers them: the bucket's own folder in the
rehearsal's state, for a pod that has the right to it.

What it refuses, in which words and in which order: GoogleCloudPlatform/gcs-fuse-csi-driver, pkg/csi_driver/node.go and
docs/troubleshooting.md. A file is in the bucket as it is written here, and only when it is closed there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

from rehearsal.kubelet.volumes.volume_payload import MountError

Object = dict[str, Any]
DRIVER = "gcsfuse.csi.storage.gke.io"
ANNOTATION = "gke-gcsfuse/volumes"
READERS = frozenset({"roles/storage.objectViewer"})
WRITERS = frozenset(
    {"roles/storage.objectUser", "roles/storage.objectAdmin", "roles/storage.admin", "roles/storage.folderAdmin"}
)
TIMEOUT_S = 10.0


@dataclass
class Buckets:
    """`folder` has a folder for each bucket, `google` answers as Google's APIs do, and `cluster` is this cluster's name there:
    projects/*/locations/*/clusters/*."""

    google: str
    cluster: str
    folder: Path
    pool: urllib3.PoolManager = field(default_factory=lambda: urllib3.PoolManager(retries=False))

    def prepare(self, pod: Object, volume: Mapping[str, Any], target: Path) -> None:
        """Puts the bucket of a pod's volume at `target`; once that was allowed it is not asked for again. Raises MountError."""
        if target.is_symlink():
            return
        name = str(volume["name"])
        try:
            source, writes = self._allowed(pod, volume["csi"])
        except MountError as error:
            raise MountError(f'MountVolume.SetUp failed for volume "{name}" : {error}') from error
        target.parent.mkdir(parents=True, exist_ok=True)
        if not writes:
            read_only_mark(target).touch()
        temporary = target.with_name(f"..{name}")
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(source)
        os.replace(temporary, target)

    def _allowed(self, pod: Object, csi: Mapping[str, Any]) -> tuple[Path, bool]:
        """(The folder to show, whether the pod may write there)."""
        addons = (self._get(f"/v1/{self.cluster}") or {}).get("addonsConfig") or {}
        if not (addons.get("gcsFuseCsiDriverConfig") or {}).get("enabled"):
            known = "not found in the list of registered CSI drivers"
            raise MountError(
                f"kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: driver name {DRIVER} {known}"
            )
        attributes = csi.get("volumeAttributes") or {}
        bucket = str(attributes.get("bucketName", ""))
        roles = self._roles(pod, bucket)
        if str((pod["metadata"].get("annotations") or {}).get(ANNOTATION)).lower() != "true":
            raise _refusal("FailedPrecondition", "failed to find the sidecar container in Pod spec")
        options = str(attributes.get("mountOptions", "")).split(",")
        part = next((option.partition("=")[2] for option in options if option.startswith("only-dir=")), "")
        source = (self.folder / bucket / part).resolve()
        if not source.is_relative_to((self.folder / bucket).resolve()) or not source.is_dir():
            raise _refusal("NotFound", f'failed to get GCS bucket "{bucket}": no folder {part}')
        return source, bool(roles & WRITERS)

    def _roles(self, pod: Object, bucket: str) -> set[str]:
        """What the pod's account may do with the bucket. Raises MountError when there is none, or when that is nothing."""
        if not bucket or self._get(f"/storage/v1/b/{bucket}") is None:
            raise _refusal("NotFound", f'failed to get GCS bucket "{bucket}": storage: bucket doesn\'t exist')
        project = self.cluster.split("/")[1]
        digits = (self._get(f"/v1/projects/{project}") or {}).get("projectNumber", "")
        account = f"ns/{pod['metadata']['namespace']}/sa/{pod['spec'].get('serviceAccountName') or 'default'}"
        pools = f"iam.googleapis.com/projects/{digits}/locations/global/workloadIdentityPools"
        member = f"principal://{pools}/{project}.svc.id.goog/subject/{account}"
        policy = self._get(f"/storage/v1/b/{bucket}/iam") or {}
        roles = {row["role"] for row in policy.get("bindings") or [] if member in row.get("members", [])}
        if not roles & (READERS | WRITERS):
            text = "does not have storage.objects.list access to the Google Cloud Storage bucket."
            denied = "Permission 'storage.objects.list' denied on resource (or it may not exist)., forbidden"
            why = f'failed to get GCS bucket "{bucket}": googleapi: Error 403: {member} {text} {denied}'
            raise _refusal("PermissionDenied", why)
        return roles

    def _get(self, path: str) -> Object | None:
        """What Google answers; None for what is not there. Raises MountError."""
        try:
            answer = self.pool.request("GET", f"{self.google}{path}", timeout=TIMEOUT_S)
        except urllib3.exceptions.HTTPError as error:
            raise _refusal("Unavailable", f"Google does not answer: {error}") from error
        if answer.status == 404:
            return None
        if answer.status >= 400:
            raise _refusal(
                "Internal", f"googleapi: Error {answer.status}: {answer.data[:300].decode(errors='replace')}"
            )
        found: Object = json.loads(answer.data)
        return found


def _refusal(code: str, text: str) -> MountError:
    return MountError(f"rpc error: code = {code} desc = {text}")


def read_only_mark(target: Path) -> Path:
    """The file that is there when the pod's account may only read the bucket at `target`."""
    return target.with_name(f"..{target.name}.read-only")
