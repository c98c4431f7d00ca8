"""The image table: which container images run which local programs. Pods outside it belong to kwok."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from rehearsal.host.layout import Layout
from rehearsal.kubernetes import quantity

Pod = dict[str, Any]
_UNITS_MS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000}


@dataclass(frozen=True)
class Image:
    """One row: images that `match` is found in run `program`, which stands at the first word of `entrypoint`.

    Without a program all that is run is found in the machine's own files. `show` are folders that a container sees, read-only, at
    the place where they are; `environment` wins over the pod's own; `memory` is what a container takes of this machine's, in
    bytes, `jobs` how many jobs with it run at a time, and `nice` how far it stands back for other programs (nice(1)).
    """

    match: str
    program: str | None
    entrypoint: tuple[str, ...]
    static: bool = True
    replace_command: bool = False
    cmd: tuple[str, ...] = ()
    show: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    memory: float = 0.0
    jobs: int | None = None
    nice: int = 0


class TableError(Exception):
    """The image table cannot be used; the text says which row and why."""


def parse(content: dict[str, Any]) -> list[Image]:
    """The rows of a table that was read from YAML. Raises TableError."""
    return [_row(number, row) for number, row in enumerate(content.get("images") or [])]


def _row(number: int, row: dict[str, Any]) -> Image:
    where = f"image table, row {number}"
    rootfs = row.get("rootfs", "static")
    if rootfs not in ("static", "host"):
        raise TableError(f"{where}: rootfs is {rootfs!r}, wanted static or host")
    missing = {"match", "entrypoint", *(["program"] if rootfs == "static" else [])} - row.keys()
    if missing:
        raise TableError(f"{where}: {', '.join(sorted(missing))} missing")
    try:
        re.compile(row["match"])
        memory = quantity.parse(str(row.get("memory", 0)))
    except re.error as error:
        raise TableError(f"{where}: {row['match']!r} is no regular expression: {error}") from error
    except ValueError as error:
        raise TableError(f"{where}: memory is {error}") from error
    entrypoint, cmd, show = (tuple(map(str, row.get(key) or [])) for key in ("entrypoint", "cmd", "show"))
    if not entrypoint and ("program" in row or not cmd):
        raise TableError(f"{where}: entrypoint is empty")
    variables = {str(name): str(value) for name, value in (row.get("environment") or {}).items()}
    return Image(
        row["match"], row.get("program"), entrypoint, rootfs == "static", bool(row.get("replaceCommand", False)),
        cmd, show, variables, float(memory), int(row["jobs"]) if "jobs" in row else None, int(row.get("nice", 0)),
    )  # fmt: skip


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


def memory(pod: Pod, table: Sequence[Image]) -> float:
    """What the pod takes of this machine's memory, in bytes. Containers of its initialization are gone when the others begin."""
    images = (image_for(container["image"], table) for container in pod["spec"]["containers"])
    return sum(image.memory for image in images if image is not None)


def limited(pod: Pod, table: Sequence[Image]) -> tuple[str, int | None]:
    """(the row of the pod's first container, how many jobs of it run at a time)."""
    image = image_for(pod["spec"]["containers"][0]["image"], table)
    return (image.match, image.jobs) if image is not None else ("", None)


def argv(image: Image, command: Sequence[str], args: Sequence[str]) -> list[str]:
    """The words to run: `command` replaces the image's entrypoint and its default arguments, `args` the latter only.

    With `replaceCommand` the first word of the pod's own command gives way to the program's place in the table.
    """
    if not command:
        return [*image.entrypoint, *(args or image.cmd)]
    if image.replace_command:
        return [image.entrypoint[0], *command[1:], *args]
    return [*command, *args]


def read_table(layout: Layout) -> tuple[list[str], int]:
    """(patterns of images with a local program, milliseconds that a simulated job pod runs)."""
    table = yaml.safe_load(layout.images.read_text())
    return [row["match"] for row in table.get("images", [])], duration_ms(table["simulated"]["duration"])


def duration_ms(text: str) -> int:
    """Milliseconds of a duration such as `8s`, `1500ms` or `1m30s`. Raises ValueError."""
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != text:
        raise ValueError(f"not a duration: {text!r} (wanted for example 8s, 1500ms, 1m30s)")
    return int(sum(float(number) * _UNITS_MS[unit] for number, unit in parts))
