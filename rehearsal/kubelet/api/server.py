"""The kubelet's HTTPS API, which the API server calls for `kubectl logs`. Clients show a certificate of the cluster's CA."""

from __future__ import annotations

import contextlib
import json
import select
import ssl
import sys
import time
import urllib.parse
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rehearsal.kubelet.api import logs
from rehearsal.kubelet.containers import container_records
from rehearsal.kubelet.pods.agent import Agent
from rehearsal.kubelet.pods.context import pod_folder
from rehearsal.kubernetes import image_table

NOT_OFFERED = ("exec", "attach", "portForward", "run", "checkpoint")
HANDSHAKE_TIMEOUT_S = 10.0


class Handler(BaseHTTPRequestHandler):
    """One connection; the server carries the agent."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        parts = [urllib.parse.unquote(part) for part in url.path.split("/") if part]
        query = dict(urllib.parse.parse_qsl(url.query))
        try:
            self._answer(parts, query)
        except logs.LogError as error:
            self._text(error.code, f"{error}\n")
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    do_POST = do_GET

    def _answer(self, parts: list[str], query: dict[str, str]) -> None:
        match parts:
            case ["healthz"]:
                self._text(200, "ok")
            case ["pods"]:
                self._text(200, json.dumps(self._pods()), "application/json")
            case ["containerLogs", namespace, name, container]:
                self._logs(namespace, name, container, query)
            case [verb, *_] if verb in NOT_OFFERED:
                self._text(501, f"{verb} is not offered in a rehearsal: its containers take no commands from outside\n")
            case _:
                self._text(404, f"the rehearsal's kubelet has nothing at {self.path}\n")

    def _pods(self) -> dict[str, Any]:
        agent = self.server.agent
        items = [pod for pod in agent.watches.pods.all() if pod["spec"].get("nodeName") and agent.ours(pod)]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}

    def _logs(self, namespace: str, name: str, container: str, query: dict[str, str]) -> None:
        agent = self.server.agent
        pod = agent.watches.pods.get(namespace, name)
        if pod is None:
            raise logs.LogError(404, f'pod "{name}" not found in namespace "{namespace}"')
        names = [spec["name"] for spec in image_table.containers(pod)]
        if container not in names:
            raise logs.LogError(404, f'container "{container}" not found in pod "{name}"')
        if not agent.ours(pod):
            self._text(200, f"pod {namespace}/{name} is simulated: the rehearsal runs no program for its image\n")
            return
        wanted = logs.wish(query, time.time())
        folder = pod_folder(agent.context.pods, pod)
        record = container_records.load(folder / "containers.json", names)[container]
        previous = query.get("previous", "").lower() == "true"
        if record.runs == 0 and not previous:
            reason = record.state.get("waiting", {}).get("reason", "ContainerCreating")
            raise logs.LogError(400, f'container "{container}" in pod "{name}" is waiting to start: {reason}')
        path = logs.newest(folder / container, record.runs, previous)
        self._stream(logs.stored(path, wanted, lambda: _over(path), self._heard))

    def _stream(self, pieces: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in pieces:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def _heard(self) -> bool:
        """Whether the client still listens: one that has hung up makes its end readable."""
        return not select.select([self.connection], [], [], 0)[0]

    def _text(self, code: int, text: str, kind: str = "text/plain") -> None:
        body = text.encode()
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.wfile.write(body)

    def setup(self) -> None:
        self.request.settimeout(HANDSHAKE_TIMEOUT_S)
        self.request.do_handshake()  # here, in the connection's own thread, so that a silent client holds up nobody
        self.request.settimeout(None)
        super().setup()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def _over(log: Path) -> bool:
    return log.with_suffix(".exit.json").exists() or not log.exists()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int, agent: Agent, certificate: str, key: str, client_ca: str) -> None:
        super().__init__(("0.0.0.0", port), Handler)
        self.agent = agent
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client without a certificate, or one that went away, is no news; the rest is."""
        error = sys.exc_info()[1]
        if not isinstance(error, ssl.SSLError | OSError):
            super().handle_error(request, client_address)
