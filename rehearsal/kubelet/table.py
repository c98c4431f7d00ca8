"""The image table: which container images run which local programs. Pods outside it belong to kwok."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Pod = dict[str, Any]


@dataclass(frozen=True)
class Image:
    """One row: images that `match` is found in run `program`, which stands at the first word of `entrypoint`."""

    match: str
    program: str
    entrypoint: tuple[str, ...]
    static: bool = True
    replace_command: bool = False


class TableError(Exception):
    """The image table cannot be used; the text says which row and why."""


def parse(content: dict[str, Any]) -> list[Image]:
    """The rows of a table that was read from YAML. Raises TableError."""
    rows = []
    for number, row in enumerate(content.get("images") or []):
        missing = {"match", "program", "entrypoint"} - row.keys()
        if missing:
            raise TableError(f"image table, row {number}: {', '.join(sorted(missing))} missing")
        rootfs = row.get("rootfs", "static")
        if rootfs not in ("static", "host"):
            raise TableError(f"image table, row {number}: rootfs is {rootfs!r}, wanted static or host")
        try:
            re.compile(row["match"])
        except re.error as error:
            raise TableError(
                f"image table, row {number}: {row['match']!r} is no regular expression: {error}"
            ) from error
        entrypoint = tuple(str(word) for word in row["entrypoint"])
        if not entrypoint:
            raise TableError(f"image table, row {number}: entrypoint is empty")
        rows.append(
            Image(row["match"], row["program"], entrypoint, rootfs == "static", bool(row.get("replaceCommand", False)))
        )
    return rows


def load(path: Path) -> list[Image]:
    return parse(yaml.safe_load(path.read_text()) or {})


def image_for(reference: str, table: Sequence[Image]) -> Image | None:
    """The first row whose expression is found in the image's reference."""
    return next((row for row in table if re.search(row.match, reference)), None)


def containers(pod: Pod) -> list[dict[str, Any]]:
    """All containers of a pod, those of its initialization first."""
    return [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]


def runs_here(pod: Pod, table: Sequence[Image]) -> bool:
    """Whether every container of the pod has a local program: only such a pod is run for real."""
    return all(image_for(container["image"], table) for container in containers(pod))


def argv(image: Image, command: Sequence[str], args: Sequence[str]) -> list[str]:
    """The words to run: `command` replaces the image's entrypoint, and `args` its (here empty) default arguments.

    With `replaceCommand` the first word of the pod's own command gives way to the program's place in the table.
    """
    if not command:
        return [*image.entrypoint, *args]
    if image.replace_command:
        return [image.entrypoint[0], *command[1:], *args]
    return [*command, *args]
