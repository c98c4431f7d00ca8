"""Which pods are ours: those whose every container's image runs a local program."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from rehearsal.pods.api import Object


@dataclass(frozen=True)
class Image:
    """What stands for an image: `program` is laid at `entrypoint[0]`; `host` says whether the machine's own programs are visible."""

    program: str
    entrypoint: tuple[str, ...]
    host: bool


class Table:
    """The image table, read again when its file changes."""

    def __init__(self, path: Path) -> None:
        self._path, self._read_at, self._rows = path, 0, list[tuple[re.Pattern[str], Image]]()

    def find(self, reference: str) -> Image | None:
        changed = self._path.stat().st_mtime_ns
        if changed != self._read_at:
            rows = yaml.safe_load(self._path.read_text()).get("images", [])
            self._rows = [(re.compile(row["match"]), _image(row)) for row in rows]
            self._read_at = changed
        return next((image for pattern, image in self._rows if pattern.search(reference)), None)

    def ours(self, pod: Object) -> bool:
        spec = pod["spec"]
        return all(
            self.find(c.get("image", "")) is not None for c in [*spec["containers"], *spec.get("initContainers", [])]
        )


def _image(row: Object) -> Image:
    return Image(row["program"], tuple(row["entrypoint"]), row.get("rootfs", "static") == "host")
