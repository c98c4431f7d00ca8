"""A small client of the API server: requests and watches, with the credentials of a kubeconfig file."""

from __future__ import annotations

import base64
import json
import tempfile
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import urllib3
import yaml

WATCH_S = 300
"""How long one watch lasts before it is renewed; the server would end it at some point of its own anyway."""

Object = dict[str, Any]


class ApiError(Exception):
    """The API server refused a request, or did not answer (code 0)."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code, self.reason = code, reason


def _file(block: dict[str, Any], key: str) -> str | None:
    """A file of the kubeconfig, which may also carry the file's content itself."""
    if block.get(key):
        return str(block[key])
    if block.get(f"{key}-data"):
        with tempfile.NamedTemporaryFile(delete=False) as handle:
            handle.write(base64.b64decode(block[f"{key}-data"]))
        return handle.name
    return None


class Client:
    """One API server. Safe for use from many threads."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
        cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
        user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
        self.server = cluster["server"].rstrip("/")
        self.headers = {"Accept": "application/json", "User-Agent": "rehearsal-kubelet"}
        if user.get("token"):
            self.headers["Authorization"] = f"Bearer {user['token']}"
        self.pool = urllib3.PoolManager(
            maxsize=16,
            ca_certs=_file(cluster, "certificate-authority"),
            cert_file=_file(user, "client-certificate"),
            key_file=_file(user, "client-key"),
            retries=False,
        )

    def request(
        self, method: str, path: str, body: Object | None = None, query: dict[str, Any] | None = None,
        content_type: str = "application/json",
    ) -> Object:  # fmt: skip
        """One request and its answer. Raises ApiError."""
        try:
            answer = self.pool.request(
                method,
                self._url(path, query),
                body=None if body is None else json.dumps(body),
                headers={**self.headers, "Content-Type": content_type},
                timeout=urllib3.Timeout(connect=5.0, read=30.0),
            )
        except urllib3.exceptions.HTTPError as error:
            raise ApiError(0, "Unreachable", str(error)) from error
        try:
            content = json.loads(answer.data) if answer.data else {}
        except ValueError:
            content = {"message": answer.data[:300].decode(errors="replace")}
        if answer.status >= 400:
            raise ApiError(answer.status, content.get("reason", ""), content.get("message", ""))
        return content

    def _url(self, path: str, query: dict[str, Any] | None) -> str:
        return f"{self.server}{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")

    def get(self, path: str) -> Object | None:
        """An object, or None when there is none of that name."""
        try:
            return self.request("GET", path)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def watch(self, path: str, version: str) -> Iterator[Object]:
        """The events since `version`, until the server ends the watch. Raises ApiError."""
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true", "timeoutSeconds": WATCH_S}
        try:
            answer = self.pool.request(
                "GET",
                self._url(path, query),
                headers=self.headers,
                preload_content=False,
                timeout=urllib3.Timeout(connect=5.0, read=WATCH_S + 30.0),
            )
            try:
                if answer.status != 200:
                    raise ApiError(answer.status, "Watch", answer.read(300).decode(errors="replace"))
                rest = b""
                for chunk in answer.stream(65536):
                    *lines, rest = (rest + chunk).split(b"\n")
                    yield from (json.loads(line) for line in lines if line.strip())
            finally:
                answer.close()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise ApiError(0, "Unreachable", str(error)) from error
