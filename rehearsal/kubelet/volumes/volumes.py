"""The folders of a pod's volumes, and where a container wants them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rehearsal.kubelet.containers import kernel
from rehearsal.kubelet.containers.downward_api import FieldError, Surroundings
from rehearsal.kubelet.containers.expansion import expand
from rehearsal.kubelet.containers.variables import Lookup
from rehearsal.kubelet.volumes import atomic_writer, buckets
from rehearsal.kubelet.volumes.buckets import Buckets
from rehearsal.kubelet.volumes.volume_payload import WRITTEN, MountError, Token, payload
from rehearsal.kubernetes import quantity

Pod = dict[str, Any]


def prepare(
    pod: Pod, folder: Path, around: Surroundings, lookup: Lookup, token: Token, storage: Buckets | None = None
) -> bool:
    """Makes or refreshes all volumes below `folder`. Returns whether any file changed. Raises MountError."""
    changed = False
    for volume in pod["spec"].get("volumes") or []:
        target = folder / volume["name"]
        if any(kind in volume for kind in WRITTEN):
            try:
                changed |= atomic_writer.write(target, payload(pod, volume, around, lookup, token))
            except (MountError, FieldError, atomic_writer.PathError) as error:
                raise MountError(f'MountVolume.SetUp failed for volume "{volume["name"]}" : {error}') from error
        elif "emptyDir" in volume:
            _empty(target, volume["emptyDir"])
        elif storage is not None and (volume.get("csi") or {}).get("driver") == buckets.DRIVER:
            storage.prepare(pod, volume, target)
        else:
            kinds = ", ".join(key for key in volume if key != "name")
            raise MountError(f'volume "{volume["name"]}": volumes of kind {kinds} are not offered in a rehearsal')
    return changed


def _empty(target: Path, source: Mapping[str, Any]) -> None:
    """A folder, or a file system in memory, which is one of the agent's own mounts until the pod's end."""
    if not target.is_dir():
        target.mkdir(parents=True)
        target.chmod(0o777)
    if source.get("medium") == "Memory" and not target.is_mount():
        limit = f",size={int(quantity.parse(str(source['sizeLimit'])))}" if source.get("sizeLimit") else ""
        kernel.mount("tmpfs", str(target), "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=0777{limit}")


def release(folder: Path) -> None:
    """Undoes the mounts among the volumes below `folder`, whose pod has ended."""
    for target in folder.iterdir() if folder.is_dir() else ():
        if target.is_mount():
            kernel.unmount(str(target))


def binds(
    pod: Pod, container: Mapping[str, Any], folder: Path, known: Mapping[str, str]
) -> list[tuple[str, str, bool]]:
    """(source, path in the container, read-only) for each of a container's mounts. Raises MountError."""
    kinds = {volume["name"]: volume for volume in pod["spec"].get("volumes") or []}
    result = []
    for mount in container.get("volumeMounts") or []:
        volume = kinds.get(mount["name"])
        if volume is None:
            raise MountError(f'volume "{mount["name"]}" is not one of the pod')
        written = any(kind in volume for kind in WRITTEN)
        fixed = written or bool((volume.get("csi") or {}).get("readOnly"))
        fixed |= buckets.read_only_mark(folder / mount["name"]).exists()
        source = folder / mount["name"]
        part = mount.get("subPath") or expand(mount.get("subPathExpr") or "", known)
        if part:
            source = _part(source, part, may_make=not written)
        result.append((str(source), mount["mountPath"], fixed or bool(mount.get("readOnly"))))
    return result


def _part(volume: Path, part: str, may_make: bool) -> Path:
    """The file or folder of a volume that a subPath names: as it is now, for it does not follow later changes."""
    if part.startswith("/") or ".." in part.split("/"):
        raise MountError(f"subPath {part!r} must not leave its volume")
    source = volume / part
    if not source.exists():
        if not may_make:
            raise MountError(f"subPath {part!r} is not in volume {volume.name!r}")
        source.mkdir(parents=True)
        source.chmod(0o777)
    resolved = Path(os.path.realpath(source))
    if not resolved.is_relative_to(os.path.realpath(volume)):
        raise MountError(f"subPath {part!r} must not leave its volume")
    return resolved
