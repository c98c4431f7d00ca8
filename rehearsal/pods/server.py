"""The kubelet's HTTPS API, as far as the API server passes it on: container logs."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlparse

from rehearsal.pods import logs
from rehearsal.pods.worker import PodWorker

Find = Callable[[str, str], PodWorker | None]
PLAYED = b"This pod is simulated: its image runs no local program, so it has no output of its own.\n"


def serve(
    port: int, certificate: Path, key: Path, authority: Path, find: Find, names: Callable[[], list[str]]
) -> ThreadingHTTPServer:
    """A server on all addresses that takes only clients with a certificate of `authority`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            url = urlparse(self.path)
            parts = url.path.strip("/").split("/")
            if parts[0] == "healthz":
                self._text(200, b"ok")
            elif parts[0] == "pods":
                self._text(200, json.dumps(names()).encode())
            elif parts[0] == "containerLogs" and len(parts) == 4:
                self._logs(parts[1], parts[2], parts[3], parse_qs(url.query))
            else:
                self._text(404, b"not found\n")

        def do_POST(self) -> None:
            self._text(501, b"exec, attach and port-forward are not played by the rehearsal\n")

        def _logs(self, namespace: str, name: str, container: str, query: dict[str, list[str]]) -> None:
            worker = find(namespace, name)
            if worker is None:
                self._text(200, PLAYED)
                return
            found = worker.log_of(container, query.get("previous", ["false"])[0] == "true")
            if found is None:
                self._text(404, f'container "{container}" in pod "{name}" has no such log\n'.encode())
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for line in logs.read(found[0], _query(query), found[1]):
                self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def _text(self, status: int, text: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/plain")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: object) -> None:
            """No access log."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    context.load_verify_locations(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer(("0.0.0.0", port), Handler)
    server.daemon_threads = True
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    return server


def _query(query: dict[str, list[str]]) -> logs.Query:
    def number(name: str) -> int | None:
        return int(query[name][0]) if name in query else None

    seconds = number("sinceSeconds")
    since = datetime.now(UTC) - timedelta(seconds=seconds) if seconds is not None else None
    if "sinceTime" in query:
        since = datetime.fromisoformat(query["sinceTime"][0].replace("Z", "+00:00"))
    on = {name: query.get(name, ["false"])[0] == "true" for name in ("follow", "timestamps")}
    return logs.Query(on["follow"], number("tailLines"), on["timestamps"], since, number("limitBytes"))
