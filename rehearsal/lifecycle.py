"""Starts and stops a rehearsal, and says how it is."""

from __future__ import annotations

import http.client
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rehearsal import sandbox, supervisor
from rehearsal.control_plane import token
from rehearsal.environment import GOOGLE, GOOGLE_PORT, PROVIDER_PORT, gcloud, inside, real_google_plugin
from rehearsal.forward import free_port
from rehearsal.images import write_table
from rehearsal.installed import user_plugins
from rehearsal.layout import Layout
from rehearsal.network import ClusterNetwork
from rehearsal.toolchain import Toolchain

READY_TIMEOUT_S = 60.0
FORWARDED_CLUSTERS = 4
LOOKS_DOWN_AFTER = 5
"""Deaths in a row after which a program is reported as failing, not as restarting."""


class RehearsalError(Exception):
    """The rehearsal could not be started or is not well; the text explains and names the next command."""


@dataclass(frozen=True)
class Ports:
    """Loopback ports outside the sandbox: Google's APIs, and the API server of each of the first clusters."""

    google: int
    clusters: tuple[int, ...]


def up(layout: Layout, say: Callable[[str], None] = print, kubectl_port: int | None = None) -> None:
    """Brings the rehearsal up, building what is missing. Idempotent: what runs stays, what died is started again."""
    ports = choose_ports(layout, kubectl_port)
    Toolchain(layout, say).ensure()
    started = time.monotonic()
    write_table(layout)
    _write_auth_plugin(layout)
    link_plugins(layout)
    sandbox.start(layout)
    for name, argv, env in _units(layout):
        supervisor.start_unit(layout, name, argv, env)
    _await_google(layout)
    _set_capacity(layout)
    _start_forwarder(layout, ports)
    where = f"Google's APIs on 127.0.0.1:{ports.google}, clusters from 127.0.0.1:{ports.clusters[0]}"
    say(f"  the rehearsal is up ({time.monotonic() - started:.1f} s): {where}")


def down(layout: Layout) -> None:
    """Stops the rehearsal. Its state stays: the next `up` continues from it."""
    forwarder = sandbox.remembered(layout.run / "forwarder.json")
    if forwarder is not None:
        os.kill(forwarder, signal.SIGTERM)
    sandbox.stop(layout)
    shutil.rmtree(layout.scratch, ignore_errors=True)


def _units(layout: Layout) -> list[tuple[str, list[str], dict[str, str]]]:
    home = {"REHEARSAL_HOME": str(layout.root), "PYTHONPATH": str(layout.checkout), "PYTHONUNBUFFERED": "1"}
    scale = os.environ.get("REHEARSAL_TIME_SCALE", "0.01")
    google = [
        "--state",
        str(layout.google),
        "--port",
        str(GOOGLE_PORT),
        "--socket",
        str(layout.google_socket),
        "--time-scale",
        scale,
    ]
    python = [sys.executable, "-m"]
    rows = [
        ("google", [*python, "rehearsal.gcp", *google, "--backend", "control-plane"], home),
        ("gateway", [*python, "rehearsal.forward", "gateway", "--socket", str(_gateway(layout))], home),
    ]
    if real_google_plugin(layout) is None:
        rows.append(
            (
                "gcp-provider",
                [*python, "rehearsal.gcp_provider", "--port", str(PROVIDER_PORT), "--google", GOOGLE],
                home,
            )
        )
    return rows


def _gateway(layout: Layout) -> Path:
    return layout.run / "gateway.sock"


def _write_auth_plugin(layout: Layout) -> None:
    """The rehearsal's `gke-gcloud-auth-plugin`: hands out the rehearsal's own token, as Google's hands out the user's."""
    token(layout)
    path = layout.bin / "gke-gcloud-auth-plugin"
    path.write_text(
        "#!/bin/sh\n"
        "# Answers as Google's plugin does, with the rehearsal's token.\n"
        'printf \'{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"%s"}}\\n\' '
        f'"$(cat {shlex.quote(str(layout.root / "token"))})"\n'
    )
    path.chmod(0o755)


def link_plugins(layout: Layout) -> None:
    """Makes the user's own installed plugins visible to the engine, which has a home of its own in the rehearsal."""
    folder = user_plugins()
    for entry in folder.glob("resource-*") if folder.is_dir() else ():
        link = layout.pulumi_home / "plugins" / entry.name
        if not link.exists():
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(entry)


# -- ports and the forwarder ------------------------------------------------------------------------------------------


def choose_ports(layout: Layout, kubectl_port: int | None = None) -> Ports:
    """The loopback ports: those of the last run where they are free, `kubectl_port` for the first cluster if given."""
    path = layout.run / "ports.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    running = sandbox.remembered(layout.run / "forwarder.json") is not None
    if running and kubectl_port in (None, *known.get("clusters", [])[:1]):
        return Ports(known["google"], tuple(known["clusters"]))
    if kubectl_port is not None:
        try:
            free_port(kubectl_port)
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


