"""`python -m rehearsal.google_server`: serves Google's APIs on a loopback port and a Unix socket, with the rehearsal's GKE behind them."""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import threading
from pathlib import Path

import uvicorn

from rehearsal.control_plane.control_plane import backend_from_environment
from rehearsal.gcp.core import CloudState, Object, ServerSettings
from rehearsal.gcp.server import Server
from rehearsal.gke.autopilot import admission
from rehearsal.gke.autoscaler import autoscaler
from rehearsal.gke.nodes import leftovers, nodes
from rehearsal.gke.ray import operator


class Gke:
    """`rehearsal.gke` as Google's APIs call it (the protocol `Kubernetes` of rehearsal/gcp/core/kubernetes.py)."""

    def keep(self, state: CloudState) -> None:
        threading.Thread(target=autoscaler.keep, args=(state,), daemon=True).start()
        nodes.keep(state)

    def apply_nodes(self, state: CloudState, pool: Object) -> None:
        nodes.apply(state, pool)

    def remove_nodes(self, state: CloudState, pool: Object) -> None:
        nodes.remove(state, pool)

    def enforce_autopilot(self, kubeconfig: Path) -> None:
        admission.install(kubeconfig)

    def apply_addons(self, state: CloudState, cluster_name: str) -> None:
        operator.follow(state, cluster_name)

    def leftovers(self, cluster: Object) -> list[str]:
        return leftovers.take(cluster)


def _listen_unix(path: Path) -> socket.socket:
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    return listener


def _listen_tcp(port: int) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    return listener


def main() -> None:
    parser = argparse.ArgumentParser(prog="rehearsal.google_server", description=__doc__)
    parser.add_argument("--state", type=Path, required=True)
    parser.add_argument("--port", type=int, default=8085)
    parser.add_argument("--socket", type=Path)
    parser.add_argument(
        "--time-scale", type=float, default=0.01, help="how long operations take, against Google's (default 0.01)"
    )
    parser.add_argument("--buckets", type=Path, help="where the objects of buckets are")
    parser.add_argument("--backend", choices=["none", "control-plane"], default="none")
    arguments = parser.parse_args()
    backend = backend_from_environment() if arguments.backend == "control-plane" else None
    settings = ServerSettings(arguments.time_scale, backend, arguments.buckets, Gke())
    server = Server(arguments.state, settings)
    listeners = [_listen_tcp(arguments.port), *([_listen_unix(arguments.socket)] if arguments.socket else [])]
    server.start()
    config = uvicorn.Config(server.app(), log_level="warning", access_log=False, lifespan="off")
    asyncio.run(uvicorn.Server(config).serve(sockets=listeners))
    os._exit(0)  # operations in flight are on disk and taken up by the next life


if __name__ == "__main__":
    main()
