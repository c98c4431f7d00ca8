"""Reading the rehearsal's cluster with the user's own credentials, from outside the sandbox."""

from __future__ import annotations

from typing import Any

from kubernetes import client, config

from rehearsal.layout import Layout
from rehearsal.lifecycle import write_kubeconfig

TIMEOUT_S = 10


class Cluster:
    """The API of one cluster; every answer is plain data."""

    def __init__(self, layout: Layout, name: str | None = None) -> None:
        self._api = config.new_client_from_config(str(write_kubeconfig(layout, name)))

    def get(self, path: str, **query: str) -> dict[str, Any]:
        """GET of an API path, such as `/api/v1/nodes`. Raises kubernetes.client.ApiException."""
        answer: dict[str, Any] = self._api.call_api(
            path, "GET", query_params=list(query.items()), response_type="object", auth_settings=["BearerToken"],
            header_params={"Accept": "application/json"}, _return_http_data_only=True, _request_timeout=TIMEOUT_S,
        )  # fmt: skip
        return answer

    def list(self, path: str, **query: str) -> list[dict[str, Any]]:
        return list(self.get(path, **query).get("items", []))

    def found(self, path: str) -> bool:
        try:
            self.get(path)
        except client.ApiException as error:
            if error.status == 404:
                return False
            raise
        return True