def _start_forwarder(layout: Layout, ports: Ports) -> None:
    targets = {ports.google: f"127.0.0.1:{GOOGLE_PORT}"}
    targets |= {port: f"{ClusterNetwork(n).control_plane}:443" for n, port in enumerate(ports.clusters)}
    record, wanted = layout.run / "forwarder.json", json.dumps(targets, sort_keys=True)
    running = sandbox.remembered(record)
    if running is not None and (layout.run / "forwarder.targets").read_text() == wanted:
        return
    if running is not None:
        os.kill(running, signal.SIGTERM)
    command = [
        sys.executable,
        "-m",
        "rehearsal.forward",
        "forwarder",
        "--socket",
        str(_gateway(layout)),
        "--ports",
        wanted,
    ]
    environment = {**os.environ, "PYTHONPATH": str(layout.checkout)}
    with open(layout.logs / "forwarder.log", "ab") as log:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, env=environment
        )
    sandbox.remember(record, process.pid)
    (layout.run / "forwarder.targets").write_text(wanted)


# -- asking Google's stand-in -----------------------------------------------------------------------------------------


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=30)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(self._path)


def google(layout: Layout, method: str, path: str, body: Any = None) -> Any:
    """One call to the REST server, from inside or outside the sandbox; returns the decoded JSON. Raises RehearsalError."""
    connection = _UnixConnection(layout.google_socket)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, path, payload, {"Content-Type": "application/json"} if payload else {})
        answer = connection.getresponse()
        text = answer.read().decode()
    except OSError as error:
        raise RehearsalError(f"Google's stand-in does not answer ({error}); see `make status`") from error
    finally:
        connection.close()
    if answer.status >= 400:
        raise RehearsalError(f"{method} {path}: {answer.status} {text.strip()[:500]}")
    return json.loads(text) if text else None


def _await_google(layout: Layout) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while True:
        try:
            google(layout, "GET", "/_rehearsal/health")
            return
        except RehearsalError:
            failing = [u for u in supervisor.units(layout).values() if u["deaths"] >= LOOKS_DOWN_AFTER]
            if failing or time.monotonic() > deadline:
                raise RehearsalError(
                    "the rehearsal did not come up\n" + explain(failing or list(supervisor.units(layout).values()))
                ) from None
            time.sleep(0.05)


def _set_capacity(layout: Layout) -> None:
    """The file that REHEARSAL_CAPACITY names says how many chips Google has (JSON or YAML, see rehearsal/gke/capacity.py)."""
    named = os.environ.get("REHEARSAL_CAPACITY")
    if named:
        google(layout, "PUT", "/_rehearsal/capacity", yaml.safe_load(Path(named).read_text()))


def explain(failing: list[dict[str, Any]]) -> str:
    """Each unit that died, with how and its last lines."""
    died = [unit for unit in failing if unit["last_death"]]
    return "\n".join(
        f"{unit['name']} died: {unit['last_death']}\n    " + "\n    ".join(unit["last_lines"]) for unit in died
    )


# -- looking at it ----------------------------------------------------------------------------------------------------


def status(layout: Layout) -> tuple[str, bool]:
    """(A table of the rehearsal's programs, whether all are well)."""
    if sandbox.first_process(layout) is None:
        return "no rehearsal runs in this checkout", False
    rows = list(supervisor.units(layout).values())
    lines = [
        f"{unit['name']:<45} {unit['state']:<9} {unit['seconds']:>8.0f} s  restarts: {unit['restarts']}"
        for unit in rows
    ]
    died = explain(rows)
    return "\n".join([*lines, *([died] if died else [])]), all(unit["state"] == "running" for unit in rows)


def write_kubeconfig(layout: Layout, cluster: str | None = None) -> Path:
    """A kubeconfig for the user's own kubectl outside the sandbox, by the loopback forward. Raises RehearsalError."""
    found = {p.parent.name: int(p.read_text()) for p in sorted(layout.clusters.glob("*/index"))}
    chosen = [(name, index) for name, index in found.items() if cluster is None or name.rsplit("-", 1)[0] == cluster]
    if not chosen:
        raise RehearsalError(f"no cluster {cluster or ''} runs: create one first (`make up`)".replace("  ", " "))
    name, index = chosen[0]
    ports = choose_ports(layout)
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {
            "server": f"https://127.0.0.1:{ports.clusters[index]}",
            "certificate-authority": str(layout.clusters / name / "pki" / "cluster-ca.crt"),
        }}],
        "users": [{"name": name, "user": {"tokenFile": str(layout.root / "token")}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }  # fmt: skip
    path = layout.kubeconfig
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def run_inside(layout: Layout, argv: list[str], **options: Any) -> subprocess.CompletedProcess[Any]:
    """Runs a command inside the sandbox with the rehearsal's environment.

    An interrupt (Ctrl-C) reaches the command too. It is given the time to end in good order, as an engine must to record what
    it has made; only then is KeyboardInterrupt raised.
    """
    environment = {**inside(layout), **options.pop("extra", {})}
    process = subprocess.Popen(sandbox.enter(layout, argv), env=environment, **options)
    interrupted: KeyboardInterrupt | None = None
    while True:
        try:
            out, err = process.communicate()
            break
        except KeyboardInterrupt as interrupt:
            interrupted = interrupt
    if interrupted is not None:
        raise interrupted
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def gcloud_settings(layout: Layout) -> dict[str, str]:
    """For the user's own gcloud outside the sandbox. With a kubeconfig of the rehearsal's: `get-credentials` writes to one, and
    must not make a cluster that exists only here the current one of the user's own."""
    google_there = gcloud(f"http://127.0.0.1:{choose_ports(layout).google}", layout)
    return {**google_there, "KUBECONFIG": str(layout.kubeconfig)}
