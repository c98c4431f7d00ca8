"""Loopback ports of this machine that lead into the rehearsal, and the forwarder that serves them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rehearsal.errors import RehearsalError
from rehearsal.host import sandbox
from rehearsal.host.forward import free_port
from rehearsal.host.layout import Layout
from rehearsal.host.network import GOOGLE_PORT, ClusterNetwork

FORWARDED_CLUSTERS = 4
FORWARDER_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Ports:
    """Loopback ports outside the sandbox: Google's APIs, and the API server of each of the first clusters."""

    google: int
    clusters: tuple[int, ...]


def gateway_socket(layout: Layout) -> Path:
    return layout.run / "gateway.sock"


def forwarder(layout: Layout) -> int | None:
    """The forwarder's process, when it runs."""
    return sandbox.remembered(_record(layout))


def _record(layout: Layout) -> Path:
    return layout.run / "forwarder.json"


def choose_ports(layout: Layout, kubectl_port: int | None = None) -> Ports:
    """The loopback ports: those of the last run where they are free, `kubectl_port` for the first cluster if given."""
    path = layout.run / "ports.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    running = forwarder(layout) is not None
    if running and kubectl_port in (None, *known.get("clusters", [])[:1]):
        return Ports(known["google"], tuple(known["clusters"]))
    if kubectl_port is not None:
        try:
            kubectl_port = free_port(kubectl_port)
        except (OSError, OverflowError) as error:
            raise RehearsalError(
                f"port {kubectl_port} cannot be used for kubectl on 127.0.0.1: {error}\n"
                "  Stop what listens there, choose another (KUBECTL_PORT=...), or leave it out: a free one is then taken."
            ) from error
    chosen = [] if kubectl_port is None else [kubectl_port]
    google = _other_than(chosen, known.get("google"))
    first = kubectl_port if kubectl_port is not None else _other_than(chosen, (known.get("clusters") or [None])[0])
    ports = Ports(google, (first, *(_other_than(chosen) for _ in range(FORWARDED_CLUSTERS - 1))))
    layout.make()
    path.write_text(json.dumps({"google": ports.google, "clusters": ports.clusters}))
    return ports


def _other_than(chosen: list[int], hope: int | None = None) -> int:
    """A free port that is not among the chosen, and now is: `hope` if it can be had.

    Nothing holds a port between its choice and its use: the system may offer one twice.
    """
    try:
        port = free_port(hope)
    except OSError:
        port = free_port()
    while port in chosen:
        port = free_port()
    chosen.append(port)
    return port


def forwarded(layout: Layout) -> Ports:
    """The ports as they are served: a forwarder that died while the rehearsal goes on is started again."""
    ports = choose_ports(layout)
    if sandbox.first_process(layout) is not None:
        start_forwarder(layout, ports)
    return ports


def start_forwarder(layout: Layout, ports: Ports) -> None:
    targets = {ports.google: f"127.0.0.1:{GOOGLE_PORT}"}
    targets |= {port: f"{ClusterNetwork(n).control_plane}:443" for n, port in enumerate(ports.clusters)}
    wanted = json.dumps(targets, sort_keys=True)
    running = forwarder(layout)
    if running is not None and (layout.run / "forwarder.targets").read_text() == wanted:
        return
    if running is not None:
        os.kill(running, signal.SIGTERM)
    command = [
        sys.executable,
        "-m",
        "rehearsal.host.forward",
        "forwarder",
        "--socket",
        str(gateway_socket(layout)),
        "--ports",
        wanted,
    ]
    environment = {**os.environ, "PYTHONPATH": str(layout.checkout)}
    with open(layout.logs / "forwarder.log", "ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )
    sandbox.remember(_record(layout), process.pid)
    (layout.run / "forwarder.targets").write_text(wanted)
    _await_forwarder(layout, process, ports)


def _await_forwarder(layout: Layout, process: subprocess.Popen[bytes], ports: Ports) -> None:
    """Waits until the ports take connections. Raises RehearsalError when they do not, as when another program was quicker."""
    deadline = time.monotonic() + FORWARDER_TIMEOUT_S
    while True:
        try:
            for port in (ports.google, *ports.clusters):
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
                continue
            last = (layout.logs / "forwarder.log").read_text(errors="replace").splitlines()[-1:]
            raise RehearsalError(
                f"the forwarder to the rehearsal did not start: {' '.join(last)}\n  Try again: other ports are then taken."
            ) from None
        if process.poll() is None:
            return
