"""The Pulumi engine as the operations use it: inside the rehearsal, on the local stack."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from rehearsal import lifecycle
from rehearsal.errors import KNOWN_ERRORS
from rehearsal.host import sandbox
from rehearsal.host.layout import Layout

LAST_LINES = 12


class OperationError(Exception):
    """An operation failed; the text has the lines that explain it and the next command."""


@dataclass(frozen=True)
class Engine:
    """Runs `pulumi` on one stack of this checkout."""

    layout: Layout
    stack: str = "local"

    def run(
        self,
        *arguments: str,
        quiet: bool = False,
        check: bool = True,
        extra: Mapping[str, str] | None = None,
        remedy: str | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Runs pulumi with the stack named; output goes to the terminal, or is kept when `quiet`. `extra` is for its
        environment, `remedy` the last line where it fails. Raises OperationError."""
        command = ["pulumi", *arguments, "--stack", self.stack, "--non-interactive", "--cwd", str(self.layout.checkout)]
        stream = subprocess.PIPE if quiet else None
        done = lifecycle.run_inside(self.layout, command, text=True, stdout=stream, stderr=stream, extra=extra or {})
        if check and done.returncode != 0:
            detail = (
                "\n    ".join((done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:]) if quiet else "see above"
            )
            further = f"\n  {remedy}" if remedy is not None else ""
            raise OperationError(f"`pulumi {arguments[0]}` failed: {detail}{further}")
        return done

    def select(self) -> None:
        """Creates the stack if it does not exist. The committed stack file is left unchanged."""
        settings = self.layout.checkout / f"Pulumi.{self.stack}.yaml"
        before = settings.read_bytes()
        try:
            self.run("stack", "init", quiet=True, check=False)
        finally:
            if settings.read_bytes() != before:
                settings.write_bytes(before)

    def exists(self) -> bool:
        return any((self.layout.stacks / ".pulumi" / "stacks").rglob(f"{self.stack}.json"))

    def export(self) -> dict[str, Any]:
        """The stack's state as the engine exports it."""
        exported: dict[str, Any] = json.loads(self.run("stack", "export", quiet=True).stdout)
        return exported

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the stack's state; none before the first `up`."""
        deployment = self.export().get("deployment") or {}
        return list(deployment.get("resources") or [])

    def replace(self, state: dict[str, Any]) -> None:
        """Hands the engine a changed state, which it checks."""
        with tempfile.NamedTemporaryFile("w", dir=self.layout.run, suffix=".json") as handle:
            json.dump(state, handle)
            handle.flush()
            self.run("stack", "import", "--file", handle.name, quiet=True)

    def ended_well(self) -> bool:
        """Whether the last run that changed something went through, by the engine's own history; also before the first one."""
        listed = self.run("stack", "history", "--json", "--page-size", "1", "--show-secrets=false", quiet=True).stdout
        return all(entry["result"] == "succeeded" for entry in json.loads(listed))

    def outputs(self) -> dict[str, Any]:
        shown: dict[str, Any] = json.loads(self.run("stack", "output", "--json", quiet=True).stdout)
        return shown

    def unlock(self) -> bool:
        """Removes the lock of a killed engine. Raises OperationError while an engine runs in the rehearsal."""
        running = sandbox.processes_named(self.layout, "pulumi")
        if running:
            raise OperationError(
                f"an engine still runs in the rehearsal (process {running[0]}); wait for it to end, or end it, and try again"
            )
        locks = list((self.layout.stacks / ".pulumi" / "locks").rglob("*.json"))
        for lock in locks:
            lock.unlink()
        return bool(locks)


@contextmanager
def exclusive(layout: Layout) -> Iterator[None]:
    """Allows one operation at a time per checkout. Raises OperationError when another runs, and on an interrupt."""
    layout.make()
    with open(layout.run / "operation.lock", "a+") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            raise OperationError(
                f"another operation runs in this checkout (process {handle.read().strip()}); wait for it, or end it, and try again"
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        try:
            yield
        except KeyboardInterrupt:
            raise OperationError(
                "interrupted; everything created so far stays, and `make up` or `make down` continues from there"
            ) from None


def run_operation(operation: Callable[[Layout], int]) -> int:
    """Runs an operation exclusively in this checkout and returns its exit code; expected failures are printed as one line."""
    layout = Layout.default()
    try:
        with exclusive(layout):
            return operation(layout)
    except (OperationError, *KNOWN_ERRORS) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
