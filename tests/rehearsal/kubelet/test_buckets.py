"""Buckets as folders of pods: who gets them, and in whose words the others do not."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubelet.containers.downward_api import Surroundings
from rehearsal.kubelet.volumes import volumes
from rehearsal.kubelet.volumes.buckets import DRIVER, Buckets
from rehearsal.kubelet.volumes.volume_payload import MountError
from tests.rehearsal.kubelet import pods

pytestmark = pytest.mark.unit
CLUSTER = "projects/some-project/locations/l/clusters/c"
MEMBER = "principal://iam.googleapis.com/projects/42/locations/global/workloadIdentityPools/some-project.svc.id.goog/subject/ns/ns/sa/train"


class Google:
    """Answers with what `told` has by path, and with 404 for the rest."""

    def __init__(self) -> None:
        self.told: dict[str, Any] = {
            f"/v1/{CLUSTER}": {"addonsConfig": {"gcsFuseCsiDriverConfig": {"enabled": True}}},
            "/v1/projects/some-project": {"projectNumber": "42"},
            "/storage/v1/b/saved": {"name": "saved"},
        }
        self.grant("roles/storage.objectUser")

    def grant(self, role: str, member: str = MEMBER) -> None:
        self.told["/storage/v1/b/saved/iam"] = {"bindings": [{"role": role, "members": [member]}]}


@pytest.fixture
def google() -> Google:
    return Google()


@pytest.fixture
def storage(google: Google, tmp_path: Path) -> Iterator[Buckets]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = google.told.get(self.path)
            self.send_response(404 if found is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are not logged."""

    (tmp_path / "buckets" / "saved" / "deep").mkdir(parents=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    yield Buckets(f"http://127.0.0.1:{server.server_port}", CLUSTER, tmp_path / "buckets")
    server.shutdown()
    server.server_close()


def pod(annotated: bool = True, read_only: bool = False, **attributes: str) -> dict[str, Any]:
    csi = {"driver": DRIVER, "readOnly": read_only, "volumeAttributes": {"bucketName": "saved", **attributes}}
    mounts = [{"name": "v", "mountPath": "/checkpoints"}]
    made = pods.pod(
        pods.container(volumeMounts=mounts), volumes=[{"name": "v", "csi": csi}], serviceAccountName="train"
    )
    made["metadata"]["annotations"] = {"gke-gcsfuse/volumes": "true"} if annotated else {}
    return made


def mounted(subject: dict[str, Any], storage: Buckets, tmp_path: Path) -> tuple[Path, bool]:
    """(The folder that the pod's container sees, whether it is read-only). Raises MountError."""
    folder = tmp_path / "volumes"
    around = Surroundings("", "", {})
    for _ in range(2):
        volumes.prepare(subject, folder, around, lambda kind, name: None, lambda who, s: "", storage)
    source, _, read_only = volumes.binds(subject, subject["spec"]["containers"][0], folder, {})[0]
    return Path(source).resolve(), read_only


def test_who_may_write_gets_the_bucket(storage: Buckets, tmp_path: Path) -> None:
    assert mounted(pod(), storage, tmp_path) == (tmp_path / "buckets" / "saved", False)


def test_a_part_of_a_bucket(storage: Buckets, tmp_path: Path) -> None:
    subject = pod(mountOptions="implicit-dirs,only-dir=deep")
    assert mounted(subject, storage, tmp_path) == (tmp_path / "buckets" / "saved" / "deep", False)


def test_who_may_read_only_or_wants_no_more_cannot_write(storage: Buckets, google: Google, tmp_path: Path) -> None:
    assert mounted(pod(read_only=True), storage, tmp_path / "a")[1] is True
    google.grant("roles/storage.objectViewer")
    assert mounted(pod(), storage, tmp_path / "b")[1] is True


def test_what_was_allowed_once_stays(storage: Buckets, google: Google, tmp_path: Path) -> None:
    mounted(pod(), storage, tmp_path)
    google.told.clear()
    assert mounted(pod(), storage, tmp_path)[1] is False


@pytest.mark.parametrize(
    ("subject", "lost", "words"),
    [
        (pod(annotated=False), "", "code = FailedPrecondition desc = failed to find the sidecar container in Pod spec"),
        (
            pod(bucketName="none"),
            "",
            'code = NotFound desc = failed to get GCS bucket "none": storage: bucket doesn\'t exist',
        ),
        (
            pod(),
            "/storage/v1/b/saved/iam",
            'code = PermissionDenied desc = failed to get GCS bucket "saved": googleapi: Error 403',
        ),
        (pod(), f"/v1/{CLUSTER}", f"driver name {DRIVER} not found in the list of registered CSI drivers"),
    ],
)
def test_the_others_wait_and_are_told_why(
    storage: Buckets, google: Google, tmp_path: Path, subject: dict[str, Any], lost: str, words: str
) -> None:
    google.told.pop(lost, None)
    with pytest.raises(MountError, match=r'MountVolume\.SetUp failed for volume "v" : ') as refused:
        mounted(subject, storage, tmp_path)
    assert words in str(refused.value)
    assert not (tmp_path / "volumes" / "v").exists()


def test_another_account_has_no_right(storage: Buckets, google: Google, tmp_path: Path) -> None:
    google.grant("roles/storage.objectUser", MEMBER.replace("/sa/train", "/sa/default"))
    with pytest.raises(MountError, match="PermissionDenied"):
        mounted(pod(), storage, tmp_path)
