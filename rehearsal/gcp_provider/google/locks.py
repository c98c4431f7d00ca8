"""Locks by name, as the Terraform provider holds them: shared for what reads or adds to a cluster, alone for what changes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _SharedLock:
    """Many at once, or one alone."""

    def __init__(self) -> None:
        self._free = threading.Condition()
        self._shared = 0
        self._alone = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: not self._alone)
            self._shared += 1
        try:
            yield
        finally:
            with self._free:
                self._shared -= 1
                self._free.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self._free:
            self._free.wait_for(lambda: not self._alone and self._shared == 0)
            self._alone = True
        try:
            yield
        finally:
            with self._free:
                self._alone = False
                self._free.notify_all()


class Locks:
    """One lock per name, made at first use."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: dict[str, _SharedLock] = {}

    def _lock(self, name: str) -> _SharedLock:
        with self._guard:
            return self._locks.setdefault(name, _SharedLock())

    @contextmanager
    def shared(self, name: str) -> Iterator[None]:
        with self._lock(name).shared():
            yield

    @contextmanager
    def alone(self, name: str) -> Iterator[None]:
        with self._lock(name).alone():
            yield
