"""The dashboards of a cluster's simulated heads: each listens on its pod's own address for as long as the pod runs."""

from __future__ import annotations

import socket
import subprocess
import threading
from pathlib import Path

import uvicorn

from rehearsal.gke.ray.simulator import view
from rehearsal.gke.ray.simulator.dashboard import Dashboard
from rehearsal.gke.ray.simulator.jobs import Jobs

STOP_TIMEOUT_S = 5.0


class Head:
    """One head. Its address is local to the sandbox from `start` to `stop`."""

    def __init__(self, pod: view.Object, state: Path) -> None:
        self.uid, self.address = pod["metadata"]["uid"], str(pod["status"]["podIP"])
        self.cluster = view.cluster(pod)
        self._port, self._file = view.dashboard_port(pod), state / f"{self.uid}.json"
        self.jobs = Jobs(self._file)
        app = Dashboard(self.jobs, view.ray_version(pod), f"session_{self.uid}").app()
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Raises OSError and CalledProcessError."""
        _local(self.address, "replace")
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.address, self._port))
        name = f"head {self.address}"
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name=name, daemon=True)
        self._thread.start()

    def stop(self, forget: bool) -> None:
        """`forget` when the pod is gone for good, and its jobs with it."""
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(STOP_TIMEOUT_S)
        _local(self.address, "delete")
        if forget:
            self._file.unlink(missing_ok=True)


def _local(address: str, verb: str) -> None:
    """Makes an address the sandbox's own, or no longer."""
    command = ["ip", "route", verb, "local", f"{address}/32", "dev", "lo"]
    subprocess.run(command, check=verb == "replace", capture_output=True)
