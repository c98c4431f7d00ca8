"""The API server as the agent uses it: list and watch that resume."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from kubernetes import client
from urllib3.exceptions import HTTPError

from rehearsal.kubeapi import KubeApi

Object = dict[str, Any]
WATCH_S = 240
RETRY_S = 1.0


class Api(KubeApi):
    def follow(self, path: str, on_event: Callable[[str, Object], None], over: threading.Event) -> None:
        """Lists, then watches, for ever. `on_event` gets ADDED, MODIFIED, DELETED with the object, and SYNC with the whole list."""
        version = ""
        while not over.is_set():
            try:
                if not version:
                    listed = self.call("GET", path)
                    version = listed["metadata"]["resourceVersion"]
                    on_event("SYNC", listed)
                version = self._watch(path, version, on_event)
            except client.ApiException as error:
                version = "" if error.status in (410, 404) else version
                over.wait(RETRY_S)
            except (HTTPError, OSError, ValueError):
                over.wait(RETRY_S)

    def _watch(self, path: str, version: str, on_event: Callable[[str, Object], None]) -> str:
        stream = self.open_watch(path, version, WATCH_S)
        buffer = b""
        try:
            while chunk := stream.read1():
                *lines, buffer = (buffer + chunk).split(b"\n")
                for line in lines:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        return ""
                    version = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] != "BOOKMARK":
                        on_event(event["type"], event["object"])
        finally:
            stream.close()
        return version
