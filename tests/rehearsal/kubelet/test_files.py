"""Volumes: what their files hold, and how they are put in place."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import pytest

from rehearsal.kubelet.api.tokens import renewal
from rehearsal.kubelet.containers.downward_api import Surroundings
from rehearsal.kubelet.volumes import atomic_writer, volumes
from rehearsal.kubelet.volumes.volume_payload import File, MountError, Payload, payload, references

pytestmark = pytest.mark.unit
AROUND = Surroundings("10.64.1.9", "10.128.0.1", {})
POD = {"metadata": {"name": "p", "namespace": "ns", "uid": "u", "labels": {"a": "1"}}, "spec": {"containers": []}}
OBJECTS = {
    ("ConfigMap", "cm"): {"data": {"a": "1", "b": "2"}, "binaryData": {"c": base64.b64encode(b"\0").decode()}},
    ("Secret", "empty"): {},
}


def files(volume: dict[str, Any]) -> Payload:
    return payload(POD, volume, AROUND, lambda kind, name: OBJECTS.get((kind, name)), lambda who, s: f"{who}/{s}")


def test_whole_objects() -> None:
    found = files({"name": "v", "configMap": {"name": "cm", "defaultMode": 0o400}})
    assert found == {"a": File(b"1", 0o400), "b": File(b"2", 0o400), "c": File(b"\0", 0o400)}
    assert files({"name": "v", "secret": {"secretName": "empty"}}) == {}


def test_chosen_keys_with_modes_of_their_own() -> None:
    volume = {"name": "v", "configMap": {"name": "cm", "items": [{"key": "a", "path": "d/e", "mode": 0}]}}
    assert files(volume) == {"d/e": File(b"1", 0)}


def test_what_is_missing_holds_the_pod_up_unless_optional() -> None:
    with pytest.raises(MountError, match='secret "none" not found'):
        files({"name": "v", "secret": {"secretName": "none"}})
    with pytest.raises(MountError, match="non-existent configmap key: z"):
        files({"name": "v", "configMap": {"name": "cm", "items": [{"key": "z", "path": "z"}]}})
    assert files({"name": "v", "secret": {"secretName": "none", "optional": True}}) == {}


def test_projected_volumes_join_their_sources() -> None:
    sources = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 600, "audience": "aud"}},
        {"configMap": {"name": "cm", "items": [{"key": "b", "path": "b"}]}},
        {"downwardAPI": {"items": [{"path": "l", "fieldRef": {"fieldPath": "metadata.labels"}}]}},
    ]
    found = files({"name": "v", "projected": {"sources": sources}})
    assert {name: file.content for name, file in found.items()} == {"token": b"aud/600", "b": b"2", "l": b'a="1"'}


def test_references_of_volumes() -> None:
    sources = [{"configMap": {"name": "x"}}, {"secret": {"name": "y"}}]
    spec = {"volumes": [{"name": "v", "secret": {"secretName": "s"}}, {"name": "w", "projected": {"sources": sources}}]}
    assert references({"spec": spec}) == {("Secret", "s"), ("ConfigMap", "x"), ("Secret", "y")}


def test_a_set_of_files_replaces_another_at_once(tmp_path: Path) -> None:
    target = tmp_path / "v"
    assert atomic_writer.write(target, {"a": File(b"1"), "d/b": File(b"2", 0o400)})
    assert not atomic_writer.write(target, {"a": File(b"1"), "d/b": File(b"2", 0o400)})
    assert os.readlink(target / "a") == "..data/a"
    assert (target / "d" / "b").stat().st_mode & 0o777 == 0o400
    assert atomic_writer.write(target, {"a": File(b"changed")})
    assert (target / "a").read_bytes() == b"changed"
    assert sorted(entry.name for entry in target.iterdir() if not entry.name.startswith("..2")) == ["..data", "a"]
    assert len(list(target.glob("..2*"))) == 1


def test_no_file_leaves_its_volume(tmp_path: Path) -> None:
    for name in ("../x", "/x", "a/../../x", "..data"):
        with pytest.raises(atomic_writer.PathError):
            atomic_writer.write(tmp_path / "v", {name: File(b"")})


def test_empty_volumes_keep_what_is_in_them_and_odd_kinds_are_refused(tmp_path: Path) -> None:
    pod = {**POD, "spec": {"volumes": [{"name": "e", "emptyDir": {}}]}}
    for _ in range(2):
        volumes.prepare(pod, tmp_path, AROUND, lambda kind, name: None, lambda who, s: "")
        (tmp_path / "e" / "f").write_text("kept")
    odd = {**POD, "spec": {"volumes": [{"name": "n", "nfs": {}}]}}
    with pytest.raises(MountError, match="nfs"):
        volumes.prepare(odd, tmp_path, AROUND, lambda kind, name: None, lambda who, s: "")


def test_sub_paths(tmp_path: Path) -> None:
    pod = {"spec": {"volumes": [{"name": "v", "configMap": {"name": "cm"}}, {"name": "e", "emptyDir": {}}]}}
    atomic_writer.write(tmp_path / "v", {"a": File(b"1")})
    (tmp_path / "e").mkdir()
    mounts = [
        {"name": "v", "mountPath": "/a", "subPath": "a"},
        {"name": "e", "mountPath": "/e", "subPathExpr": "$(N)/x"},
    ]
    first, second = volumes.binds(pod, {"volumeMounts": mounts}, tmp_path, {"N": "n"})
    assert Path(first[0]).read_bytes() == b"1"
    assert first[1:] == ("/a", True)
    assert second == (str(tmp_path / "e" / "n" / "x"), "/e", False)
    for part in ("../x", "none"):
        with pytest.raises(MountError):
            volumes.binds(pod, {"volumeMounts": [{"name": "v", "mountPath": "/a", "subPath": part}]}, tmp_path, {})


def test_tokens_are_renewed_at_four_fifths_of_their_life() -> None:
    assert renewal(1000.0, 2000.0) == 1800.0
    assert renewal(0.0, 1e9) == 24 * 3600.0
