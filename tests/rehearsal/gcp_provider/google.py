"""Google's REST server and the provider, in one process each way: for tests of calls."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[["Seen"], tuple[int, Any]]


@dataclass(frozen=True)
class Seen:
    """One call that arrived."""

    verb: str
    path: str
    body: Any


@dataclass
class FakeGoogle:
    """Answers calls by a function of the test's, and keeps them."""

    answer: Answer
    calls: list[Seen] = field(default_factory=list)
    base: str = ""
    _server: ThreadingHTTPServer | None = None

    def start(self) -> None:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def _serve(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                seen = Seen(self.command, self.path, json.loads(raw) if raw else None)
                fake.calls.append(seen)
                code, body = fake.answer(seen)
                data = json.dumps(body).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

            def log_message(self, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()


def error(code: int, message: str, status: str = "", reason: str = "") -> tuple[int, Any]:
    entries = [{"message": message, "reason": reason}] if reason else []
    return code, {"error": {"code": code, "message": message, "status": status, "errors": entries}}
