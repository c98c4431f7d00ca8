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
from pathlib import Path
from typing import Any

import yaml

from rehearsal.control_plane.control_plane import token
from rehearsal.control_plane.images import pods_are_real, write_table
from rehearsal.environment import PROVIDER_PORT, gcloud, inside, real_google_plugin
from rehearsal.errors import RehearsalError
from rehearsal.host import python_images, sandbox, supervisor
from rehearsal.host.layout import Layout
from rehearsal.host.network import GOOGLE, GOOGLE_PORT
from rehearsal.host.ports import choose_ports, forwarded, forwarder, gateway_socket, start_forwarder
from rehearsal.host.pulumi_install import user_plugins
from rehearsal.host.toolchain import Toolchain

READY_TIMEOUT_S = 60.0
LOOKS_DOWN_AFTER = 5
"""Deaths in a row after which a program is reported as failing, not as restarting."""


def up(layout: Layout, say: Callable[[str], None] = print, kubectl_port: int | None = None) -> None:
    """Brings the rehearsal up, building what is missing. Idempotent: what runs stays, what died is started again."""
    ports = choose_ports(layout, kubectl_port)
    Toolchain(layout, say).ensure()
    ensure_python_images(layout, say)
    started = time.monotonic()
    start_google(layout)
    _set_capacity(layout)
    start_forwarder(layout, ports)
    where = f"Google's APIs on 127.0.0.1:{ports.google}, clusters from 127.0.0.1:{ports.clusters[0]}"
    say(f"  the rehearsal is up ({time.monotonic() - started:.1f} s): {where}")


def ensure_python_images(layout: Layout, say: Callable[[str], None] = print) -> None:
    """Makes the Python environments of pods, if pods are to be real. Raises RehearsalError, ToolError."""
    try:
        wanted = pods_are_real()
    except ValueError as error:
        raise RehearsalError(str(error)) from error
    if wanted:
        python_images.ensure(layout, say)


def start_google(layout: Layout, *, answering: bool = True) -> None:
    """The sandbox with Google's APIs in it, which answer when this returns; unless `answering` is false: then `await_google`
    says when they do. The programs must be there."""
    try:
        write_table(layout)
    except ValueError as error:
        raise RehearsalError(str(error)) from error
    _write_auth_plugin(layout)
    link_plugins(layout)
    sandbox.start(layout)
    for name, argv, env in _units(layout):
        supervisor.start_unit(layout, name, argv, env)
    if answering:
        await_google(layout)


def down(layout: Layout) -> None:
    """Stops the rehearsal. Its state stays: the next `up` continues from it."""
    outside = forwarder(layout)
    if outside is not None:
        os.kill(outside, signal.SIGTERM)
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
        "--buckets",
        str(layout.buckets),
    ]
    python = [sys.executable, "-m"]
    rows = [
        ("google", [*python, "rehearsal.google_server", *google, "--backend", "control-plane"], home),
        ("gateway", [*python, "rehearsal.host.forward", "gateway", "--socket", str(gateway_socket(layout))], home),
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


def _write_auth_plugin(layout: Layout) -> None:
    """The rehearsal's `gke-gcloud-auth-plugin`: hands out the rehearsal's own token, as Google's hands out the user's."""
    token(layout)
    path = layout.bin / "gke-gcloud-auth-plugin"
    # It may be a link to another rehearsal's.
    path.unlink(missing_ok=True)
    path.write_text(
        "#!/bin/sh\n"
        "# Answers as Google's plugin does, with the rehearsal's token.\n"
        'printf \'{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"%s"}}\\n\' '
        f'"$(cat {shlex.quote(str(layout.root / "token"))})"\n'
    )
    path.chmod(0o755)


def link_plugins(layout: Layout) -> None:
    """Makes the user's own installed plugins visible to the engine, which has a home of its own in the rehearsal: folders
    with links in them, since the engine takes no notice of a folder that is itself a link."""
    folder = user_plugins()
    for entry in folder.glob("resource-*") if folder.is_dir() else ():
        own = layout.pulumi_home / "plugins" / entry.name
        if not entry.is_dir() or own.exists():
            continue
        own.mkdir(parents=True)
        for file in entry.iterdir():
            (own / file.name).symlink_to(file)


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


def await_google(layout: Layout) -> None:
    """Raises RehearsalError when one of its programs cannot stay up, or after READY_TIMEOUT_S."""
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
    """The file that REHEARSAL_CAPACITY names says how many chips Google has (JSON or YAML, see rehearsal/gcp/capacity.py)."""
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
    width = max((len(unit["name"]) for unit in rows), default=0)
    lines = [
        f"{unit['name']:<{width}} {unit['state']:<9} {unit['seconds']:>8.0f} s  restarts: {unit['restarts']}"
        for unit in rows
    ]
    died = explain(rows)
    outside = forwarder(layout) is not None
    lines.append(f"{'forwarder (outside)':<{width}} {'running' if outside else 'dead: start it again with `make up`'}")
    return "\n".join([*lines, *([died] if died else [])]), outside and all(unit["state"] == "running" for unit in rows)


def write_kubeconfig(layout: Layout, cluster: str | None = None) -> Path:
    """A kubeconfig for the user's own kubectl outside the sandbox, by the loopback forward. Raises RehearsalError."""
    found = {p.parent.name: int(p.read_text()) for p in sorted(layout.clusters.glob("*/index"))}
    chosen = [(name, index) for name, index in found.items() if cluster is None or name.rsplit("-", 1)[0] == cluster]
    if not chosen:
        raise RehearsalError(f"no cluster {cluster or ''} runs: create one first (`make up`)".replace("  ", " "))
    name, index = chosen[0]
    ports = forwarded(layout)
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
    google_there = gcloud(f"http://127.0.0.1:{forwarded(layout).google}", layout)
    return {**google_there, "KUBECONFIG": str(layout.kubeconfig)}
