"""Reads containers' logs back, in the ways that `kubectl logs` may ask for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rehearsal.kubernetes.time import seconds_of

POLL_S = 0.2


class LogError(Exception):
    """There is no such log; the text goes to the one who asked."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Wish:
    """The options of a request, as the kubelet's API names them."""

    follow: bool = False
    tail: int | None = None
    timestamps: bool = False
    since: float | None = None
    limit: int | None = None


def wish(query: dict[str, str], now: float) -> Wish:
    """Reads the options. Raises LogError for those that are not understood."""

    def number(name: str) -> int | None:
        if name not in query:
            return None
        if not query[name].isdigit():
            raise LogError(400, f"{name} must be a whole number, not {query[name]!r}")
        return int(query[name])

    seconds = number("sinceSeconds")
    since = None if seconds is None else now - seconds
    if query.get("sinceTime"):
        try:
            since = seconds_of(query["sinceTime"])
        except ValueError as error:
            raise LogError(400, f"sinceTime: {error}") from error
    flags = {name: query.get(name, "").lower() in ("true", "1") for name in ("follow", "timestamps")}
    return Wish(flags["follow"], number("tailLines"), flags["timestamps"], since, number("limitBytes"))


def render(line: bytes, wanted: Wish) -> bytes:
    """One stored line (`<time> <stream> <F or P> <text>`) as it is shown; parts of a long line are put together again."""
    parts = line.rstrip(b"\n").split(b" ", 3)
    if len(parts) < 3:
        return b""
    moment, tag, text = parts[0], parts[2], parts[3] if len(parts) > 3 else b""
    if wanted.since is not None and seconds_of(moment.decode()) < wanted.since:
        return b""
    return (moment + b" " if wanted.timestamps else b"") + text + (b"\n" if tag == b"F" else b"")


def stored(path: Path, wanted: Wish, over: Callable[[], bool], heard: Callable[[], bool]) -> Iterator[bytes]:
    """The pieces of a log. While following, `over` says whether the container has ended and `heard` whether anyone listens."""
    left = wanted.limit
    for line in _lines(path, wanted, over, heard):
        piece = render(line, wanted)
        if left is not None:
            piece = piece[:left]
            left -= len(piece)
        if piece:
            yield piece
        if left == 0:
            return


def _lines(path: Path, wanted: Wish, over: Callable[[], bool], heard: Callable[[], bool]) -> Iterator[bytes]:
    with open(path, "rb") as handle:
        present = handle.readlines()
        rest = b""
        if present and not present[-1].endswith(b"\n"):
            rest = present.pop()
        yield from present if wanted.tail is None else present[max(0, len(present) - wanted.tail) :]
        while wanted.follow:
            last = over()  # asked first: what is read afterwards is then complete
            more = handle.readlines()
            for line in more:
                rest += line
                if rest.endswith(b"\n"):
                    yield rest
                    rest = b""
            if last or not heard():
                return
            if not more:
                time.sleep(POLL_S)


def newest(folder: Path, runs: int, previous: bool) -> Path:
    """The log of a container's latest run, or of the one before. Raises LogError."""
    number = runs - 2 if previous else runs - 1
    path = folder / f"{number}.log"
    if number < 0 or not path.exists():
        what = "previous terminated container" if previous else "container"
        raise LogError(400, f"{what} {folder.name!r} in pod {folder.parent.name.split('_')[1]!r} not found")
    return path
