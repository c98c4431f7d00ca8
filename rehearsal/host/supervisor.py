"""The first process of the sandbox: starts the rehearsal's programs, starts again what dies, and says what died.

One thread, one loop. It takes requests on a Unix socket (see `call`), one JSON object a line, and reaps every process of
the sandbox, as a first process must.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import selectors
import signal
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rehearsal.errors import SupervisorError
from rehearsal.host.layout import Layout

BACKOFF_S = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
STEADY_S = 60.0
"""A program that ran this long before it died starts its back-off anew."""
TERM_S = 8.0
TAIL_LINES = 6

RESTART = "stop the rehearsal with `python -m rehearsal down`, which keeps its state, and start it again"


@dataclass
class Unit:
    """A program that should be running."""

    name: str
    argv: list[str]
    env: dict[str, str]
    pid: int | None = None
    started: float = 0.0
    deaths: int = 0
    restarts: int = 0
    last_death: str = ""
    last_lines: list[str] = field(default_factory=list)
    start_at: float | None = None
    stopping_since: float | None = None

    def state(self) -> str:
        if self.stopping_since is not None:
            return "stopping"
        return "running" if self.pid is not None else "waiting"


class Supervisor:
    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.units: dict[str, Unit] = {}
        self.over = False

    # -- what clients may ask -----------------------------------------------------------------------------------------

    def handle(self, request: dict[str, Any]) -> dict[str, Any]:
        action = request.get("do")
        if action == "start":
            return self._start(request)
        if action == "stop":
            return self._stop(request["names"])
        if action == "list":
            return {"units": [self._describe(unit) for unit in self.units.values()]}
        return {"error": f"unknown request {action!r}"}

    def _start(self, request: dict[str, Any]) -> dict[str, Any]:
        """Starts a unit; one of that name that runs with the same command line and environment stays as it is."""
        known = self.units.get(request["name"])
        fresh = Unit(request["name"], request["argv"], request.get("env", {}))
        if known and (known.stopping_since is not None or (known.argv, known.env) != (fresh.argv, fresh.env)):
            return {
                "error": f"{known.name} is {known.state()} with another command line (other settings, or newer code): {RESTART}"
            }
        if known is None:
            self.units[fresh.name] = fresh
            self._spawn(fresh)
        elif known.pid is None:
            known.deaths = 0
            self._spawn(known)
        return {}

    def _stop(self, names: list[str]) -> dict[str, Any]:
        """Asks units to end; they are gone from `list` when they have."""
        for name in names:
            unit = self.units.get(name)
            if unit is None:
                continue
            if unit.pid is None:
                del self.units[name]
            elif unit.stopping_since is None:
                unit.stopping_since = time.monotonic()
                _signal(unit.pid, signal.SIGTERM)
        return {}

    def _describe(self, unit: Unit) -> dict[str, Any]:
        return {
            "name": unit.name,
            "state": unit.state(),
            "restarts": unit.restarts,
            "deaths": unit.deaths,
            "seconds": round(time.monotonic() - unit.started, 1),
            "last_death": unit.last_death,
            "last_lines": unit.last_lines,
        }

    # -- processes ----------------------------------------------------------------------------------------------------

    def _log(self, unit: Unit) -> Path:
        return self.layout.logs / f"{unit.name}.log"

    def _spawn(self, unit: Unit) -> None:
        unit.start_at = None
        unit.started = time.monotonic()
        with open(self._log(unit), "ab") as log:
            try:
                process = subprocess.Popen(
                    unit.argv,
                    env={**os.environ, **unit.env},
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    cwd=self.layout.checkout,
                )
            except OSError as error:
                log.write(f"could not be started: {error}\n".encode())
                self._died(unit, f"could not be started: {error}")
                return
        unit.pid = process.pid
        process.returncode = 0  # this loop reaps, not Popen

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            for unit in list(self.units.values()):
                if unit.pid == pid:
                    self._ended(unit, os.waitstatus_to_exitcode(status))

    def _ended(self, unit: Unit, code: int) -> None:
        unit.pid = None
        if unit.stopping_since is not None:
            del self.units[unit.name]
            return
        how = f"signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"exit code {code}"
        self._died(unit, how)

    def _died(self, unit: Unit, how: str) -> None:
        unit.deaths = 1 if time.monotonic() - unit.started > STEADY_S else unit.deaths + 1
        unit.restarts += 1
        unit.last_death = f"{how} after {time.monotonic() - unit.started:.0f} s, at {time.strftime('%H:%M:%S')}"
        unit.last_lines = _tail(self._log(unit))
        unit.start_at = time.monotonic() + BACKOFF_S[min(unit.deaths, len(BACKOFF_S)) - 1]
        print(f"{unit.name} died: {unit.last_death}", flush=True)

    def _tick(self) -> None:
        now = time.monotonic()
        for unit in list(self.units.values()):
            if unit.pid is None and unit.start_at is not None and unit.start_at <= now:
                self._spawn(unit)
            if unit.pid is not None and unit.stopping_since is not None and now - unit.stopping_since > TERM_S:
                _signal(unit.pid, signal.SIGKILL)

    # -- the loop -----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        wake_read, wake_write = socket.socketpair()
        wake_read.setblocking(False)
        wake_write.setblocking(False)
        signal.set_wakeup_fd(wake_write.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._end)
        server = socket.socket(socket.AF_UNIX)
        # Under its name only when it listens: whoever waits for the socket asks at once.
        early = self.layout.control_socket.with_suffix(".new")
        early.unlink(missing_ok=True)
        server.bind(str(early))
        os.chmod(early, 0o600)
        server.listen(16)
        early.replace(self.layout.control_socket)
        selector = selectors.DefaultSelector()
        selector.register(server, selectors.EVENT_READ)
        selector.register(wake_read, selectors.EVENT_READ)
        while not self.over:
            for key, _ in selector.select(timeout=0.1 if self._pending() else 2.0):
                if key.fileobj is server:
                    self._serve(server.accept()[0])
                else:
                    wake_read.recv(4096)
            self._reap()
            self._tick()
        self._end_all()

    def _pending(self) -> bool:
        return any(u.start_at is not None or u.stopping_since is not None for u in self.units.values())

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(2.0)
            try:
                line = connection.makefile("rb").readline()
                answer = self.handle(json.loads(line))
                connection.sendall(json.dumps(answer).encode() + b"\n")
            except (OSError, ValueError, KeyError) as error:
                print(f"a request failed: {error!r}", flush=True)

    def _end(self, *_: object) -> None:
        self.over = True

    def _end_all(self) -> None:
        """Ends the units in the reverse order of their start, so that clients end before what they talk to."""
        deadline = time.monotonic() + TERM_S
        for unit in reversed(list(self.units.values())):
            if unit.pid is not None:
                unit.stopping_since = time.monotonic()
                _signal(unit.pid, signal.SIGTERM)
        while self.units and any(u.pid for u in self.units.values()) and time.monotonic() < deadline:
            self._reap()
            time.sleep(0.05)


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


def _tail(log: Path) -> list[str]:
    with open(log, "rb") as handle:
        handle.seek(max(0, log.stat().st_size - 8192))
        return handle.read().decode(errors="replace").splitlines()[-TAIL_LINES:]


def call(layout: Layout, **request: Any) -> dict[str, Any]:
    """Sends one request to the supervisor of `layout` and returns its answer. Works from inside and outside the sandbox."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(10.0)
        try:
            connection.connect(str(layout.control_socket))
            connection.sendall(json.dumps(request).encode() + b"\n")
            answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
        except (OSError, ValueError) as error:
            raise SupervisorError(
                f"the rehearsal's supervisor does not answer ({error}); see {layout.logs / 'supervisor.log'}"
            ) from error
    if "error" in answer:
        raise SupervisorError(answer["error"])
    return answer


def start_unit(layout: Layout, name: str, argv: list[str], env: dict[str, str] | None = None) -> None:
    call(layout, do="start", name=name, argv=argv, env=env or {})


def units(layout: Layout) -> dict[str, dict[str, Any]]:
    return {unit["name"]: unit for unit in call(layout, do="list")["units"]}


def stop_units(layout: Layout, names: list[str], timeout_s: float = 2 * TERM_S) -> None:
    """Ends units, in the order given, and waits until they are gone."""
    deadline = time.monotonic() + timeout_s
    for name in names:
        call(layout, do="stop", names=[name])
        while name in units(layout):
            if time.monotonic() > deadline:
                raise SupervisorError(f"{name} did not end within {timeout_s:.0f} s")
            time.sleep(0.05)


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.host.supervisor")
    parser.add_argument("--home", type=Path, required=True)
    layout = Layout(parser.parse_args().home)
    from rehearsal.host.network import prepare_sandbox

    prepare_sandbox()
    Supervisor(layout).run()


if __name__ == "__main__":
    main()
