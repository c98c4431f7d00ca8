"""The API server in plain objects: one client for all that reads or writes a cluster without the typed models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from kubernetes import client, config

Object = dict[str, Any]
TIMEOUT_S = 15


class KubeApi:
    """A client with the credentials of a kubeconfig file. All calls raise client.ApiException and urllib3's errors."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client = config.new_client_from_config(str(kubeconfig))

    def call(
        self, verb: str, path: str, body: Any = None, query: dict[str, str] | None = None, patch: str = "merge"
    ) -> Object:
        """One request; the decoded answer. `patch` is the kind of a PATCH: merge, strategic-merge, json, or apply."""
        answer: Object = json.loads(self._read(verb, path, body, query, patch))
        return answer

    def _read(
        self,
        verb: str,
        path: str,
        body: Any = None,
        query: dict[str, str] | None = None,
        patch: str = "merge",
        accept: str = "application/json",
    ) -> str:
        response = self._send(verb, path, body, query, patch, TIMEOUT_S, accept)
        data: str = response.read().decode(errors="replace")
        if response.status >= 400:
            raise client.ApiException(status=response.status, reason=data[:500])
        return data

    def get(self, path: str, **query: str) -> Object | None:
        """The object, or None when it is not there."""
        try:
            return self.call("GET", path, query=query)
        except client.ApiException as error:
            if error.status == 404:
                return None
            raise

    def text(self, path: str) -> str | None:
        """What is not JSON, such as a log; None when it is not there."""
        try:
            return self._read("GET", path, accept="*/*")
        except client.ApiException as error:
            if error.status == 404:
                return None
            raise

    def list(self, path: str, **query: str) -> list[Object]:
        return list(self.call("GET", path, query=query).get("items") or [])

    def open_watch(self, path: str, version: str, seconds: int) -> Any:
        """A watch from that version on, as urllib3's response, which gives lines of JSON."""
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
        }
        response = self._send("GET", path, None, query, "", (5, seconds + 30))
        if response.status >= 400:
            raise client.ApiException(status=response.status, reason=response.read().decode(errors="replace")[:500])
        return response.response

    def _send(
        self, verb: str, path: str, body: Any, query: dict[str, str] | None, patch: str, timeout: Any, accept: str = "application/json"
    ) -> Any:  # fmt: skip
        headers = {"Accept": accept}
        if body is not None:
            form = "yaml" if patch == "apply" else "json"
            headers["Content-Type"] = f"application/{patch}-patch+{form}" if verb == "PATCH" else "application/json"
        pairs = list((query or {}).items())
        request = self._client.param_serialize(
            verb, path, query_params=pairs, header_params=headers, body=body, auth_settings=["BearerToken"]
        )
        return self._client.call_api(*request, _request_timeout=timeout)
