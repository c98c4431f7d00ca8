"""Container logs as files: each line with the time at which it came, so that `kubectl logs` can be asked for any part."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

LIMIT = 20 * 2**20
"""Bytes after which a log is cut to its later half (the kubelet rotates at 10 MiB)."""
FOLLOW_S = 0.2


def stamp() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f") + "000Z"


def copy(stream: IO[bytes], path: Path) -> threading.Thread:
    """Writes a process's output to its log until it ends."""

    def work() -> None:
        with stream, path.open("ab") as log:
            for line in stream:
                log.write(f"{stamp()} ".encode() + (line if line.endswith(b"\n") else line + b"\n"))
                log.flush()
                if log.tell() > LIMIT:
                    kept = path.read_bytes()[-LIMIT // 2 :].split(b"\n", 1)[-1]
                    log.truncate(0)
                    log.write(kept)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@dataclass(frozen=True)
class Query:
    """What `kubectl logs` asks for (kubernetes.io: PodLogOptions)."""

    follow: bool = False
    tail: int | None = None
    timestamps: bool = False
    since: datetime | None = None
    limit: int | None = None


def read(path: Path, query: Query, running: threading.Event) -> Iterator[bytes]:
    """The lines asked for; with `follow`, until `running` is cleared and the file is read to its end."""
    sent, position = 0, 0
    first = True
    while True:
        alive = running.is_set()
        with path.open("rb") as log:
            log.seek(position)
            data = log.read()
        whole = data[: data.rfind(b"\n") + 1]
        position += len(whole)
        lines = [line for line in whole.split(b"\n") if line and _recent(line, query.since)]
        if first and query.tail is not None:
            lines = lines[-query.tail :] if query.tail > 0 else []
        first = False
        for line in lines:
            text = (line if query.timestamps else line.split(b" ", 1)[-1]) + b"\n"
            if query.limit is not None and sent + len(text) > query.limit:
                yield text[: query.limit - sent]
                return
            sent += len(text)
            yield text
        if not query.follow or not alive:
            return
        time.sleep(FOLLOW_S)


def _recent(line: bytes, since: datetime | None) -> bool:
    if since is None:
        return True
    return datetime.fromisoformat(line.split(b" ", 1)[0].decode()[:26] + "+00:00") >= since
